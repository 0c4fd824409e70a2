"""``python -m tests.faults``: inject the list of faults into real runs and compare with the run without a fault."""

from __future__ import annotations

import argparse
import signal
import sys
import time

from tests.faults.campaign import fault_free, play
from tests.faults.faults import FAULTS

EXAMPLES = """examples:
  python -m tests.faults --list
  python -m tests.faults                                  every fault, about half an hour of a quiet machine
  python -m tests.faults json-nan sigint-twice            these two
  python -m tests.faults store- --backend ray             those whose names begin so, in a private Ray

A row is as expected when the final table equals the fault-free one bit for bit where it says so, every cell has one
result, no process and no temporary file is left, standard error has no traceback and standard output is JSON alone.
A fault that cannot be injected here is told as not run and never counted as passed. Exit status: 1 when a row is not
as expected.
"""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.faults",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", metavar="NAME", nargs="*", help="beginnings of the names of faults (default: all)")
    parser.add_argument("--backend", choices=("serial", "ray"), default="serial", help="default: %(default)s")
    parser.add_argument("--list", action="store_true", help="print the faults and what is expected of each")
    asked = parser.parse_args()
    chosen = [fault for fault in FAULTS if not asked.names or fault.name.startswith(tuple(asked.names))]
    if not chosen:
        parser.error(f"no fault begins with {', '.join(asked.names)} (see --list)")
    if asked.list:
        for fault in chosen:
            print(f"{fault.name:<28} {fault.expected}")
        return 0
    # Started in the background, a program ignores these two, and so would the runs that are to be interrupted.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    started = time.monotonic()
    with fault_free(asked.backend) as calm:
        print(f"  {'fault':<26} | {'expected':<34} | seen", flush=True)
        rows = []
        for row in play(chosen, calm):
            rows.append(row)
            print(row, flush=True)
    outcomes = [row.outcome for row in rows]
    print(
        f"{outcomes.count('as expected')} of {len(rows)} as expected, {outcomes.count('NOT AS EXPECTED')} not, "
        f"{outcomes.count('not run')} not run; {asked.backend} backend, {time.monotonic() - started:.0f} s"
    )
    return 1 if "NOT AS EXPECTED" in outcomes else 0


if __name__ == "__main__":
    sys.exit(main())
