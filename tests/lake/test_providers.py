"""The lake that a run's YAML names."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from engine import config
from engine.errors import ConfigError
from engine.plan import build
from lake import providers, sample
from lake.layers import Layered
from lake.point_in_time import PointInTime, UnknownKey
from lake.records import Observations
from lake.settings import CHOICES, LakeSettings

ACME = "date,open,high,low,close,volume\n2024-03-04,10,12,9,11,100\n2024-03-05,11,13,10,12,200\n"


@pytest.fixture
def own(tmp_path: Path) -> LakeSettings:
    (tmp_path / "equities").mkdir()
    (tmp_path / "equities" / "ACME.csv").write_text(ACME)
    return LakeSettings(equities="folder", path=str(tmp_path))


def test_without_a_section_the_lake_is_the_embedded_sample() -> None:
    assert LakeSettings().is_sample
    assert providers.open_lake(LakeSettings()) is sample.embedded()
    assert config.load("quick").lake.settings().is_sample


def test_a_folder_of_files_is_served_by_date_before_the_embedded_sample(own: LakeSettings) -> None:
    lake = providers.open_lake(own)
    bars, origin = lake.bars_of("ACME", as_of=date(2024, 3, 4))
    assert (bars.close, origin) == ((11.0,), "files of the user")
    bars, origin = lake.bars_of("IBM", as_of=date(2010, 3, 4))
    assert bars.known_on[-1] == date(2010, 3, 4) and "Quandl" in origin
    assert "ACME" in lake.tickers(as_of=date(2024, 3, 4)) and "ACME" not in lake.tickers(as_of=date(2024, 3, 3))
    with pytest.raises(UnknownKey, match="no prices of 'ACME' were known on 2024-03-03; known: AAPL, FB, GOOG"):
        lake.bars_of("ACME", as_of=date(2024, 3, 3))


def test_a_parquet_file_gives_what_the_csv_file_gives(own: LakeSettings) -> None:
    import duckdb

    folder = Path(own.path) / "equities"
    duckdb.sql(f"COPY (SELECT * FROM read_csv('{folder}/ACME.csv')) TO '{folder}/BETA.parquet'")
    lake = providers.open_lake(own)
    day = date(2024, 3, 5)
    assert lake.bars_of("BETA", as_of=day)[0] == lake.bars_of("ACME", as_of=day)[0]
    assert {"ACME", "BETA"} <= set(lake.tickers(as_of=day))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("11,13,10,12,200", "11,13,10,12,-1", r"ACME.csv: row 2 of 2024-03-05 is no candle: .*volume -1"),
        ("11,13,10,12,200", "11,9,10,12,200", "row 2 of 2024-03-05 is no candle"),
        ("2024-03-05", "2024-03-04", "row 2: 2024-03-04 does not come after 2024-03-04"),
        ("close", "last", "ACME.csv: it lacks close; it has date, open, high, low, last, volume"),
        ("12,200", "x,200", "row 2: close must be a number, got 'x'"),
    ],
)
def test_a_file_that_is_wrong_is_named_with_its_row(own: LakeSettings, old: str, new: str, message: str) -> None:
    (Path(own.path) / "equities" / "ACME.csv").write_text(ACME.replace(old, new))
    with pytest.raises(ValueError, match=message):
        providers.open_lake(own).bars_of("ACME", as_of=date(2024, 3, 5))


def test_the_yaml_names_the_lake_and_a_wrong_name_is_refused() -> None:
    plain = {"name": "x", "datasets": [{"type": "synthetic", "limit": 1}]}
    given = config.parse(plain | {"lake": {"equities": "folder", "path": "mine"}}, source="f").lake.settings()
    assert given.equities == "folder" and Path(given.path).is_absolute() and given.offline
    for name, choices in CHOICES.items():
        with pytest.raises(ConfigError, match=rf"lake\.{name}: .*'{choices[0]}'.*got 'bloomberg'"):
            config.parse(plain | {"lake": {name: "bloomberg"}}, source="f")
        with pytest.raises(ValueError, match=rf"lake\.{name} must be one of {choices[0]}"):
            LakeSettings(**{name: "bloomberg"})
    with pytest.raises(ConfigError, match=r"lake\.equity: unknown key .did you mean 'equities'"):
        config.parse(plain | {"lake": {"equity": "folder"}}, source="f")


def test_the_tools_data_are_part_of_what_a_run_is(own: LakeSettings) -> None:
    plain = {"name": "x", "datasets": [{"type": "synthetic", "limit": 1}]}

    def hashes(lake: object) -> dict[str, str]:
        return build.plan(config.parse(plain | {"lake": lake}, source="f"), agent_digest="0").data_hashes

    assert "lake" not in hashes({})
    first = hashes({"equities": "folder", "path": own.path})["lake"]
    assert first == hashes({"equities": "folder", "path": own.path})["lake"] and len(first) == 64
    (Path(own.path) / "equities" / "ACME.csv").write_text(ACME.replace("12,200", "12,201"))
    assert hashes({"equities": "folder", "path": own.path})["lake"] != first
    with pytest.raises(ConfigError, match=r"lake: lake\.path: .*is no folder"):
        hashes({"equities": "folder", "path": own.path + "/nowhere"})


def test_what_no_layer_knew_is_told_with_the_keys_of_all() -> None:
    def source(key: str) -> PointInTime[Observations]:
        day = date(2024, 3, 4)
        return PointInTime(key, lambda: {key: Observations.of([(day, day, 1.0)])})

    both = Layered(source("A"), source("B"), hint="; pull it")
    assert both.keys(as_of=date(2024, 3, 4)) == ("A", "B") and both.origin == "A; else B"
    assert both.known("B", as_of=date(2024, 3, 4)).value == (1.0,)
    with pytest.raises(UnknownKey, match="no data on 'C' was known on 2024-03-04; known then: A, B; pull it"):
        both.known("C", as_of=date(2024, 3, 4))
    with pytest.raises(UnknownKey, match="no data on 'A' was known on 2024-03-03; known then: nothing; pull it"):
        both.known("A", as_of=date(2024, 3, 3))


def test_the_tool_servers_of_a_run_read_the_lake_of_its_yaml(own: LakeSettings) -> None:
    import anyio
    from mcp import Client

    from engine.config import ExecutionConfig
    from engine.run import services
    from mcp_servers import access
    from mcp_servers.access import Grant

    async def close(url: str) -> object:
        async with Client(url) as client:
            return (await client.call_tool("get_quote", {"ticker": "ACME"})).structured_content["close"]

    with services.tool_servers(ExecutionConfig(ports="auto"), own) as (tools, _):
        token = access.issue(Grant("run", "task", date(2024, 3, 4), 0), tools.key)
        assert anyio.run(close, f"{tools.base_urls['yfinance']}/t/{token}/mcp") == 11.0
