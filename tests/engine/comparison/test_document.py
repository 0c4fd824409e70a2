"""Sentences and tables in a terminal and in a browser."""

from engine.comparison import document
from engine.comparison.document import Document, Table

TABLE = Table("Scores", ("agent", "p", "score"), [["null", "n/a", "+1.0"], ["<b>9</b>", "< 0.001", "-20.5"]])


def test_numbers_stand_right_and_words_left():
    assert document.as_text(Document("", ["One."], "", "", [TABLE])) == (
        "One.\n\nScores\n  agent           p  score\n  null          n/a   +1.0\n  <b>9</b>  < 0.001  -20.5"
    )


def test_every_word_of_a_page_is_escaped():
    page = document.as_html(Document("<i>", ["<script>"], "<svg/>", "a & b", [TABLE]))
    assert "&lt;b&gt;9&lt;/b&gt;" in page and "&lt;script&gt;" in page and "&lt;i&gt;" in page and "a &amp; b" in page
    assert "<script>" not in page and "<figure><svg/></figure>" in page
