"""A web server on this machine that speaks like the hub and the code host, with their moods."""

from __future__ import annotations

import hashlib
import http.server
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

COMMIT, LATER = "a" * 40, "b" * 40


def git_name(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


@dataclass
class Host:
    """``moods`` are answers to the next requests of a path: a status, or ("cut", bytes) or ("whole",) for a range."""

    files: dict[str, bytes]
    large: set[str] = field(default_factory=set)
    newest: str = COMMIT
    per_page: int = 1000
    moods: dict[str, list[Any]] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    tokens: list[tuple[str, str]] = field(default_factory=list)
    listed: dict[str, dict[str, Any]] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    mirror: str = ""
    url: str = ""

    def mood(self, path: str) -> Any:
        return self.moods[path].pop(0) if self.moods.get(path) else None

    def rows(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = [{"type": "directory", "path": "data", "oid": "d" * 40, "size": 0}]
        for path, content in self.files.items():
            row: dict[str, Any] = {"type": "file", "path": path, "size": len(content), "oid": git_name(content)}
            if path in self.large:
                row["lfs"] = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 130}
                row["oid"] = "e" * 40
            rows.append(row | self.listed.get(path, {}))
        return rows


@contextmanager
def serve(host: Host) -> Iterator[Host]:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *arguments: object) -> None:
            pass

        def send(self, status: int, content: bytes, headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            path = unquote(parts.path)
            host.asked.append((path, self.headers.get("Range", "")))
            host.tokens.append((path, self.headers.get("Authorization", "")))
            mood = host.mood(path)
            if isinstance(mood, int):
                self.send(mood, b"{}", host.headers)
            elif path.startswith("/api/datasets/") and "/revision/" in path:
                named = path.rpartition("/")[2]
                self.send(200, json.dumps({"sha": named if len(named) == 40 else host.newest}).encode())
            elif path.startswith("/api/datasets/") and "/tree/" in path:
                self.page(path, int((re.search(r"cursor=(\d+)", parts.query) or [0, 0])[1]))
            elif path.startswith("/repos/") and "/commits/" in path:
                named = path.rpartition("/")[2]
                self.send(200, json.dumps({"sha": named if len(named) == 40 else host.newest}).encode())
            elif path.startswith("/repos/") and "/git/trees/" in path:
                rows = [
                    {"path": row["path"], "type": "blob", "sha": row["oid"], "size": row["size"]}
                    for row in host.rows() if row["type"] == "file"
                ]  # fmt: skip
                self.send(200, json.dumps({"sha": host.newest, "tree": rows, "truncated": False}).encode())
            else:
                self.file(path, mood)

        def page(self, path: str, cursor: int) -> None:
            rows = host.rows()
            more = cursor + host.per_page < len(rows)
            link = f'<{host.url}{path}?recursive=true&cursor={cursor + host.per_page}>; rel="next"'
            content = json.dumps(rows[cursor : cursor + host.per_page]).encode()
            self.send(200, content, {"Link": link} if more else {})

        def file(self, path: str, mood: Any) -> None:
            name = next((name for name in host.files if path.endswith("/" + name)), None)
            if name is None:
                self.send(404, b"{}")
                return
            if host.mirror:
                self.send(302, b"", {"Location": f"{host.mirror}{path}"})
                return
            content, asked = host.files[name], self.headers.get("Range", "")
            begin = int(asked.removeprefix("bytes=").rstrip("-")) if asked and mood != ("whole",) else 0
            status, headers = (206, {}) if begin else (200, {})
            if begin:
                headers["Content-Range"] = f"bytes {begin}-{len(content) - 1}/{len(content)}"
            if isinstance(mood, tuple) and mood[0] == "cut":
                self.send_response(status)
                for key, value in headers.items():
                    self.send_header(key, value)
                self.send_header("Content-Length", str(len(content) - begin))
                self.end_headers()
                self.wfile.write(content[begin : begin + mood[1]])
                self.close_connection = True
                return
            if isinstance(mood, tuple) and mood[0] == "other":
                content = mood[1]
            self.send(status, content[begin:], headers)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    host.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield host
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
