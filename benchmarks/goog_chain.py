"""The surface of a real chain (Google, 2015-12-23, American options) as the options server gives it, and its picture.

    python benchmarks/goog_chain.py OPTIONS.zip PICTURE.png

The archive holds one csv a contract, ``goog_quote_american_{call|put}_{strike x 10000}_{yyyymmdd}.csv``, with lines of
date, bid open/high/low/close x 10000, bid size, ask open/high/low/close x 10000, ask size. It is written as the
end-of-day file that ``lake: {options: folder}`` reads, and asked for over HTTP.
"""

from __future__ import annotations

import asyncio
import csv
import sys
import tempfile
import time
import zipfile
from datetime import date, datetime
from pathlib import Path
from typing import Any

import anyio
import numpy as np
from mcp import Client

from engine.run.tool_access import ToolAccess
from lake.settings import LakeSettings
from mcp_servers import access
from mcp_servers.access import Grant
from mcp_servers.server_set import start_servers

DAY = date(2015, 12, 23)
CLOSES = {date(2015, 12, 23): 750.31, date(2015, 12, 24): 748.40}
WARM_UP_S = 600.0
COLUMNS = "quote_date expiration strike option_type bid_eod ask_eod underlying_bid_eod underlying_ask_eod".split()


def write(archive: Path, file: Path) -> int:
    """Write the closing quotes of every contract as an end-of-day file; return their number."""
    rows = []
    with zipfile.ZipFile(archive) as files:
        for name in files.namelist():
            *_, kind, strike, expiry = name.removesuffix(".csv").split("_")
            expiration = datetime.strptime(expiry, "%Y%m%d").date()
            for line in files.read(name).decode().splitlines():
                cells = line.split(",")
                day = datetime.strptime(cells[0][:8], "%Y%m%d").date()
                bid, ask = (int(cells[number] or 0) / 1e4 for number in (4, 9))
                rows.append((day, expiration, int(strike) / 1e4, kind[0].upper(), bid, ask, CLOSES[day], CLOSES[day]))
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", newline="") as opened:
        writer = csv.writer(opened)
        writer.writerow(COLUMNS)
        writer.writerows(sorted(rows))
    return len(rows)


def ask(lake: Path, calls: list[tuple[str, dict[str, Any]]]) -> tuple[list[dict[str, Any]], list[float]]:
    """Return the answers of the options server over HTTP, and the seconds of each."""

    async def all_of(url: str) -> tuple[list[dict[str, Any]], list[float]]:
        answers, seconds = [], []
        async with Client(url) as client:
            for tool, arguments in calls:
                start = time.perf_counter()
                result = await client.call_tool(tool, arguments)
                seconds.append(time.perf_counter() - start)
                if result.is_error or result.structured_content is None:
                    raise RuntimeError(f"{tool}: {result.content}")
                answers.append(result.structured_content)
        return answers, seconds

    settings = LakeSettings(options="folder", path=str(lake))
    with start_servers(("options",), ports="auto", lake=settings) as servers:
        asyncio.run(ToolAccess({}, servers.key, channels=servers.channels).warmed(timeout_s=WARM_UP_S))
        token = access.issue(Grant("run", "chain", DAY, 1, 1000), servers.key)
        return anyio.run(all_of, servers.urls(token)["options"])


def draw(surface: dict[str, Any], picture: Path) -> None:
    """Draw bid, ask and fitted volatility of every expiration from the server's answer."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    days = surface["expirations"]
    figure, axes = plt.subplots(2, -(-len(days) // 2), figsize=(15, 6), layout="constrained")
    for number, axis in enumerate(axes.flat[: len(days)]):
        forward, years, curve = (surface[name][number] for name in ("forward", "time_to_expiry", "curves"))
        k = np.log(np.array(surface["strikes"][number]) / forward)
        bid, ask = (100 * np.array(surface[f"{side}_volatility"][number]) for side in ("bid", "ask"))
        axis.vlines(k, bid, ask, color="0.55", linewidth=1.2)
        x = np.linspace(k.min() - 0.03, k.max() + 0.03, 200)
        root = np.sqrt((x - curve["m"]) ** 2 + curve["sigma"] ** 2)
        total = curve["a"] + curve["b"] * (curve["rho"] * (x - curve["m"]) + root)
        axis.plot(x, 100 * np.sqrt(total / years), color="C3", linewidth=1.3)
        axis.set_title(f"{days[number]}, forward {forward:.2f}", fontsize=9)
        axis.tick_params(labelsize=8)
    for axis in axes.flat[len(days) :]:
        axis.set_axis_off()
    fit = surface["fit"]
    figure.suptitle(
        f"{surface['ticker']}, {surface['quoted_on']}, from get_iv_surface: implied volatility in %, bid to ask (grey) "
        f"and SVI (red), by log(strike / forward); inside the spread: {fit['inside_spread']:.1%} of {fit['quotes']} "
        f"fitted, {fit['priced_inside_spread']:.1%} of all {fit['two_sided_quotes']} quotes",
        fontsize=10,
    )
    picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture, dpi=70)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        write(Path(sys.argv[1]), Path(folder) / "options" / "GOOG.csv")
        goog = {"ticker": "GOOG"}
        calls: list[tuple[str, dict[str, Any]]] = [("get_iv_surface", goog), ("get_iv_surface", goog)]
        calls += [
            ("get_iv_surface", goog | {"model": "ssvi"}),
            ("get_options_chain", goog | {"expiration": "2016-03-18"}),
        ]
        (surface, _, ssvi, chain), seconds = ask(Path(folder), calls)
    print("seconds: surface, again, SSVI, a chain:", *(f"{each:.2f}" for each in seconds))
    for name, found in (("SVI", surface["fit"]), ("SSVI", ssvi["fit"])):
        print(
            f"{name}: between bid and ask {found['inside_spread']:.1%} of {found['quotes']} fitted, "
            f"{found['priced_inside_spread']:.1%} of all {found['two_sided_quotes']} quotes; median error "
            f"{found['median_error']:.4%}, median half-spread {found['median_half_spread']:.4%}; free of arbitrage: "
            f"{found['is_free_of_arbitrage']}"
        )
    print(f"rate {surface['rate']:.4%}, {len(chain['strike'])} strikes of {chain['expiration']}")
    draw(surface, Path(sys.argv[2]))


if __name__ == "__main__":
    main()
