"""Each check of a memo and of a table at its edge: as many words, cells and rows as asked for, and one less."""

from __future__ import annotations

from datetime import date

import pytest

from evaluators.answers import Tolerance
from evaluators.contract import Score
from evaluators.professional.marks import DIMENSIONS, Mark, nothing, total, verdict
from evaluators.professional.memo import MAX_WORDS, MIN_SECTION_WORDS, MIN_WORDS, SECTIONS, Figure, Memo
from evaluators.professional.table import MAX_ROWS, Column, Table

MEMO = Memo(
    recipient="Head of Desk",
    subject="the hedge",
    written_on=date(2024, 5, 6),
    figures=(Figure("Cost", 120.0, "currency"), Figure("Fills", 3, "number", tolerance=Tolerance(relative=0.0))),
    verdicts=("hold", "sell"),
    verdict="sell",
    verdict_rule="sell above 100.",
    summary="It costs more than the limit of the desk.",
    finding="The cost is above the limit.",
)


def marks(text: str | None, memo: Memo = MEMO) -> dict[str, Mark]:
    return {mark.name.removeprefix(f"{memo.name} "): mark for mark in memo.marks(text)}


def test_a_right_memo_meets_every_check_and_the_conclusion_weighs_double() -> None:
    found = marks(MEMO.render())
    assert {name: (mark.dimension, mark.fraction, mark.weight) for name, mark in found.items()} == {
        "sections": ("completion", 1.0, 1.0), "figures stated": ("completion", 1.0, 1.0),
        "figures": ("accuracy", 1.0, 1.0), "heading": ("format", 1.0, 1.0), "outline": ("format", 1.0, 1.0),
        "conclusion": ("professionalism", 1.0, 2.0), "length": ("professionalism", 1.0, 1.0),
        "subject": ("professionalism", 1.0, 1.0), "summary": ("professionalism", 1.0, 0.5),
        "assumptions": ("professionalism", 1.0, 0.5), "finished": ("professionalism", 1.0, 1.0),
    }  # fmt: skip
    assert found["conclusion"].note == "" and found["sections"].note == "4 of 4"


@pytest.mark.parametrize("text", [None, ""])
def test_no_memo_meets_no_check_and_every_one_says_why(text: str | None) -> None:
    found = marks(text)
    assert {mark.fraction for mark in found.values()} == {0.0}
    assert found["figures"].note == "wrong: Cost, Fills"
    assert found["conclusion"].note == "stated [], right is sell"
    assert (found["length"].note, found["subject"].note) == ("0 words", "must name the hedge")


def test_each_line_of_the_heading_is_a_quarter_of_it() -> None:
    lines = MEMO.render().splitlines()
    for count in range(5):
        assert marks("\n".join(lines[:count]))["heading"].fraction == count / 4
    for place in range(4):
        other = [*lines[:place], "Else: 1", *lines[place + 1 :]]
        assert marks("\n".join(other))["heading"].fraction == 0.75
    assert marks("\n".join([*lines[:3], "Subject: ", *lines[5:]]))["heading"].fraction == 0.75
    assert marks("\n".join([*lines[:3], "To: Subject: it"]))["heading"].fraction == 0.75


@pytest.mark.parametrize(("count", "met"), [(79, 0.0), (80, 1.0), (400, 1.0), (401, 0.0)])
def test_a_memo_has_80_to_400_words(count: int, met: float) -> None:
    assert (MIN_WORDS, MAX_WORDS) == (80, 400)
    text = ("word " * count).strip()
    assert marks(text)["length"].fraction == met
    assert marks(text)["length"].note == ("" if met else f"{count} words")


@pytest.mark.parametrize("section", ["summary", "assumptions"])
def test_summary_and_assumptions_have_twelve_words(section: str) -> None:
    assert MIN_SECTION_WORDS == 12
    for count, met in ((11, 0.0), (12, 1.0)):
        found = marks(f"## {section.title()}\n" + "word " * count)
        other = {"summary": "assumptions", "assumptions": "summary"}[section]
        assert (found[section].fraction, found[other].fraction) == (met, 0.0)


def test_a_figure_is_right_where_it_stands_once_and_is_right() -> None:
    right = MEMO.render()
    for wrong in (
        right.replace("- Cost: $120.00", "- Cost: $121.00"),
        right.replace("- Cost: $120.00\n", ""),
        right.replace("- Cost: $120.00", "- Cost: $120.00\n- Cost: $120.00"),
    ):
        found = marks(wrong)
        assert (found["figures"].fraction, found["figures"].note) == (0.5, "wrong: Cost")
        assert found["figures stated"].fraction == (1.0 if "Cost:" in wrong else 0.5)
    # 0.5% is right, more is not; a count is exact
    assert marks(right.replace("$120.00", "$120.60"))["figures"].fraction == 1.0
    assert marks(right.replace("$120.00", "$120.61"))["figures"].fraction == 0.5
    assert marks(right.replace("Fills: 3", "Fills: 3.01"))["figures"].fraction == 0.5


def test_half_of_the_outline_is_its_headings_and_half_its_lines_of_figures() -> None:
    right = MEMO.render()
    assert marks(right.replace("## Summary", "## Results"))["outline"].fraction == 0.5
    assert marks(right.replace("- Fills: 3\n", ""))["outline"].fraction == 0.5
    assert marks(right.replace("## Summary", "##  Summary "))["outline"].fraction == 1.0
    assert marks(right.replace("- Fills: 3", "- Fills: 3\n- Rest: 4"))["outline"].fraction == 1.0


def test_a_section_is_filled_by_more_than_its_heading() -> None:
    right = MEMO.render()
    empty = right.replace("sell. The cost is above the limit.", " ")
    assert (marks(empty)["sections"].fraction, marks(empty)["sections"].note) == (0.75, "3 of 4")
    assert marks(right.replace("## Conclusion", "### **Conclusion:**"))["sections"].fraction == 1.0
    assert len(SECTIONS) == 4


@pytest.mark.parametrize(
    ("conclusion", "met"), [("Sell.", 1.0), ("hold", 0.0), ("sell or hold", 0.0), ("seller", 0.0), ("wait", 0.0)]
)
def test_the_conclusion_states_the_right_verdict_alone(conclusion: str, met: float) -> None:
    assert marks(f"## Conclusion\n{conclusion}")["conclusion"].fraction == met


COLUMNS = (Column("item", "key", "the item"), Column("total", "money", "the sum"), Column("share", "percent", "", 4))
TABLE = Table("t.csv", COLUMNS, (("a", 1.5, 0.25), ("b", 2.5, 0.75)))
RIGHT = "item,total,share\na,1.50,0.2500\nb,2.50,0.7500\n"


def cells(text: str | None, table: Table = TABLE) -> tuple[float, float, float, float]:
    """Rows, figures, layout and cells as fractions."""
    found = [mark.fraction for mark in table.marks(text)]
    return (found[0], found[1], found[2], found[3])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (RIGHT, (1.0, 1.0, 1.0, 1.0)),
        ("\ufeff\n" + RIGHT.replace("\n", "\n,,\n"), (1.0, 1.0, 1.0, 1.0)),
        # a row too many lowers the share of rows and of figures; a row too few has its cells wrong
        (RIGHT + "c,3.50,0.1000\n", (2 / 3, 4 / 6, 0.5, 1.0)),
        ("item,total,share\na,1.50,0.2500\n", (0.5, 0.5, 0.5, 1.0)),
        # a key that comes twice is wrong
        (RIGHT.replace("b,", "a,"), (0.0, 0.0, 0.5, 1.0)),
        # a row with a cell too many or too few is no row
        (RIGHT.replace("0.2500", "0.2500,1"), (0.5, 0.5, 1.0, 3 / 6)),
        (RIGHT.replace(",0.7500", ""), (0.5, 0.5, 1.0, 3 / 6)),
        # one figure of four, and one cell of six
        (RIGHT.replace("0.2500", "0.9500"), (1.0, 0.75, 1.0, 1.0)),
        (RIGHT.replace("1.50", "$1.50"), (1.0, 1.0, 1.0, 5 / 6)),
        (RIGHT.replace("1.50", "1.5"), (1.0, 1.0, 1.0, 5 / 6)),
        # columns in another order are read by their names, and are not the layout that was asked for
        ("item,share,total\na,0.2500,1.50\nb,0.7500,2.50\n", (1.0, 1.0, 0.5, 0.0)),
        ("share,item,total\n0.2500,a,1.50\n0.7500,b,2.50\n", (1.0, 1.0, 0.0, 0.0)),
        ("ITEM,Total,share\na,1.50,0.2500\nb,2.50,0.7500\n", (1.0, 1.0, 0.5, 0.0)),
        ("item,total,other\na,1.50,0.2500\nb,2.50,0.7500\n", (1.0, 0.5, 0.5, 0.0)),
        ("other,total,share\na,1.50,0.2500\nb,2.50,0.7500\n", (0.0, 0.0, 0.5, 0.0)),
        # rows in another order
        ("item,total,share\nb,2.50,0.7500\na,1.50,0.2500\n", (1.0, 1.0, 0.5, 1.0)),
        ("item,total,share\n", (0.0, 0.0, 0.5, 0.0)),
        (None, (0.0, 0.0, 0.0, 0.0)),
        ("\n\n", (0.0, 0.0, 0.0, 0.0)),
        ("total,share,item\n1.50,0.2500\n2.50,0.7500,b\n", (0.5, 0.5, 0.0, 0.0)),
    ],
)
def test_the_shares_of_a_table(text: str | None, said: tuple[float, ...]) -> None:
    assert cells(text) == pytest.approx(said)


def test_as_many_lines_as_allowed_are_read_and_one_more_is_not() -> None:
    assert MAX_ROWS == 2_000
    lines = RIGHT + "c,1.00,0.1000\n" * (MAX_ROWS - 3)
    assert cells(lines)[3] == 1.0
    assert [mark.note for mark in TABLE.marks(lines + "d,1.00,0.1000\n")] == ["2001 rows, more than 2000"] * 4
    assert [mark.note for mark in TABLE.marks("")] == ["empty"] * 4
    assert [mark.note for mark in TABLE.marks(None)] == ["missing"] * 4
    assert TABLE.marks("a,\x00".replace("\x00", '"' + "x" * 200_000))[0].note.startswith("not CSV: ")


@pytest.mark.parametrize(
    ("decimals", "cell", "right"),
    [
        # two units of the last decimal, or 0.1% of the value, whichever is more
        (2, "1.52", True), (2, "1.53", False), (1, "1.7", True), (1, "1.8", False), (4, "1.5014", True),
        (4, "1.502", False),
    ],
)  # fmt: skip
def test_how_far_a_cell_may_be_off(decimals: int, cell: str, right: bool) -> None:
    assert Column("total", "money", "", decimals).reads_as(cell, 1.5) is right


def test_a_whole_number_is_exact_and_zero_has_no_sign() -> None:
    count = Column("count", "number", "", 0)
    assert count.reads_as("3", 3) and not count.reads_as("3.001", 3) and not count.reads_as("x", 3)
    assert count.write(-0.2) == "0" and count.write(-0.6) == "-1" and COLUMNS[1].write(-0.004) == "0.00"
    assert count.well_formed("3") and not count.well_formed("3.0")
    assert COLUMNS[0].reads_as(" A ", "a") and not COLUMNS[0].reads_as("ab", "a")
    assert [COLUMNS[0].well_formed(cell) for cell in ("a", " a", "")] == [True, False, False]
    assert [COLUMNS[1].well_formed(cell) for cell in ("-1.50", "1.500", "1,500.00")] == [True, False, False]


def test_what_is_asked_for_tells_units_and_decimals() -> None:
    assert "`total` the sum (2 decimals)" in TABLE.describe()
    assert "`share` , as a decimal fraction (4 decimals)" in TABLE.describe()
    whole = Table("t.csv", (COLUMNS[0], Column("count", "number", "how many", 0)), (("a", 1),))
    assert "`item` the item; `count` how many (whole number). Numbers are plain" in whole.describe()


def submitted(**fractions: float) -> Score:
    return verdict([Mark(name, name, fractions.get(name, 1.0)) for name in DIMENSIONS])


def test_75_points_pass_and_less_do_not() -> None:
    # 25 for the figures, and 25 each for two of the three others
    assert submitted(format=0.0).value == 75.0 and submitted(format=0.0).passed
    assert submitted(format=0.0, completion=0.99).value < 75.0 and not submitted(format=0.0, completion=0.99).passed
    assert submitted(accuracy=0.5).value == 12.5 and submitted(accuracy=0.4).value == 10.0


def test_what_is_missed_is_told_four_at_a_time_and_points_in_four_decimals() -> None:
    found = verdict([Mark("accuracy", name, 2 / 3) for name in "abcde"])
    assert found.reason == "a: 67%; b: 67%; c: 67%; d: 67%"
    assert found.details["points"]["accuracy"] == 16.6667 and found.details["gate"] == 0.3333
    assert found.details["points"]["format"] == 0.0


def test_a_dimension_has_0_to_25_points() -> None:
    points = dict.fromkeys(DIMENSIONS, 25.0)
    assert total(points) == 100.0 and total(points | {"format": 0.0}) == 75.0
    for wrong in (-0.1, 25.1):
        with pytest.raises(ValueError, match="format must lie in"):
            total(points | {"format": wrong})


def test_a_reply_without_deliverables_has_nothing() -> None:
    score = nothing("no file")
    assert (score.value, score.passed, score.reason) == (0.0, False, "no file")
    assert set(score.parts.values()) == set(score.details["points"].values()) == {0.0}


def test_a_number_of_a_period_is_a_key_as_its_column_is_written() -> None:
    made = Table("t.csv", (Column("period", "key", "", 0), COLUMNS[1]), ((1, 1.5), (2, 2.5)))
    assert made.render() == "period,total\n1,1.50\n2,2.50\n"
    assert cells(made.render(), made) == (1.0, 1.0, 1.0, 1.0)


def test_a_row_of_the_truth_has_a_cell_for_every_column() -> None:
    short = Table("t.csv", COLUMNS, (("a", 1.5),))
    for call in (short.render, lambda: short.marks(RIGHT)):
        with pytest.raises(ValueError, match="shorter"):
            call()
