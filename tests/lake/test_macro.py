"""Macro series are known from their publication: the rule of daily rates, vintages, or the day of the reading."""

from __future__ import annotations

import http.server
import threading
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, ClassVar

import pytest

from engine.cli import main
from lake import macro, providers
from lake.point_in_time import ProviderUnavailable, UnknownKey
from lake.settings import LakeSettings

NOW = datetime(2024, 3, 5, 18, tzinfo=UTC)
LATER = datetime(2024, 3, 28, 18, tzinfo=UTC)
# 3-month bill, H.15; Friday 1 March 2024 is published on Monday
DAILY = "observation_date,DTB3\n2024-02-28,5.25\n2024-02-29,5.26\n2024-03-01,5.24\n2024-03-04,\n"
MONTHLY = "observation_date,CPIAUCSL\n2023-12-01,308.742\n2024-01-01,309.685\n"


class Fred(http.server.BaseHTTPRequestHandler):
    files: ClassVar[dict[str, str]] = {}
    plan: ClassVar[list[int | str]] = []

    def do_GET(self) -> None:
        mood = self.plan.pop(0) if self.plan else 200
        if mood == "slow":
            time.sleep(0.6)
        body = self.files.get(self.path.partition("id=")[2])
        content = "<html>" if mood == "garbage" else body or ""
        if mood == "short":
            content = content[:-9]
        self.send_response(404 if body is None else mood if isinstance(mood, int) else 200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: 10 if mood == "cut" else None].encode())

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    Fred.files, Fred.plan = {"DTB3": DAILY, "CPIAUCSL": MONTHLY}, []
    web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Fred)
    thread = threading.Thread(target=web.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{web.server_port}/fredgraph.csv"
    web.shutdown()
    thread.join()
    web.server_close()


def pull(path: Path, series: str, url: str, now: datetime = NOW, **options: float) -> macro.Pulled:
    return macro.pull(path, series, base_url=url, now=now, back_off_s=0.01, **options)


def lake_of(path: Path) -> Any:
    return providers.open_lake(LakeSettings(macro="fred_csv", path=str(path)))


def test_a_daily_rate_is_known_on_the_next_weekday(url: str, tmp_path: Path) -> None:
    pulled = pull(tmp_path, "DTB3", url)
    assert (pulled.rows, pulled.first, pulled.last) == (3, date(2024, 2, 28), date(2024, 3, 1))
    rates = lake_of(tmp_path).rates
    assert rates.known("DTB3", as_of=date(2024, 3, 3)).value == (5.25, 5.26)
    assert rates.known("DTB3", as_of=date(2024, 3, 4)).value == (5.25, 5.26, 5.24)
    assert rates.known("VIX", as_of=date(2024, 3, 4)).day[-1] == date(2024, 2, 29)


def test_a_revised_series_is_known_from_the_reading_in_the_version_of_its_time(url: str, tmp_path: Path) -> None:
    pull(tmp_path, "CPIAUCSL", url)
    with pytest.raises(UnknownKey):
        lake_of(tmp_path).rates.known("CPIAUCSL", as_of=date(2024, 3, 4))
    Fred.files["CPIAUCSL"] = MONTHLY.replace("309.685", "309.794") + "2024-02-01,311.054\n"
    assert pull(tmp_path, "CPIAUCSL", url, LATER).new_rows == 2
    assert pull(tmp_path, "CPIAUCSL", url, LATER).new_rows == 0
    known = lake_of(tmp_path).rates.known("CPIAUCSL", as_of=date(2024, 3, 5))
    assert known.value == (308.742, 309.685)
    known = lake_of(tmp_path).rates.known("CPIAUCSL", as_of=date(2024, 3, 28))
    assert known.value == (308.742, 309.685, 309.794, 311.054)


def test_a_late_figure_of_a_daily_series_is_not_known_before_the_reading_that_lacked_it(
    url: str, tmp_path: Path
) -> None:
    pull(tmp_path, "DTB3", url)
    Fred.files["DTB3"] = DAILY.replace("2024-03-04,", "2024-03-04,5.22") + "2024-03-27,5.23\n"
    pull(tmp_path, "DTB3", url, LATER)
    known = lake_of(tmp_path).rates.known("DTB3", as_of=date(2024, 3, 27))
    assert known.day[-1] == date(2024, 3, 1)
    known = lake_of(tmp_path).rates.known("DTB3", as_of=date(2024, 3, 28))
    assert dict(zip(known.day, known.known_on, strict=True))[date(2024, 3, 4)] == date(2024, 3, 28)


def test_vintages_and_days_of_publication_tell_every_version(tmp_path: Path) -> None:
    (tmp_path / "macro").mkdir()
    vintages = "observation_date,GDP_20240125,GDP_20240228\n2023-07-01,27610.1,27610.1\n2023-10-01,27938.8,27944.6\n"
    (tmp_path / "macro" / "GDP.csv").write_text(vintages)
    (tmp_path / "macro" / "OWN.csv").write_text("day,value,published\n2024-01-31,1.5,2024-02-15\n")
    rates = lake_of(tmp_path).rates
    assert rates.known("GDP", as_of=date(2024, 2, 27)).value == (27610.1, 27938.8)
    assert rates.known("GDP", as_of=date(2024, 2, 28)).value == (27610.1, 27938.8, 27944.6)
    assert rates.keys(as_of=date(2024, 2, 14)) == ("DTB3", "GDP", "VIX")
    assert rates.known("OWN", as_of=date(2024, 2, 15)).value == (1.5,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("day,value\n2024-01-31,1.5\n", r"X.csv: it has day, value; a column published is needed, or ALFRED's columns"),
        ("day,value,published\n2024-01-31,x,2024-02-15\n", "X.csv: row 1: a number is needed, got 'x'"),
        ("day,value,published\n2024-01-31,1,2024-01-15\n", "row 1: published 2024-01-15 before its day 2024-01-31"),
        ("day,value,published\nJanuary,1,2024-01-15\n", "row 1: a day such as 2024-01-31 is needed, got 'January'"),
        ("day,value,published\n2024-01-31,1\n", "row 1 has 2 cells instead of 3"),
    ],
)
def test_a_file_that_is_wrong_is_named_with_its_row(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "macro").mkdir()
    (tmp_path / "macro" / "X.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        lake_of(tmp_path)


@pytest.mark.parametrize("mood", [429, 503, "cut", "garbage", "short", "slow"])
def test_a_busy_server_is_asked_again_until_its_answer_is_whole(url: str, tmp_path: Path, mood: int | str) -> None:
    Fred.plan = [mood, mood]
    assert pull(tmp_path, "DTB3", url, timeout_s=0.3).rows == 3
    assert Fred.plan == []


def test_a_reordered_answer_makes_the_same_series(url: str, tmp_path: Path) -> None:
    pull(tmp_path / "a", "DTB3", url)
    head, *rows = DAILY.splitlines()
    Fred.files["DTB3"] = "\n".join([head, *reversed(rows), ""])
    pull(tmp_path / "b", "DTB3", url)
    first, second = (lake_of(tmp_path / name).rates.known("DTB3", as_of=date(2024, 3, 28)) for name in "ab")
    assert first == second and len(first) == 3


def test_a_refusal_a_wrong_file_and_a_wrong_name_are_told(url: str, tmp_path: Path) -> None:
    Fred.plan = [403]
    with pytest.raises(ProviderUnavailable, match=r"FRED did not give .*403.*wait, or use another network"):
        pull(tmp_path, "DTB3", url)
    Fred.files["VIXCLS"] = DAILY
    with pytest.raises(ValueError, match="the file holds 'DTB3', not VIXCLS"):
        pull(tmp_path, "VIXCLS", url)
    with pytest.raises(ValueError, match="named by capitals, digits and _, such as DTB3, got 'a/b'"):
        pull(tmp_path, "a/b", url)
    with pytest.raises(ValueError, match=r"macro: fred_csv: no CSV file is in .* traderbench data pull macro"):
        lake_of(tmp_path)


def test_the_command_tells_what_is_there(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["data", "pull", "macro", "--out", str(tmp_path), "--base-url", url, "--series", "dtb3"]
    assert main(command) == 0
    assert "DTB3: 3 rows (3 new), 2024-02-28 to 2024-03-01" in capsys.readouterr().out
    assert main([*command, "NIX"]) == 66
    assert "missing: FRED did not give" in capsys.readouterr().out
