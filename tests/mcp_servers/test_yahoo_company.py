"""What Yahoo shows of a company is served as it was known on the simulation date."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from lake import providers
from lake.settings import LakeSettings
from lake.yahoo import pull
from mcp_servers import trading, yfinance
from tests.lake.yahoo import yahoo_site

# yfinance's own use of pandas
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame:DeprecationWarning:yfinance")
Ask = Callable[..., Any]
TODAY = date(2020, 9, 2)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("lake")
    with yahoo_site.yahoo() as site:
        for days, average in ((0, 0.7), (1, 0.9)):
            site.average = average
            now = yahoo_site.NOW + timedelta(days=days)
            assert pull.pull(folder, "AAPL", session=site.session(), now=now).missing == ()
    yield providers.open_lake(LakeSettings(equities="yfinance", path=str(folder)))


@pytest.fixture(scope="module")
def server(lake: Any) -> Any:
    return yfinance.build_server(lake=lake)


def test_a_split_adjusted_price_is_that_of_its_time(server: Any, ask: Ask) -> None:
    question = {"ticker": "AAPL", "start": "2020-08-27", "adjust_for_splits": True}
    before = ask(server, "get_price_history", as_of=date(2020, 8, 30), **question)
    assert before["close"] == [500.04, 499.23]
    after = ask(server, "get_price_history", as_of=date(2020, 8, 31), **question)
    assert after["close"] == pytest.approx([125.01, 124.8075, 129.04])
    assert ask(server, "get_quote", as_of=date(2020, 8, 30), ticker="AAPL")["close"] == 499.23


def test_actions_are_known_from_their_day(server: Any, ask: Ask) -> None:
    before = ask(server, "get_actions", as_of=date(2020, 8, 30), ticker="AAPL")
    assert (before["date"][0], before["kind"][0], before["value"][0]) == ("2020-08-07", "dividend", 0.82)
    after = ask(server, "get_actions", as_of=date(2020, 8, 31), ticker="aapl", limit=1)
    assert (after["date"], after["kind"], after["value"]) == (["2020-08-31"], ["split"], [4.0])
    embedded = ask(yfinance.build_server(), "get_actions", as_of=date(2003, 2, 18), ticker="MSFT")
    assert (embedded["date"], embedded["value"]) == (["2003-02-18"], [2.0])
    assert "no data on 'NIX'" in ask(server, "get_actions", as_of=TODAY, ticker="NIX")


def test_estimates_are_those_of_the_last_reading(server: Any, ask: Ask) -> None:
    first = ask(server, "get_estimates", as_of=TODAY, ticker="AAPL")
    assert (first["read_on"], first["measure"], first["average"]) == ("2020-09-02", ["eps", "revenue"], [0.7, 6.3e10])
    later = ask(server, "get_estimates", as_of=date(2020, 9, 10), ticker="AAPL")
    assert (later["read_on"], later["average"][0], later["analysts"]) == ("2020-09-03", 0.9, [31, 29])


def test_an_expected_announcement_is_known_from_the_day_it_was_read(server: Any, ask: Ask) -> None:
    before = ask(server, "get_earnings", as_of=date(2020, 9, 1), ticker="AAPL")
    assert (before["eps_estimate"], before["eps_reported"]) == ([0.51], [0.65])
    after = ask(server, "get_earnings", as_of=TODAY, ticker="AAPL")
    assert after["eps_reported"] == [None, 0.65] and after["announced"][0].startswith("2020-10-29T20:00")
    assert "no data on 'AAPL' was known on 2020-07-29" in ask(
        server, "get_earnings", as_of=date(2020, 7, 29), ticker="AAPL"
    )


def test_statements_and_news(server: Any, ask: Ask) -> None:
    income = ask(server, "get_financials", as_of=TODAY, ticker="AAPL", statement="income")
    assert (income["line_item"], income["value"]) == (["TotalRevenue"], [260_174e6])
    assert (income["period_end"], income["known_on"]) == (["2019-09-28"], ["2020-09-02"])
    news = ask(server, "get_news", as_of=date(2020, 8, 31), ticker="AAPL", limit=1)
    assert (news["title"], news["publisher"]) == (["Night shift"], ["Wire"])


def test_a_macro_series_names_its_unit_and_its_days_of_publication(ask: Ask) -> None:
    server = yfinance.build_server()
    friday = {"series": "dtb3", "start": "2023-06-01"}
    answer = ask(server, "get_macro_series", as_of=date(2023, 7, 3), **friday)
    assert (answer["day"], answer["known_on"]) == (["2023-06-30"], ["2023-07-03"])
    assert "percent a year" in answer["unit"]
    assert "was published" in ask(server, "get_macro_series", as_of=date(2023, 7, 2), **friday)
    assert "known then: DTB3, VIX" in ask(server, "get_macro_series", as_of=date(2023, 7, 2), series="?")
    text = ask(server, "get_macro_series", as_of=date(2023, 7, 2), series="VIX", end="2023-07-03")
    assert "end=2023-07-03 is after the simulation date" in text


def test_a_revised_figure_is_served_in_the_version_of_its_time(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "macro").mkdir()
    vintages = "observation_date,GDP_20240125,GDP_20240228\n2023-07-01,27610.1,27610.1\n2023-10-01,27938.8,27944.6\n"
    (tmp_path / "macro" / "GDP.csv").write_text(vintages)
    server = yfinance.build_server(lake=providers.open_lake(LakeSettings(macro="fred_csv", path=str(tmp_path))))
    for as_of, value in ((date(2024, 2, 27), 27938.8), (date(2024, 2, 28), 27944.6)):
        answer = ask(server, "get_macro_series", as_of=as_of, series="GDP")
        assert (answer["day"], answer["value"]) == (["2023-07-01", "2023-10-01"], [27610.1, value])


def test_what_was_not_pulled_says_what_to_do(ask: Ask) -> None:
    for tool in ("get_news", "get_earnings", "get_estimates"):
        text = ask(yfinance.build_server(), tool, as_of=TODAY, ticker="AAPL")
        assert "traderbench data pull equities --ticker TICKER, and lake: {equities: yfinance} in its config" in text


def test_tickers_are_listed_by_their_beginning_and_in_parts(server: Any, ask: Ask) -> None:
    assert ask(server, "list_tickers", as_of=TODAY, query="sim-b")["ticker"] == ["SIM-BANK"]
    every = ask(server, "list_tickers", as_of=TODAY)["ticker"]
    assert ask(server, "list_tickers", as_of=TODAY, offset=3)["ticker"] == every[3:]


def test_the_paper_account_holds_through_a_split_of_pulled_prices(lake: Any, ask: Ask) -> None:
    server = trading.build_server(lake=lake)
    ask(server, "open_account", as_of=TODAY, start="2020-08-27", cash=10_000)
    ask(server, "place_order", as_of=TODAY, client_order_id="a", ticker="AAPL", side="buy", quantity=10)
    ask(server, "advance", as_of=TODAY, to="2020-09-01")
    account = ask(server, "get_account", as_of=TODAY)
    assert account["shares"] == [40.0]
