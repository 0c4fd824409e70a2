"""Own items: solved again from their text by other code, and worth nothing to who looks at words or remembers."""

from __future__ import annotations

import collections
import itertools
import random
import re
import statistics
import time

import pytest

from evaluators.answers.expected import ExpectedNumber
from evaluators.bizfinbench import events, tracing
from evaluators.bizfinbench.dataset import DATASET, GENERATORS
from evaluators.bizfinbench.events import Event
from evaluators.bizfinbench.texts import TEXTS, USUAL
from evaluators.contract import DIFFICULTIES, Case

AMOUNT = r"([\d,.]+\d|\d) (million|thousand)"


def drawn(count: int, seed: int = 5, **options: object) -> list[Case]:
    return list(DATASET.draw(seed=seed, count=count, options=options))


def value(case: Case, reply: str) -> float:
    session = case.open()
    session.reply(reply)
    return session.score().value


def millions(size: str, unit: str) -> float:
    return float(size.replace(",", "")) / (1 if unit == "million" else 1000)


def first(pattern: str, text: str) -> re.Match[str]:
    """Return where a text first says ``pattern``, which it does."""
    match = re.search(pattern, text)
    assert match is not None, (pattern, text)
    return match


def lines(text: str) -> dict[int, str]:
    return {int(number): line for number, line in re.findall(r"(?m)^(\d+)\. (.+)$", text)}


def order_from_text(text: str) -> list[int]:
    """Try every permutation: only one agrees with the amounts told."""
    told = lines(text)
    start = millions(*first(rf"beginning it was {AMOUNT}", text).groups())
    rows = {}
    raising = "|".join(
        re.escape(part)
        for process in events.PROCESSES
        for action in process.raising["en"]
        for part in [max(re.split(r"\{\w+\}", action), key=len)]
    )
    for number, line in told.items():
        amounts = [millions(*pair) for pair in re.findall(AMOUNT, line)]
        sign = 1 if re.search(raising, line) else -1
        rows[number] = (sign * amounts[0], amounts[1] if len(amounts) > 1 else None)
    agreeing = []
    for order in itertools.permutations(rows):
        amount = start
        for number in order:
            amount += rows[number][0]
            if rows[number][1] is not None and abs(amount - rows[number][1]) > 1e-6:
                break
        else:
            agreeing.append(list(order))
    (only,) = agreeing
    return only


def test_every_order_is_the_only_one_that_agrees_with_the_amounts() -> None:
    for case in drawn(60, task_types=["event_logic_reasoning"]):
        order = order_from_text(case.task.question)
        assert value(case, f"Final answer: {','.join(map(str, order))}") == 100.0
        assert order != sorted(order)


def test_an_order_that_is_not_the_only_one_is_found_out() -> None:
    assert events.orders(100, [Event(10, None), Event(-5, None)]) == [(0, 1), (1, 0)]
    assert events.orders(100, [Event(10, 105), Event(-5, 95)]) == [(1, 0)]


def test_statements_that_make_the_change_are_found_again_from_the_text() -> None:
    shapes = {"name": "[A-Z][A-Za-z ]+", "year": "[0-9]{4}", "amount": "[0-9.,]+ [a-z]+"}
    patterns = {
        re.sub(r"\\\{(\w+)\\\}", lambda m: f"(?P<{m[1]}>{shapes[m[1]]})", re.escape(line.text["en"])): line
        for line in tracing.LINES
    }
    ranks = [words["en"] for words in tracing.MEASURES.values()]
    tried = []
    for case in drawn(150, task_types=["anomaly_information_tracing"]):
        text = case.task.question
        about = first(
            rf"({'|'.join(ranks)}) of ([A-Z][\w ]+?) went from ([\d.]+) million in \d+ to ([\d.]+) million in (\d+)",
            text,
        )
        measure_name, company, before, after, year = about.groups()
        change = float(after) - float(before)
        effects, meant = {}, set()
        for number, line in lines(text).items():
            ((told, found),) = [
                (row, match) for pattern, row in patterns.items() if (match := re.fullmatch(pattern, line))
            ]
            effects[number] = told.sign * millions(*first(AMOUNT, line).groups())
            if (found["name"], found["year"]) == (company, year) and told.first <= ranks.index(measure_name):
                meant.add(number)
        makes = [
            set(row)
            for size in range(1, len(effects) + 1)
            for row in itertools.combinations(effects, size)
            if abs(sum(effects[number] for number in row) - change) < 1e-6
        ]
        assert meant in makes
        assert value(case, f"Final answer: {sorted(meant)}") == 100.0
        tried.append(value(case, f"Final answer: {sorted(makes[0])}"))
        assert len(makes) >= tracing.LEAST_CHOICES
    # who knows the direction of every sentence and tries all choices finds many that make the change
    assert statistics.mean(tried) <= 10.0


def figures(text: str) -> dict[tuple[str, str, int], float]:
    """Return company, item, year -> millions, out of any form of table."""
    found = {}
    names = "|".join(
        ("Aldermoor", "Brightwater", "Corvane", "Delphane", "Estermont", "Fenwick Works", "Galloway", "Harrowgate")
    )
    columns = [*dict.fromkeys(re.findall(r"([A-Z][a-z ]+) (\d{4}) \((million|thousand)\)", text))]
    scale = 1000 if columns[0][2] == "thousand" else 1
    table = re.split(r"(?m)^(?:\d+\. |- [A-Z].* = )", text)
    rows: dict[str, list[float]] = collections.defaultdict(list)
    for block in table if "(million)" in text or "(thousand)" in text else []:
        for line in re.split(r"\n|(?<=\d)\. (?=For )", block):
            match = re.match(rf"(?:\| |- |For )?({names})\b", line)
            if match and not re.search("Correction|restated|had been", line):
                numbers = re.findall(r"(?:\(\w+\)(?: was)?|[|;]|  )\s*(\d[\d.]*\d)", line)
                if len(numbers) == len(columns):
                    rows[match[1]] = [float(number) / scale for number in numbers]
    for company, row in rows.items():
        for (item, year, _), number in zip(columns, row, strict=True):
            found[company, item.strip().lower(), int(year)] = number
    assert len(found) == 3 * len(columns), text
    return found


def holds(sentence: str, data: dict[tuple[str, str, int], float]) -> bool:
    """Return whether the figures bear a sentence out."""
    year = int(first(r"\b(20\d\d)\b", sentence)[1])
    companies = sorted({company for company, _, _ in data}, key=sentence.find)
    named = [company for company in companies if company in sentence]
    if match := re.match(r"(.+) of .+ (grew|shrank) by ([\d.]+)%", sentence):
        change = data[named[0], match[1].lower(), year] / data[named[0], match[1].lower(), year - 1] - 1
        return f"{100 * abs(change):.1f}" == match[3] and (change > 0) == (match[2] == "grew")
    if match := re.match(r"(.+) of .+ was ([\d.]+)% of its revenue", sentence):
        return f"{100 * data[named[0], match[1].lower(), year] / data[named[0], 'revenue', year]:.1f}" == match[2]
    if match := re.search(r"had the largest (.+) in", sentence):
        return max(companies, key=lambda company: data[company, match[1], year]) == named[0]
    if match := re.search(r"they showed (.+) of ([\d.]+) billion", sentence):
        return f"{sum(data[company, match[1], year] for company in companies) / 1000:.3f}" == match[2]
    if match := re.search(r"(up|down) by ([\d.]+) percentage points", sentence):
        now, then = (data[named[0], "operating profit", y] / data[named[0], "revenue", y] for y in (year, year - 1))
        return f"{100 * abs(now - then):.1f}" == match[2] and (now > then) == (match[1] == "up")
    match = re.search(r"had ([\d.]+) times the (.+) of", sentence)
    assert match, sentence
    return f"{data[named[0], match[2], year] / data[named[1], match[2], year]:.2f}" == match[1]


def test_wrong_sentences_are_found_again_from_the_table() -> None:
    for case in drawn(60, task_types=["financial_data_description"]):
        text = case.task.question
        data = figures(text)
        if note := re.search(
            r"(?m)^([A-Z][\w ]+?) of ([A-Z][\w ]+?) for (\d+) was restated afterwards, to ([\d.]+) million", text
        ):
            data[note[2], note[1].lower(), int(note[3])] = float(note[4])
        wrong = [number for number, sentence in lines(text).items() if not holds(sentence, data)]
        assert value(case, f"Final answer: {wrong}") == 100.0, (text, wrong, case.open().oracle())


def numbers(pattern: str, text: str) -> list[float]:
    match = re.search(pattern, text)
    return [float(part) for part in match.groups()] if match else []


def what_if(text: str) -> float:
    """Solve a counterfactual from its English text."""
    if "dollars a unit" in text:
        rise, price, lost, units = numbers(r"by (\d+)% to (\d+) dollars .*? sold (\d+)% .*?, (\d+) thousand", text)
        cost, fixed = numbers(r"cost (\d+) dollars to make, fixed costs were (\d+)", text)
        rebate = (numbers(r"rebate of (\d+)%", text) or [0.0])[0]
        bonus = numbers(r"above (\d+) thousand dollars, a bonus of (\d+)", text)

        def result(volume: float, each: float) -> float:
            profit = volume * each * (1 - rebate / 100) - volume * cost - fixed
            return profit - bonus[1] if bonus and profit > bonus[0] else profit

        return result(units * 100 / (100 - lost), price * 100 / (100 + rise)) / result(units, price) - 1
    if "crowns" in text:
        home, sales = numbers(r"for (\d+) million dollars at home and for (\d+) million", text)
        costs, old, new = numbers(
            r"dollars were (\d+) million. A hundred crowns bought (\d+) .*?, and (\d+) dollars", text
        )
        hedged = (numbers(r"crowns (\d+)% had been sold forward", text) or [0.0])[0] / 100
        abroad = (numbers(r"costs of (\d+) million crowns", text) or [0.0])[0]

        def earned(rate: float) -> float:
            crowns = sales * hedged * old + sales * (1 - hedged) * rate - abroad * rate
            return home - costs + crowns / 100

        return earned(old) / earned(new) - 1
    earnings, debt = numbers(r"earned (\d+) million .*? owed (\d+) million", text)
    rate, rise = numbers(r"loans, ([\d.]+)% at first, was raised by ([\d.]+) percentage", text)
    tax = numbers(r"Tax is (\d+)%", text)[0] / 100
    fixed = (numbers(r"rate on (\d+)% of the debt", text) or [0.0])[0] / 100
    cap = (numbers(r"Of interest, ([\d.]+) million can", text) or [1e9])[0]

    def net(floating: float) -> float:
        interest = debt * (fixed * rate + (1 - fixed) * floating) / 100
        return earnings - interest - tax * (earnings - min(interest, cap))

    return net(rate) / net(rate + rise) - 1


def test_counterfactuals_are_solved_again_from_the_text() -> None:
    for case in drawn(90, task_types=["counterfactual_inference"]):
        assert value(case, f"Final answer: {100 * what_if(case.task.question):.6f}%") == 100.0, case.task.question


def measure(kind: str, data: dict[tuple[str, str, int], float], company: str, last: int, first: int) -> float:
    """Return a measure of a company's accounts by its own definition."""

    def of(item: str, year: int = last) -> float:
        return data[company, item, year]

    return {
        "cash-flow-growth": lambda: (
            (of("net operating cash flow") / of("net operating cash flow", first)) ** (1 / (last - first)) - 1
        ),
        "gross-margin": lambda: (of("revenue") - of("operating cost")) / of("revenue"),
        "quick-ratio": lambda: (of("total current assets") - of("inventory")) / of("total current liabilities"),
        "equity-multiplier": lambda: of("total assets") / (of("total assets") - of("total liabilities")),
        "inventory-days": lambda: 182.5 * (of("inventory") + of("inventory", last - 1)) / of("operating cost"),
        "interest-cover": lambda: of("operating profit") / of("interest expense"),
        "return-on-assets": lambda: 2 * of("net profit") / (of("total assets") + of("total assets", last - 1)),
        "cash-ratio": lambda: of("net operating cash flow") / of("total current liabilities"),
    }[kind]()


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_every_computation_is_solved_again_from_the_text(difficulty: str) -> None:
    for case in drawn(48, task_types=["financial_quantitative_computation"], difficulties=[difficulty]):
        text = case.task.question
        data = figures(text)
        if note := re.search(r"Correction: (.+) of (.+) in (\d+) was (\d+) thousand", text):
            data[note[2], note[1].lower(), int(note[3])] = float(note[4]) / 1000
        years = sorted({year for _, _, year in data})
        known = dict(data)
        for item, name, year, change, unit, way in re.findall(
            r"that the (.+?) of ([A-Z][\w ]+?) in (\d+) had been ([\d.]+)(%| million) (higher|lower)", text
        ):
            key, sign = (name, item, int(year)), 1 if way == "higher" else -1
            data[key] = (
                data[key] * (1 + sign * float(change) / 100) if unit == "%" else data[key] + sign * float(change)
            )
        kind = case.task.family.split("/")[-1]
        gold = measure(kind, data, name, years[-1], years[0])
        if other := re.search(r"same measure of ([A-Z][\w ]+?), as reported", text):
            gold -= measure(kind, known, other[1], years[-1], years[0])
        details = case.open()
        details.reply(case.open().oracle())
        assert details.score().details["expected_value"] == pytest.approx(gold, rel=1e-6), text


@pytest.mark.parametrize("language", ["en", "cn"])
def test_an_assumption_keeps_nothing_unchanged_that_another_one_changes(language: str) -> None:
    for case in drawn(150, task_types=["financial_quantitative_computation"], languages=[language]):
        text = case.task.question
        assert "with total assets unchanged" not in text and "在资产总计不变" not in text


def test_a_distance_between_two_percentages_is_asked_for_in_points() -> None:
    options = {"task_types": ["financial_quantitative_computation"], "difficulties": ["expert"]}
    for case in drawn(60, **options):
        percentage = "Final answer: <percentage>" in case.open().opening()["question"]
        assert ("many percentage points that exceeds" in case.task.question) == percentage


def test_what_was_of_the_year_before_alone_is_no_statement_about_the_company_asked_about() -> None:
    """Spoilt goods, rebates and a currency gain that did not come again would move the profit after all."""
    once = re.compile(r"wrote spoilt goods|granted rebates|a currency gain")
    seen = 0
    for case in drawn(200, task_types=["anomaly_information_tracing"]):
        name, last = first(r"of ([A-Z][\w ]+?) went from .*? in (\d{4}) to", case.task.question).groups()
        told = [line for line in lines(case.task.question).values() if once.search(line)]
        seen += len(told)
        assert not [line for line in told if name in line and last in line], case.task.question
    assert seen > 100


def stem(word: str) -> str:
    return re.sub(r"(?:ation|ement|ment|ing|ions?|ed|es|s)$", "", word)


def words_of(line: str) -> set[str]:
    return {stem(word) for word in re.findall(r"[a-z]+|\d+", line.lower())}


def test_an_order_by_overlap_of_words_or_by_size_earns_at_most_five_points() -> None:
    """Chains in which neighbours share the most words, from every start, or in the order of an amount."""
    scripts: dict[str, list[float]] = collections.defaultdict(list)
    for case in drawn(200, task_types=["event_logic_reasoning"]):
        told = lines(case.task.question)
        words = {number: words_of(line) for number, line in told.items()}
        best = max(
            itertools.permutations(told),
            key=lambda row: sum(len(words[one] & words[two]) for one, two in itertools.pairwise(row)),
        )
        greedy = [max(told, key=lambda number: len(words[number] & words_of(case.task.question.split("Events")[0])))]
        while len(greedy) < len(told):
            rest = [number for number in told if number not in greedy]
            greedy.append(max(rest, key=lambda number: len(words[number] & words[greedy[-1]])))
        amounts = {n: [millions(*pair) for pair in re.findall(AMOUNT, line)] for n, line in told.items()}
        orders = {"overlap": list(best), "greedy": greedy}
        for place, name in ((0, "change"), (-1, "after")):
            orders[f"rising {name}"] = sorted(told, key=lambda number: amounts[number][place])
            orders[f"falling {name}"] = orders[f"rising {name}"][::-1]
        for name, order in orders.items():
            scripts[name].append(value(case, f"Final answer: {','.join(map(str, order))}"))
    assert {name: mean for name, rows in scripts.items() if (mean := statistics.mean(rows)) > 5.0} == {}


@pytest.mark.parametrize("task_type", GENERATORS)
def test_a_table_of_two_hundred_seeds_earns_at_most_five_points_on_new_ones(task_type: str) -> None:
    """The answer of the known item with the most words alike, and for sets the one that was right most often."""
    known = [
        (words_of(case.task.question), case.open().oracle())
        for seed in range(200)
        for case in drawn(2, seed=seed, task_types=[task_type])
    ]
    usual = collections.Counter(answer for _, answer in known).most_common(1)[0][0]
    nearest, constant = [], []
    for case in drawn(100, seed=1000, task_types=[task_type]):
        words = words_of(case.task.question)
        nearest.append(value(case, max(known, key=lambda row: len(words & row[0]) / len(words | row[0]))[1]))
        constant.append(value(case, usual))
    assert statistics.mean(nearest) <= 5.0 and statistics.mean(constant) <= 5.0


def test_a_lexicon_of_statements_earns_at_most_five_points() -> None:
    """Who learnt which sentences, without their names and numbers, were right most of the time."""

    def bare(line: str) -> str:
        return re.sub(r"[A-Z]\w+(?: Works)?(?:'s)?|[\d,.]+", "#", line)

    for task_type in ("anomaly_information_tracing", "financial_data_description"):
        seen: dict[str, list[bool]] = collections.defaultdict(list)
        for case in drawn(400, seed=7, task_types=[task_type]):
            right = {int(number) for number in re.findall(r"\d+", case.open().oracle())}
            for number, line in lines(case.task.question).items():
                seen[bare(line)].append(number in right)
        scores = []
        for case in drawn(150, seed=8, task_types=[task_type]):
            guess = [
                n for n, line in lines(case.task.question).items() if statistics.mean(seen[bare(line)] or [0]) > 0.5
            ]
            scores.append(value(case, f"Final answer: {guess}"))
        assert statistics.mean(scores) <= 5.0, task_type


def test_levels_texts_and_kinds_take_turns_and_held_back_texts_come_by_their_option_alone() -> None:
    for family in DATASET.families():
        assert family.difficulties == DIFFICULTIES and family.wordings == USUAL == 5 and family.held_back == 2
    tasks = [case.task for case in drawn(75)]
    assert {task.difficulty for task in tasks} == set(DIFFICULTIES)
    assert {task.wording for task in tasks} == {f"usual {n}" for n in range(1, 6)}
    assert {case.task.wording for case in drawn(20, wordings="held_back")} == {"held-back 1", "held-back 2"}
    assert {case.task.difficulty for case in drawn(9, difficulties=["expert"])} == {"expert"}
    for rows in TEXTS.values():
        for texts in rows.values():
            assert len(set(texts)) == 7
            assert len({frozenset(re.findall(r"\{(\w+)\}", text)) for text in texts}) == 1


@pytest.mark.parametrize("options", [{"difficulties": ["easy"]}, {"wordings": "held_back"}])
def test_levels_and_texts_are_not_of_files(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="leave both out beside path"):
        drawn(1, path="/nowhere", **options)


def test_texts_do_not_come_twice_and_a_thousand_are_drawn_in_a_moment() -> None:
    texts = [case.task.question for seed in range(20) for case in drawn(50, seed=seed, languages=["en", "cn"])]
    assert len(set(texts)) == len(texts)
    began = time.process_time()
    drawn(1000, seed=77)
    # 0.5 s are measured; the bound allows for a machine four times as slow
    assert time.process_time() - began < 4.0


def test_every_number_has_another_of_its_kind_to_be_checked_by() -> None:
    for case in drawn(30, task_types=["counterfactual_inference", "financial_quantitative_computation"]):
        assert case.dispute is not None
        check = case.dispute.check(random.Random(1))
        assert isinstance(check.expected, ExpectedNumber) and check.question != case.task.question


def test_no_set_is_one_number_or_all() -> None:
    for task_type in ("anomaly_information_tracing", "financial_data_description"):
        for case in drawn(90, task_types=[task_type]):
            assert 2 <= len(re.findall(r"\d+", case.open().oracle())) <= len(lines(case.task.question)) - 2
