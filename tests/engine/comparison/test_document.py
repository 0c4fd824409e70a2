"""Sentences and tables in a terminal and in a browser."""

from engine.comparison import document
from engine.comparison.document import Document, Table
from engine.report import charts

TABLE = Table("Scores", ("agent", "p", "score"), [["null", "n/a", "+1.0"], ["<b>9</b>", "< 0.001", "-20.5"]])


def test_numbers_stand_right_and_words_left():
    assert document.as_text(Document("", ["One."], "", "", [TABLE])) == (
        "One.\n\nScores\n  agent           p  score\n  null          n/a   +1.0\n  <b>9</b>  < 0.001  -20.5"
    )


def test_the_name_of_an_agent_in_a_picture_is_no_formula():
    assert "<svg" in charts.intervals([(r"$\frac$", 50.0, (40.0, 60.0))])


def test_every_word_of_a_page_is_escaped():
    page = document.as_html(Document("<i>", ["<script>"], "<svg/>", "a & b", [TABLE]))
    assert "&lt;b&gt;9&lt;/b&gt;" in page and "&lt;script&gt;" in page and "&lt;i&gt;" in page and "a &amp; b" in page
    assert "<script>" not in page and "<figure><svg/></figure>" in page
