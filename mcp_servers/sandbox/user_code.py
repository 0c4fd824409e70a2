"""Run one piece of user code inside the locked child and write down what came of it."""

from __future__ import annotations

import ast
import errno
import json
import linecache
import os
import sys
import threading
import traceback
from types import CodeType, ModuleType
from typing import Any, NoReturn

from mcp_servers.sandbox import limits, workspace
from mcp_servers.sandbox.json_value import encode, require_plain, values_at_most
from mcp_servers.sandbox.lockdown import RESULT_FD
from mcp_servers.sandbox.notebook import Notebook

LOCKED = b"L"
SEPARATOR = b"\0"
"""Between JSON and what follows it: JSON as it is written here has no such byte."""
FAULT = b"F"
ERROR_LIMIT_CHARACTERS = 2000
_SOURCE_NAME = "<code>"
_LAST_VALUE = "__last_value__"


def _seed(seed: int) -> None:
    """Make every generator that the task can reach by its usual name a function of the task's seed."""
    import random

    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return
    numpy.random.seed(seed % 2**32)
    from_entropy = numpy.random.default_rng
    unseeded = numpy.random.SeedSequence(seed)

    def default_rng(seed: Any = None) -> Any:
        return from_entropy(unseeded.spawn(1)[0] if seed is None else seed)

    default_rng.__doc__ = from_entropy.__doc__
    numpy.random.default_rng = default_rng


def _open_streams() -> None:
    sys.stdin = open(0, encoding="utf-8", closefd=False)
    sys.stdout = open(1, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)
    vars(sys).update(__stdin__=sys.stdin, __stdout__=sys.stdout, __stderr__=sys.stderr)


def _compile(code: str) -> CodeType:
    """Compile ``code``; the value of a last line that is an expression is kept as in a notebook."""
    tree = ast.parse(code, _SOURCE_NAME)
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = tree.body[-1]
        kept = ast.Assign(targets=[ast.Name(_LAST_VALUE, ast.Store())], value=last.value)
        tree.body[-1] = ast.fix_missing_locations(ast.copy_location(kept, last))
    return compile(tree, _SOURCE_NAME, "exec")


def _fresh_main(data: Any) -> dict[str, Any]:
    module = ModuleType("__main__")
    sys.modules["__main__"] = module
    names = vars(module)
    names["data"] = data
    return names


def _join_threads() -> None:
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()


def _value(names: dict[str, Any]) -> Any:
    if "result" in names:
        value = encode(names["result"])
    else:
        last = names.get(_LAST_VALUE)
        try:
            value = encode(last)
        except TypeError:
            value = repr(last)
    require_plain(value)
    return value


def _error_class(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "memory"
    if isinstance(error, OSError):
        if error.errno in (errno.EPERM, errno.EACCES):
            return "policy_violation"
        if error.errno == errno.ENOMEM:
            return "memory"
    return "user_error"


def _print_traceback(error: BaseException) -> None:
    """Print the traceback from the user's first frame on, with the user's lines."""
    frame = error.__traceback__
    while frame is not None and frame.tb_frame.f_code.co_filename != _SOURCE_NAME:
        frame = frame.tb_next
    traceback.print_exception(type(error), error, frame)


def _failure(error: BaseException) -> dict[str, Any]:
    message = "".join(traceback.format_exception_only(type(error), error)).strip()
    return {"error_class": _error_class(error), "error": message[:ERROR_LIMIT_CHARACTERS]}


def _failed(error: BaseException) -> dict[str, Any]:
    _print_traceback(error)
    return _failure(error)


def _run(code: str, names: dict[str, Any]) -> dict[str, Any]:
    try:
        exec(_compile(code), names)
    except SystemExit as stop:
        if stop.code not in (None, 0):
            return {"error_class": "user_error", "error": f"SystemExit: {stop.code}"}
    _join_threads()
    return {"result": _value(names)}


def _answer(request: bytes) -> bytes:
    """Return the report of a call; in a session, behind separators, also what it leaves and the state itself."""
    head, _, state = request.partition(SEPARATOR)
    fields = json.loads(head)
    _seed(fields["seed"])
    code, names = fields["code"], _fresh_main(fields["data"])
    linecache.cache[_SOURCE_NAME] = (len(code), None, code.splitlines(keepends=True), _SOURCE_NAME)
    try:
        notebook = Notebook(state, fields.get("files", {}))
        if fields.get("files", {}) or fields.get("session"):
            workspace.install(notebook.files)
        notebook.restore(names)
    except BaseException as error:
        return _encoded(_failed(error))
    try:
        report = _run(code, names)
    except BaseException as error:
        report = _failed(error)
    raw = _encoded(report)
    if not fields.get("session"):
        return raw
    # as in a notebook, what was assigned before an error is there afterwards
    left, summary = notebook.keep(code, names)
    return SEPARATOR.join((raw, json.dumps(summary).encode(), left))


def _encoded(outcome: dict[str, Any]) -> bytes:
    raw = json.dumps(outcome, allow_nan=False).encode()
    if len(raw) > limits.RESULT_LIMIT_BYTES:
        message = f"result has {len(raw)} bytes as JSON; at most {limits.RESULT_LIMIT_BYTES} are allowed"
        raw = json.dumps({"error_class": "output_cap", "error": message}).encode()
    count = values_at_most(raw)
    if count > limits.RESULT_LIMIT_VALUES:
        message = f"result has about {count} values; at most {limits.RESULT_LIMIT_VALUES} are allowed"
        raw = json.dumps({"error_class": "output_cap", "error": message}).encode()
    return raw


def _write_all(descriptor: int, raw: bytes) -> None:
    view = memoryview(raw)
    while view:
        view = view[os.write(descriptor, view) :]


def run(request: bytes) -> NoReturn:
    """Run the request and write the outcome as JSON; never returns normally.

    The request is a JSON object ``{code, data, seed, files, session}``, and after a separator the state of the session.
    """
    try:
        _open_streams()
        try:
            raw = _answer(request)
        except BaseException as error:
            raw = json.dumps(_failure(error)).encode()
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):
                continue
        _write_all(RESULT_FD, raw)
    finally:
        os._exit(0)
