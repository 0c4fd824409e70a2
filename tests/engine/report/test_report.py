"""The report, rendered from records that an agent has done its worst to."""

import json
import os
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from engine import report
from engine.report import charts, results
from evaluators.contract import SECTIONS

HOSTILE = "<script>document.title='owned'</script><img src=x onerror=alert(1)> {{ 7*7 }} ${7*7} \ud800 </pre>"
CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)


def make_record(section, number, value=50.0, **fields):
    return {
        "task_id": f"{section}-{number}",
        "section": section,
        "dataset": "synthetic",
        "category": "Quantitative Reasoning",
        "family": f"f{number}",
        "as_of": "2013-03-01",
        "question": f"How much is {HOSTILE}?",
        "chance_score": 0.0,
        "state": "failed",
        "reason": HOSTILE,
        "value": value,
        "passed": False,
        "parts": {},
        "details": {"given": HOSTILE},
        "transcript": [{"role": "harness", "text": '{"question": "q"}'}, {"role": "agent", "text": HOSTILE}],
        "usage": {"input_tokens": 1, "output_tokens": 2, "cost_usd": 0.01},
        "tool_calls": [
            {
                "server": "edgar",
                "tool": HOSTILE,
                "arguments": HOSTILE,
                "ok": False,
                "error": HOSTILE,
                "lookahead": True,
                "milliseconds": 1500.0,
            }
        ],
        "lookahead_attempts": 1,
        "seconds": 0.5,
    } | fields


def crypto_record(transform, number):
    return make_record(
        "crypto_trading",
        number,
        value=-5.0 + number,
        details={
            "transform": transform,
            "equity_curves": {"bar": [0, 1, 2], "windows": {"w00": [1.0, 1.01, 0.99], "w01": [1.0, 0.98, 1.02]}},
            "samples": [{"family": "w1", "value": number - 10.0}, {"family": "w2", "value": float(number)}],
            "sharpe": 0.5,
            "win_rate": None,
        },
    )


@pytest.fixture(scope="module")
def records():
    rows = [make_record(section, n) for section in SECTIONS if section != "crypto_trading" for n in range(3)]
    rows += [crypto_record(name, n) for n, name in enumerate(("baseline", "noisy", "meta", "adversarial"))]
    rows[0] |= {"state": "infra_unavailable"}
    rows.append(make_record("options_trading", 9, parts={"pnl": 100.0, "greeks": 0.0, "strategy": 75.0, "risk": 50.0}))
    return rows


@pytest.fixture(scope="module")
def manifest():
    return {
        "run_id": "quick-1-x",
        "created_at": "2026-11-20T00:00:00+00:00",
        "config": {"name": "quick", "version": "1", "weights": dict.fromkeys(SECTIONS, 0.2)},
        "seed": 1,
        "agent": {"name": HOSTILE, "digest": "d", "spec": "s"},
        "versions": {"traderbench": "0"},
        "platform": "Linux",
        "data_hashes": {"synthetic": "h"},
        "sandbox_tier": "none",
    }


@pytest.fixture(scope="module")
def page_file(manifest, records, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    report.write(folder, manifest, records)
    return folder / "report.html"


def test_the_report_needs_no_network(page_file):
    text = page_file.read_text()
    for word in ('src="http', "url(http", "@import", "<link rel=stylesheet", 'href="http'):
        assert word not in text


def test_the_report_shows_call_times_and_warns_of_slow_tools(manifest, records, page_file, tmp_path):
    row = (
        '<td>edgar</td><td class="number">17</td>' + '<td class="number">1.50 s</td>' * 4 + '<td class="number">0</td>'
    )
    assert len(records) == 17 and row in page_file.read_text()
    assert "on our side" not in page_file.read_text()
    report.write(tmp_path, manifest, [records[1] | {"slow_tool_calls": 1}, *records[2:]])
    warned = (tmp_path / "report.html").read_text()
    assert "1 task met tool calls slower than 20 s on our side (longest 1.5 s): its score may be too low" in warned
    assert "(1 slow on our side: the score may be too low)" in warned


def test_report_table_and_results_tell_what_the_harness_repeated_or_lost(manifest, records):
    former = {"state": "infra_unavailable", "reason": "r", "usage": records[0]["usage"], "server_deaths": ["edgar"]}
    repeated = records[0] | {"former": [former], "draw": 2, "tool_log_missing": ["sandbox"], "after_later_data": True}
    rows = [repeated, *records[1:]]
    said = [
        "1 task played again after a failure of the harness (1 attempt lost a tool server), 1 of them drawn afresh",
        "1 task without a full log of tool calls",
        "1 task played when tools had already served this run later data than the task's date",
    ]
    html, result = report.render(manifest, rows), results.summary(manifest, rows)
    for line in said:
        assert line in html.replace("&#39;", "'") and line in results.table(result)
    assert "(no log of calls from sandbox)" in html and "played 2 times, last drawn afresh" in html
    counts = ("repeated", "fresh_draws", "server_deaths", "tool_log_missing", "after_later_data")
    assert [result[name] for name in counts] == [1] * 5
    row = results.agentbeats(manifest, rows)["detailed_results"][0]
    assert [row[name] for name in ("attempts", "draw", "server_deaths", "tool_log_missing")] == [2, 2, 1, ["sandbox"]]


def test_nothing_that_an_agent_wrote_is_markup(page_file):
    text = page_file.read_text()
    assert "<script>document" not in text
    assert "<img src=x" not in text
    assert "&lt;script&gt;document.title=&#39;owned&#39;&lt;/script&gt;" in text


def test_a_long_transcript_is_cut_with_a_note_that_says_so(manifest, records):
    turns = [{"role": "agent", "text": "x" * 50_000} for _ in range(200)]
    text = report.render(manifest, [records[1] | {"transcript": turns}])
    assert "more characters are in the run" in text
    assert "<summary>192 more messages</summary>" in text and text.count("<details") == text.count("</details>")
    assert len(text) < 1_500_000


def test_robustness_is_skill_kept_from_clean_markets():
    from engine.report import page

    def group(*values):
        return [{"value": value} for value in values]

    assert page._kept({"baseline": group(40.0, 60.0), "noisy": group(20.0, 30.0), "meta": group(-10.0)}) == [
        "100%",
        "50%",
        "-20%",
    ]
    assert page._kept({"baseline": group(-1.0), "noisy": group(5.0)}) == ["n/a", "n/a"]


@pytest.mark.parametrize(
    ("sampling", "source", "line"),
    [
        ({"seed": 1, "seed_drawn": True}, "random", "The seed was drawn at random for this run"),
        ({"seed": 1, "seed_drawn": False}, "chosen", "Practice: the seed was chosen beforehand"),
    ],
)
def test_the_report_and_results_say_whether_the_seed_could_be_known(manifest, records, sampling, source, line):
    described = manifest | {"config": manifest["config"] | {"sampling": sampling}}
    assert results.agentbeats(described, records)["traderbench"]["seed_source"] == source
    text = report.render(described, records)
    assert line in text
    assert ("Practice" in text) == (source == "chosen")


def test_one_is_singular_and_nothing_has_no_sign(manifest):
    record = make_record(
        "options_trading", 1, value=-0.04, state="agent_error", parts={"pnl": -0.01}, lookahead_attempts=1
    )
    text = report.render(manifest, [record])
    assert "0 of 1 task passed · 1 look-ahead attempt ·" in text
    assert "1 of 1 task ended in an error of the agent and counts 0; most often (1): " in text
    assert "1 tool call," in text
    assert ">-0.0<" not in text and ">0.0<" in text
    table = results.table(results.summary(manifest, [record, record | {"task_id": "b", "state": "infra_unavailable"}]))
    assert "1 of 2 tasks ended in an error of the agent and counts 0" in table
    assert "1 task has no score because of the harness" in table
    assert "-0.0" not in table


def test_results_json_is_a_superset_of_the_agentbeats_result(page_file):
    found = json.loads((page_file.parent / "results.json").read_text())
    assert found["schema_version"] == "2.0"
    assert set(found["section_scores"]) == set(SECTIONS)
    for section in found["section_scores"].values():
        assert {"score", "weight", "weighted_contribution", "datasets", "task_count", "accuracy", "sub_scores"} <= set(
            section
        )
    assert {"purple_agent", "num_tasks", "num_successful", "conduct_debate"} == set(found["evaluation_metadata"])
    assert len(found["detailed_results"]) == found["evaluation_metadata"]["num_tasks"]
    assert found["traderbench"]["overall"]["score"] == found["overall_score"]["score"]


def test_an_inactive_section_keeps_its_place_with_nulls(manifest, records):
    found = results.agentbeats(manifest, [row for row in records if row["section"] == "options_trading"])
    assert found["section_scores"]["crypto_trading"]["score"] is None
    assert found["section_scores"]["options_trading"]["weight"] == 1.0


def drawn_texts(svg):
    """Return the texts of a drawing: words -> (x, anchor, y)."""
    found = {}
    for node in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):
        style = node.get("style", "")
        anchor = style.split("text-anchor:")[1].split(";")[0].strip() if "text-anchor" in style else "start"
        x, y = node.get("x"), node.get("y")
        if x is None:
            x, y = node.get("transform").split("translate(")[1].split(")")[0].split()
        found[node.text] = (float(x), anchor, float(y))
    return found


def test_the_values_of_the_interval_chart_stand_in_a_column_beside_the_scale():
    texts = drawn_texts(
        charts.intervals([("low", 5.0, (0.0, 20.0)), ("high", 75.0, (40.0, 100.0)), ("no", None, None)])
    )
    places = {texts[words][:2] for words in ("5.0", "75.0", "n/a")}
    assert len(places) == 1
    ((x, anchor),) = places
    assert anchor == "end" and x > texts["100"][0] + 20.0


def test_the_radar_names_its_axes_outside_of_the_ring():
    """Before, centred labels began 7 points inside of the ring's edge."""
    svg = charts.radar(dict.fromkeys(SECTIONS, 50.0) | {"crypto_trading": None})
    ring = svg.split('<g id="patch_2">')[1].split("</g>")[0]
    edges = [float(x) for x in re.findall(r"(-?[0-9.]+) -?[0-9.]+ *\n", ring)]
    texts = drawn_texts(svg)
    assert "n/a" in texts and max(edges) - min(edges) > 150.0
    for words in ("Analytical", "reasoning"):
        assert texts[words][0] > max(edges) + 5.0
    # about 5 points a letter at this size
    for words in ("Professional", "tasks"):
        assert texts[words][0] + 5.0 * len(words) < min(edges) - 5.0


def test_the_axis_of_no_calls_starts_at_0():
    """Before, it ran from -0.04 to 0.04."""
    texts = drawn_texts(charts.bars({"edgar": 0.0, "risk": 0.0}, unit="calls"))
    assert {"0", "1"} <= set(texts)
    assert not [words for words in texts if "." in words or "\N{MINUS SIGN}" in words]


def test_crypto_metrics_are_told_in_percent_and_without_exponents(manifest):
    record = crypto_record("baseline", 0)
    told = {
        "total_return": 0.0003737,
        "cost": 5.154e-05,
        "max_drawdown": 0.12345,
        "exposure": -0.0,
        "paper_product": 5.154e-05,
        "as_published": 47.5,
        "trades": 3.0,
    }
    record["details"] |= told
    text = report.render(manifest, [record])
    for title, value in (
        ("Total return", "0.037%"),
        ("Costs, of equity", "0.0052%"),
        ("Maximum drawdown", "12.35%"),
        ("Mean exposure, of equity", "0%"),
        ("Win rate after costs", "n/a"),
        ("Trades an episode", "3"),
        ("Published product (eq. 13), for comparison", "0.000052"),
        ("Published formula (0-100), for comparison", "47.5"),
    ):
        assert f'<td>{title}</td><td class="number">{value}</td>' in text, title
    assert "gives 47.5 for doing nothing" in text


def part_run():
    played = [make_record("options_trading", n, value=100.0, state="passed", passed=True) for n in range(6)]
    left = [make_record("options_trading", n, value=0.0, state="not_run") for n in (6, 7)]
    return [*played, *left, make_record("crypto_trading", 0, value=0.0, state="not_run")]


def test_what_was_not_played_is_not_shown_as_a_measured_zero(manifest):
    found = results.agentbeats(manifest, part_run())
    assert found["overall_score"]["score"] == 100.0
    unplayed = found["section_scores"]["crypto_trading"]
    assert (unplayed["score"], unplayed["weighted_contribution"], unplayed["weight"]) == (None, None, 0.0)
    lines = results.table(results.summary(manifest, part_run())).splitlines()
    assert lines[1].split() == ["options_trading", "100.0", *lines[1].split()[2:5], "6", "of", "8", "6", "100%"]
    assert lines[2].split() == ["crypto_trading", "n/a", "n/a", "0", "of", "1", "0", "0%"]
    assert lines[3].split()[-4:] == ["6", "of", "9", "6"]
    # halves of (600 / 8, 800 / 8) and (0, 100)
    assert lines[4] == "3 tasks were not run: the overall score lies between 37.5 and 100.0"
    text = report.render(manifest, part_run())
    assert "of 100 overall, <b>incomplete: 6 of 9 tasks scored</b>" in text
    assert '<td>Crypto trading</td><td class="number">n/a</td>' in text
    assert '<span class="state not_run">not run</span><span class="points">n/a</span>' in text


def test_a_run_that_scored_nothing_has_a_report_without_a_score(manifest):
    rows = [make_record("options_trading", 0, value=0.0, state="infra_unavailable")]
    assert results.agentbeats(manifest, rows)["overall_score"]["score"] is None
    text = report.render(manifest, rows)
    assert "<strong>n/a</strong>" in text and ", n/a (incomplete)</title>" in text
    assert results.table(results.summary(manifest, rows)).splitlines()[2].split()[:3] == ["overall", "n/a", "n/a"]


@pytest.fixture(scope="module")
def browser_page(page_file):
    if CHROMIUM is None:
        if os.environ.get("TRADERBENCH_REQUIRE_BROWSER"):
            pytest.fail("Chromium is required here and missing")
        pytest.skip("needs Chromium")
    from playwright.sync_api import sync_playwright

    problems = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.on(
            "console", lambda message: problems.append(message.text) if message.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: (problems.append("dialog"), dialog.dismiss()))
        page.goto(Path(page_file).as_uri())
        yield page, problems
        browser.close()


@pytest.mark.browser
def test_chromium_shows_sections_charts_and_a_transcript_without_a_console_error(browser_page):
    page, problems = browser_page
    assert page.locator("#sections tr").count() == 1 + len(SECTIONS)
    for place in ("#overall svg", "#crypto svg", "#options svg", "#servers svg"):
        box = page.locator(place).first.bounding_box()
        assert box["width"] > 200
        assert box["height"] > 100
    task = page.locator("details.task").nth(1)
    task.locator("summary").first.click()
    assert task.locator(".turn.agent pre").is_visible()
    assert "<script>document.title='owned'</script>" in task.locator(".turn.agent pre").inner_text()
    assert page.title().startswith("TraderBench")
    assert problems == []


@pytest.mark.browser
def test_the_filters_narrow_the_table(browser_page):
    page, _ = browser_page
    page.select_option("#filter-section", "crypto_trading")
    assert page.locator("details.task:visible").count() == 4
    page.select_option("#filter-section", "")
    page.select_option("#filter-state", "infra_unavailable")
    assert page.locator("details.task:visible").count() == 1
    page.select_option("#filter-state", "")
