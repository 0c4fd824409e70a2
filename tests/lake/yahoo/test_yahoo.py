"""The real yfinance against a server that speaks Yahoo's paths: prices of their time, and what was known when."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from engine.cli import main
from lake import adjusting, providers
from lake.point_in_time import ProviderUnavailable, UnknownKey
from lake.settings import LakeSettings
from lake.yahoo import pull
from lake.yahoo.provider import option_quotes, tables
from tests.lake.yahoo import yahoo_site
from tests.lake.yahoo.yahoo_site import NOW, Site

# yfinance's own use of pandas
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame:DeprecationWarning:yfinance")
LATER = NOW + timedelta(days=1)


@pytest.fixture
def site() -> Iterator[Site]:
    with yahoo_site.yahoo() as site:
        yield site


def pulled(site: Site, path: Path, ticker: str = "AAPL", now: datetime = NOW, **options: Any) -> pull.Pulled:
    return pull.pull(path, ticker, session=site.session(**options), now=now)


def lake_of(path: Path) -> Any:
    return providers.open_lake(LakeSettings(equities="yfinance", path=str(path)))


def test_prices_are_as_traded_on_their_day_and_a_split_is_known_from_its_own(site: Site, tmp_path: Path) -> None:
    """Apple closed at 499.23 on 28 August 2020 and at 129.04 on the 31st, after four for one."""
    assert pulled(site, tmp_path).missing == ()
    lake = lake_of(tmp_path)
    friday, origin = lake.bars_of("AAPL", as_of=date(2020, 8, 28))
    assert friday.close == (444.45, 500.04, 499.23) and "yfinance" in origin
    assert friday.volume[-1] == 46_907_500.0
    assert adjusting.splits_known(lake, "AAPL", as_of=date(2020, 8, 28))[-1].day == date(2005, 2, 28)
    known = adjusting.splits_known(lake, "AAPL", as_of=date(2020, 8, 28))
    assert adjusting.adjusted(friday, known).close == friday.close
    monday, _ = lake.bars_of("AAPL", as_of=date(2020, 8, 31))
    restated = adjusting.adjusted(monday, adjusting.splits_known(lake, "AAPL", as_of=date(2020, 8, 31)))
    assert restated.close == pytest.approx((444.45 / 4, 500.04 / 4, 499.23 / 4, 129.04))
    assert adjusting.ratio_on(lake, "AAPL", date(2020, 8, 31)) == 4.0


def test_a_dividend_is_as_paid_then_and_not_as_restated_by_later_splits(site: Site, tmp_path: Path) -> None:
    pulled(site, tmp_path)
    actions = lake_of(tmp_path).actions.known("AAPL", as_of=date(2020, 8, 30))
    assert (actions.kind, actions.value, actions.known_on) == (("dividend",), (0.82,), (date(2020, 8, 7),))


def test_the_bar_of_a_day_that_is_not_over_is_left_out(site: Site, tmp_path: Path) -> None:
    pulled(site, tmp_path, now=datetime(2020, 9, 1, 23, tzinfo=UTC))
    assert lake_of(tmp_path).bars_of("AAPL", as_of=date(2020, 9, 2))[0].known_on[-1] == date(2020, 8, 31)


def test_what_has_no_date_of_its_own_is_known_from_the_day_it_was_read(site: Site, tmp_path: Path) -> None:
    pulled(site, tmp_path)
    lake = lake_of(tmp_path)
    for source in (lake.estimates, lake.statements):
        assert set(source.known("AAPL", as_of=date(2020, 9, 2)).known_on) == {date(2020, 9, 2)}
        with pytest.raises(UnknownKey, match=r"no data on 'AAPL' was known on 2020-09-01; known then: .*; what was"):
            source.known("AAPL", as_of=date(2020, 9, 1))
    earnings = lake.earnings.known("AAPL", as_of=date(2020, 9, 1))
    assert (earnings.announced, earnings.eps_reported) == ((datetime(2020, 7, 30, 20, tzinfo=UTC),), (0.65,))
    assert lake.earnings.known("AAPL", as_of=date(2020, 9, 2)).eps_reported == (0.65, None)


def test_news_is_known_on_its_day_in_new_york(site: Site, tmp_path: Path) -> None:
    pulled(site, tmp_path)
    known = lake_of(tmp_path).news.known("AAPL", as_of=date(2020, 8, 31))
    assert known.title == ("Split takes effect", "Night shift")
    with pytest.raises(UnknownKey):
        lake_of(tmp_path).news.known("AAPL", as_of=date(2020, 8, 30))


def test_a_later_pull_adds_what_changed_and_keeps_what_was_known_before(site: Site, tmp_path: Path) -> None:
    pulled(site, tmp_path)
    site.average = 0.9
    site.news = [yahoo_site.article("Third", "2020-09-02T20:00:00Z"), *yahoo_site.NEWS]
    again = pulled(site, tmp_path, now=LATER)
    assert (again.rows["estimates"], again.rows["statements"], again.rows["news"]) == (4, 6, 3)
    estimates = lake_of(tmp_path).estimates
    assert estimates.known("AAPL", as_of=date(2020, 9, 2)).average[0] == 0.7
    assert estimates.known("AAPL", as_of=date(2020, 9, 3)).average == (0.7, 6.3e10, 0.9, 6.3e10)


def test_a_ticker_that_was_read_today_is_not_asked_for_again(site: Site, tmp_path: Path) -> None:
    pulled(site, tmp_path)
    digest = providers.digest(LakeSettings(equities="yfinance", path=str(tmp_path)))
    asked = len(site.asked)
    again = pulled(site, tmp_path)
    assert again.fresh and again.rows["bars"] == 5 and len(site.asked) == asked
    assert providers.digest(LakeSettings(equities="yfinance", path=str(tmp_path))) == digest


def test_a_reordered_answer_gives_the_same_prices(site: Site, tmp_path: Path) -> None:
    pulled(site, tmp_path / "a")
    site.chart = yahoo_site.chart(dict(reversed(yahoo_site.BARS.items())))
    pulled(site, tmp_path / "b")
    assert tables(tmp_path / "a").bars.digest() == tables(tmp_path / "b").bars.digest()


@pytest.mark.parametrize("mood", [429, 503, "cut", "garbage", "slow"])
def test_a_busy_server_is_asked_again_until_its_answer_is_whole(site: Site, tmp_path: Path, mood: int | str) -> None:
    site.plan = [mood, mood]
    result = pulled(site, tmp_path, timeout_s=0.3)
    assert result.missing == () and result.rows["bars"] == 5


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ([403], r"Yahoo Finance refuses /v8/finance/chart/AAPL with HTTP 403: wait, or use another network"),
        ([429] * 99, r"did not give /v8/finance/chart/AAPL in 4 attempts, at last: HTTP 429"),
        ([503] * 99, r"did not give /v8/finance/chart/AAPL in 4 attempts, at last: HTTP 503"),
        (["slow"] * 99, r"did not give /v8/finance/chart/AAPL in 4 attempts, at last: .*timed out"),
        (["garbage"] * 99, r"gave no readable prices of AAPL in 3 attempts: JSONDecodeError"),
    ],
)
def test_a_server_that_does_not_answer_is_an_error_that_says_how(
    site: Site, tmp_path: Path, plan: list[int | str], message: str
) -> None:
    site.plan = plan
    with pytest.raises(ProviderUnavailable, match=message):
        pulled(site, tmp_path, timeout_s=0.2)
    assert "AAPL" not in tables(tmp_path).bars.entries()


def test_a_table_that_does_not_come_is_told_and_asked_for_again(site: Site, tmp_path: Path) -> None:
    site.broken = {"/v10", "/xhr"}
    result = pulled(site, tmp_path)
    assert len(result.missing) == 2 and "did not give /v10/finance/quoteSummary/AAPL" in result.missing[0]
    assert result.rows["bars"] == 5 and result.rows["estimates"] == 0
    site.broken = set()
    again = pulled(site, tmp_path)
    assert not again.fresh and again.missing == () and again.rows["estimates"] == 2


def test_a_ticker_that_yahoo_does_not_know_is_told(site: Site, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Yahoo Finance has no prices of NIX"):
        pulled(site, tmp_path, "NIX")


def test_option_quotes_are_snapshots_that_are_known_from_their_day(site: Site, tmp_path: Path) -> None:
    for now in (NOW, LATER):
        pull.pull_options(tmp_path, "AAPL", session=site.session(), now=now)
    lake = providers.open_lake(LakeSettings(options="yfinance", path=str(tmp_path)))
    quotes = lake.option_quotes.known("AAPL", as_of=date(2020, 9, 2))
    assert quotes.option_type == ("call", "put") and quotes.expiration == (date(2020, 9, 18),) * 2
    assert (quotes.bid, quotes.ask, quotes.spot) == ((6.9, 2.8), (7.1, 2.9), (134.18, 134.18))
    assert len(option_quotes(tmp_path).known("AAPL", as_of=date(2020, 9, 3))) == 4


def test_the_commands_tell_what_is_there_and_what_is_missing(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["--out", str(tmp_path), "--base-url", site.url]
    assert main(["data", "pull", "equities", "--ticker", "aapl", *place]) == 0
    printed = capsys.readouterr().out
    assert "AAPL: 5 bars, 2 actions, 2 earnings, 2 estimates, 6 statements, 2 news" in printed
    assert "bars: 1 tickers, sha256 " in printed
    assert main(["data", "pull", "equities", "--ticker", "AAPL", *place]) == 0
    assert "(read today, already here)" in capsys.readouterr().out
    assert main(["data", "pull", "equities", "--ticker", "AAPL", "NIX", *place]) == 66
    assert "missing: Yahoo Finance has no prices of NIX" in capsys.readouterr().out
    assert main(["data", "pull", "options", "--ticker", "AAPL", *place]) == 0
    assert "AAPL: 2 quotes of all snapshots" in capsys.readouterr().out
    site.plan = [403]
    assert main(["data", "pull", "options", "--ticker", "AAPL", *place]) == 71


def test_an_offline_run_without_anything_pulled_says_so_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"equities: yfinance: nothing was pulled into .*data pull equities"):
        lake_of(tmp_path)
    with pytest.raises(ValueError, match=r"options: yfinance: nothing was pulled into .*data pull options"):
        providers.open_lake(LakeSettings(options="yfinance", path=str(tmp_path)))


def test_a_run_that_is_not_offline_fetches_a_ticker_when_it_is_asked_for(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = site.session()
    monkeypatch.setattr("lake.yahoo.session.new", lambda: shared)
    lake = providers.open_lake(LakeSettings(equities="yfinance", path=str(tmp_path), offline=False))
    assert site.asked == []
    assert lake.bars_of("AAPL", as_of=date(2020, 8, 28))[0].close[-1] == 499.23
    asked = len(site.asked)
    assert lake.bars_of("SIM-TECH", as_of=date(2020, 8, 28))[0].known_on[-1] == date(2020, 8, 28)
    assert lake.bars_of("AAPL", as_of=date(2020, 8, 31))[0].close[-1] == 129.04
    assert len(site.asked) == asked
