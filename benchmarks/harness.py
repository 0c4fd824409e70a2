"""Times contestants against each other: A B A B rounds in one process, medians, ratios, a table, a JSON record.

Only the ratio of two numbers of one run means something on a shared machine. Each contestant prepares its own inputs
once and is then called with no arguments; the call must return only when the work is done.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import platform
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("results")


@dataclass(frozen=True)
class Result:
    """Times of one contestant.

    Attributes
    ----------
    name
        Who.
    seconds
        Wall-clock time, one per round.
    processor_seconds
        Time of all threads on the processor, one per round: it hardly changes when others use the machine.
    work
        Number of units done in one call.
    facts
        Anything else worth a column, for example the error.
    """

    name: str
    seconds: tuple[float, ...]
    processor_seconds: tuple[float, ...]
    work: float
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def nanoseconds(self) -> float:
        """Median time per unit of work."""
        return statistics.median(self.seconds) / self.work * 1e9

    @property
    def processor_nanoseconds(self) -> float:
        """Median time of all threads together per unit of work."""
        return statistics.median(self.processor_seconds) / self.work * 1e9

    @property
    def best_nanoseconds(self) -> float:
        """Shortest time per unit of work."""
        return min(self.seconds) / self.work * 1e9


def alternate(
    contestants: Mapping[str, Callable[[], object]],
    *,
    work: float,
    rounds: int = 9,
    facts: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[Result]:
    """Call every contestant once a round, in turn, after one call each to warm up."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    processor: dict[str, list[float]] = {name: [] for name in contestants}
    for call in contestants.values():
        call()
    for _ in range(rounds):
        for name, call in contestants.items():
            start, busy = time.perf_counter(), time.process_time()
            answer = call()
            seconds[name].append(time.perf_counter() - start)
            processor[name].append(time.process_time() - busy)
            if isinstance(answer, dict):
                processor[name][-1] += answer.get("processor_seconds", 0.0)
            # Results that live on would make every call pay for fresh memory.
            del answer
    known = facts or {}
    return [
        Result(name, tuple(times), tuple(processor[name]), work, known.get(name, {})) for name, times in seconds.items()
    ]


def ratio(results: Sequence[Result], slower: str, faster: str) -> float:
    """How many times faster: the median over rounds of the ratio within the round."""
    by_name = {result.name: result for result in results}
    pairs = zip(by_name[slower].seconds, by_name[faster].seconds, strict=True)
    return statistics.median(a / b for a, b in pairs)


def best_ratio(results: Sequence[Result], slower: str, faster: str) -> float:
    """How many times faster by the shortest times, which a busy machine disturbs least."""
    by_name = {result.name: result for result in results}
    return min(by_name[slower].seconds) / min(by_name[faster].seconds)


def table(results: Sequence[Result], *, reference: str) -> str:
    """Text table: time per unit, best time, and speed of ``reference`` relative to each."""
    columns = sorted({key for result in results for key in result.facts})
    width = max(len(result.name) for result in results)
    head = f"{'':{width}}  median ns  best ns  all-thread ns  {reference} faster, by medians  by best times"
    lines = [head + "".join(f"  {column:>12}" for column in columns)]
    for result in results:
        by_median, by_best = ratio(results, result.name, reference), best_ratio(results, result.name, reference)
        facts = "".join(f"  {_short(result.facts.get(column, '')):>12}" for column in columns)
        speeds = f"{by_median:{len(reference) + 20}.2f}x  {by_best:12.2f}x"
        times = f"{result.nanoseconds:9.1f}  {result.best_nanoseconds:7.1f}  {result.processor_nanoseconds:13.1f}"
        lines.append(f"{result.name:{width}}  {times}  {speeds}{facts}")
    return "\n".join(lines)


def _short(value: object) -> str:
    return f"{value:.2e}" if isinstance(value, float) else str(value)


def record(name: str, results: Sequence[Result], *, goals: Mapping[str, Any], notes: Mapping[str, Any]) -> Path:
    """Write the run to ``benchmarks/results/<name>.json``."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    content = {
        "benchmark": name,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "notes": dict(notes),
        "goals": dict(goals),
        "results": [
            {
                "name": result.name,
                "nanoseconds_median": result.nanoseconds,
                "nanoseconds_best": result.best_nanoseconds,
                "processor_nanoseconds_median": result.processor_nanoseconds,
                "rounds": len(result.seconds),
                **result.facts,
            }
            for result in results
        ],
    }
    path.write_text(json.dumps(content, indent=2) + "\n")
    return path


def machine() -> dict[str, Any]:
    """Describe what the run was made on."""
    import jax

    info = Path("/proc/cpuinfo")
    models = [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
    return {
        "processor": models[0] if models else platform.processor(),
        "cores": os.cpu_count(),
        "load_average": os.getloadavg()[0],
        "python": platform.python_version(),
        "jax": jax.__version__,
        "device": jax.devices()[0].device_kind,
    }


def goal(text: str, *, reached: float, wanted: float, at_most: bool = False) -> dict[str, Any]:
    """Print one goal and whether it was met, and return the line for the record."""
    met = reached <= wanted if at_most else reached >= wanted
    sign = "<=" if at_most else ">="
    print(f"{'met   ' if met else 'MISSED'}  {text}: {reached:.3g} (goal {sign} {wanted:g})")
    return {"reached": reached, "goal": f"{sign} {wanted:g}", "met": met}


def compile_c(source: str, *, flags: Sequence[str]) -> ctypes.CDLL | None:
    """Compile and load a C floor with the system compiler; None, with a line, where there is none."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        print("no C compiler: the C floor is left out")
        return None
    folder = Path(tempfile.mkdtemp(prefix="benchmark-c-"))
    (folder / "floor.c").write_text(source)
    command = [compiler, *flags, "-shared", "-fPIC", str(folder / "floor.c"), "-o", str(folder / "floor.so"), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"the C floor does not compile here and is left out: {done.stderr.strip().splitlines()[-1]}")
        return None
    return ctypes.CDLL(str(folder / "floor.so"))


class Peers:
    """Other people's libraries, in this interpreter or in another one that has them.

    A peer is a function in ``benchmarks/peers.py`` that takes a dict of numpy arrays and returns a call. In another
    interpreter the call is timed there, and the time is what this object's calls take apart from a pipe message.
    """

    def __init__(self, python: str | None) -> None:
        self._process: subprocess.Popen[str] | None = None
        if python:
            self._process = subprocess.Popen(
                [python, str(Path(__file__).with_name("peers.py"))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                bufsize=1,
            )

    def calls(self, names: Sequence[str], inputs: Mapping[str, Any]) -> dict[str, Callable[[], object]]:
        """Ready calls of the peers that are importable; a line for each that is not."""
        found: dict[str, Callable[[], object]] = {}
        for name in names:
            call = self._remote(name, inputs) if self._process else self._local(name, inputs)
            if isinstance(call, str):
                print(f"peer {name} is left out: {call}")
            else:
                found[name] = call
        return found

    def _local(self, name: str, inputs: Mapping[str, Any]) -> Callable[[], object] | str:
        import peers

        try:
            call: Callable[[], object] = getattr(peers, name)(dict(inputs))
        except ImportError as error:
            return str(error)
        return call

    def _remote(self, name: str, inputs: Mapping[str, Any]) -> Callable[[], object] | str:
        import numpy as np

        with tempfile.NamedTemporaryFile(suffix=".npz", delete=False) as file:
            np.savez(file, **inputs)
        answer = self._ask({"prepare": name, "inputs": file.name})
        os.unlink(file.name)
        if "error" in answer:
            return str(answer["error"])
        return lambda: self._ask({"run": name})

    def result(self, call: Callable[[], object]) -> Any:
        """Array that a peer's call computed."""
        import numpy as np

        if not self._process:
            return call()
        call()
        answer = self._ask({"result": True})
        value = np.load(answer["path"])
        os.unlink(answer["path"])
        return value

    def _ask(self, message: Mapping[str, Any]) -> dict[str, Any]:
        assert self._process and self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(message) + "\n")
        reply: dict[str, Any] = json.loads(self._process.stdout.readline())
        return reply

    def close(self) -> None:
        """End the other interpreter."""
        if self._process and self._process.stdin:
            self._process.stdin.close()
            self._process.wait(timeout=10)


def arguments(description: str) -> argparse.Namespace:
    """Command line that every benchmark shares."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rounds", type=int, default=9, help="alternating rounds (default 9)")
    parser.add_argument("--size", type=int, default=1 << 20, help="units of work in one call (default 1048576)")
    parser.add_argument("--peers-python", help="interpreter that has the peer libraries, when this one has not")
    return parser.parse_args()
