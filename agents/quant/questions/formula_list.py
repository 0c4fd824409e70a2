"""Answer questions that bring their own formulas and a table: choose the formula, put the figures in, compute."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from mcp_toolbox import Toolbox

from questions.company import written
from reading.calculator import evaluate_all
from reading.message import final_answer

_ARITHMETIC = re.compile(r"[\d.\s+\-*/^()]+")


@dataclass(frozen=True)
class Table:
    """Figures by row, item and year; names in lower case."""

    figures: dict[tuple[str, str, int], float]

    @property
    def rows(self) -> set[str]:
        """Names of the rows."""
        return {row for row, _, _ in self.figures}

    @property
    def items(self) -> list[str]:
        """Names of the items, the longest first, so that a longer name is never read as a shorter one."""
        return sorted({item for _, item, _ in self.figures}, key=len, reverse=True)


def read_formulas(text: str) -> dict[str, str]:
    """Return the formulas of a bulleted list by name, in lower case."""
    found = re.findall(r"^[-*]\s*([^=\n]+?)\s*=\s*(.+)$", text, re.MULTILINE)
    return {name.lower(): formula.lower() for name, formula in found}


def read_table(text: str) -> Table:
    """Return a Markdown table whose columns are headed ``Item YEAR (unit)``."""
    lines = [line.strip().strip("|").split("|") for line in text.splitlines() if line.strip().startswith("|")]
    figures: dict[tuple[str, str, int], float] = {}
    if len(lines) < 3:
        return Table(figures)
    columns = [re.match(r"\s*(.+?)\s+(\d{4})\b", cell) for cell in lines[0]]
    for cells in lines[2:]:
        for column, cell in zip(columns, cells, strict=False):
            if column is not None and re.fullmatch(r"\s*-?[\d,]*\.?\d+\s*", cell):
                key = (cells[0].strip().lower(), column.group(1).lower(), int(column.group(2)))
                figures[key] = float(cell.replace(",", ""))
    return Table(figures)


def read_question(text: str) -> str:
    """Return the line that asks: the last one that ends with a question mark, or holds one."""
    asking = [line for line in text.splitlines() if "?" in line and not line.startswith("|")]
    return asking[-1] if asking else text


def suppose(question: str, row: str, table: Table) -> Table:
    """Return the table with the change that the question supposes: ``the X of R in 2024 had been 9% lower``."""
    match = re.search(r"(\d{4}) had been (\d+(?:\.\d+)?)% (higher|lower)", question)
    item = next((name for name in table.items if match and name in question[: match.start()]), None)
    if match is None or item is None:
        return table
    share = float(match.group(2)) / 100.0 * (1.0 if match.group(3) == "higher" else -1.0)
    key = (row, item, int(match.group(1)))
    return Table(table.figures | ({key: table.figures[key] * (1.0 + share)} if key in table.figures else {}))


def fill_in(formula: str, question: str, row: str, table: Table) -> str | None:
    """Return the formula with figures in the place of its words; None when a word is left."""
    years = [int(year) for year in re.findall(r"\b(\d{4})\b", question)]
    if not years:
        return None
    first, last = min(years), max(years)
    asked = question.split(",", 1)[-1]
    subject = next((item for item in table.items if item in asked), next(iter(table.items), ""))
    formula = formula.replace("number of years", str(last - first))
    formula = formula.replace("terminal value", f"{subject} at {last}").replace("base value", f"{subject} at {first}")
    for item in table.items:

        def figure(year: int, item: str = item) -> str:
            return f"({table.figures.get((row, item, year), 'missing')})"

        formula = formula.replace(f"mean of opening and closing {item}", f"(({figure(last - 1)} + {figure(last)}) / 2)")
        formula = re.sub(rf"{re.escape(item)} at (\d{{4}})", lambda match: figure(int(match.group(1))), formula)
        formula = formula.replace(item, figure(last))
    formula = re.sub(r"\bof the year\b", "", formula)
    formula = re.sub(r"(?<=[\d)])\s*x\s*(?=[\d(])", " * ", formula)
    return formula if _ARITHMETIC.fullmatch(formula) else None


async def answer(body: dict[str, Any], toolbox: Toolbox) -> str | None:
    """Return the reply to a question with a formula list and a table; None when it is none."""
    text = str(body.get("question", "")).split("\n\nEnd your reply")[0]
    formulas, table = read_formulas(text), read_table(text)
    question = read_question(text).lower()
    row = next((name for name in table.rows if name in question), None)
    name = max((name for name in formulas if name in question), key=len, default=None)
    if row is None or name is None:
        return None
    expression = fill_in(formulas[name], question, row, suppose(question, row, table))
    if expression is None:
        return None
    result = (await evaluate_all({"answer": expression}, {}, toolbox)).get("answer")
    if result is None:
        return None
    return final_answer(written(result, str(body.get("answer_format", ""))), f"{name} = {expression}")
