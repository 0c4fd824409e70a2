"""What one call may use. One place, in base units, for the child that obeys and the host that enforces."""

from __future__ import annotations

CODE_LIMIT_BYTES = 64 * 1024
DATA_LIMIT_BYTES = 4 * 1024 * 1024
OUTPUT_LIMIT_BYTES = 64 * 1024
RESULT_LIMIT_BYTES = 1024 * 1024
RESULT_LIMIT_VALUES = 100_000
STATE_LIMIT_BYTES = 8 * 1024 * 1024
"""Of what a session leaves for its next call: values, files, definitions."""
TIMEOUT_LIMIT_S = 10.0
CPU_LIMIT_S = 5
MEMORY_LIMIT_BYTES = 512 * 1024 * 1024
OPEN_FILES_LIMIT = 64
THREADS_LIMIT = 64
SHARED_THREADS_LIMIT = 512
"""Of all calls of a server together, where the kernel does not count each by itself."""

CALLS_PER_ZYGOTE = 500
CALLS_PER_TASK = 2
SESSIONS_PER_TASK = 4
SESSIONS_ROOM_BYTES = 256 * 1024 * 1024
"""Of all sessions of a server together."""
