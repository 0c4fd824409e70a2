"""``python -m evaluators.documents.child SUFFIX CHARACTERS``: a document on standard input, its text on standard out.

A process of its own, with little memory, little time, no environment and nothing to write to: parsers of office formats
are large, and whoever writes the document may know their faults.
"""

from __future__ import annotations

import resource
import sys
import warnings

from evaluators.documents.container import MAX_BYTES, Refused
from evaluators.documents.formats import READERS

MEMORY = 2_000_000_000
CPU_S = 30
REFUSED = 3


def main(suffix: str, characters: int) -> int:
    """Write the text, cut after so many characters; 3 and one line on standard error where it is refused."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    content = sys.stdin.buffer.read(MAX_BYTES + 1)
    left = characters
    try:
        for line in READERS[suffix](content):
            shown = line[:left]
            sys.stdout.buffer.write(shown.encode("utf-8", "replace") + b"\n")
            left -= len(shown) + 1
            if left <= 0:
                sys.stdout.buffer.write(f"(cut after {characters:,} characters)\n".encode())
                break
        sys.stdout.buffer.flush()
    except Refused as error:
        print(error, file=sys.stderr)
        return REFUSED
    except (Exception, MemoryError, RecursionError) as error:
        print(f"it cannot be read: {type(error).__name__}: {' '.join(str(error).split())[:120]}", file=sys.stderr)
        return REFUSED
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
