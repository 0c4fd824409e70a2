"""The system call filter, run by an interpreter of classic BPF written here from the kernel's description.

Source of the instruction set: Documentation/networking/filter.rst and linux/bpf_common.h in the Linux tree.
"""

from __future__ import annotations

import errno
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_servers.sandbox import seccomp

PID = 4242
X86_64, I386, X32_BIT = 0xC000003E, 0x40000003, 0x40000000
ALLOW, KILL = "allow", "kill"
PROGRAM = list(struct.iter_unpack("<HBBI", seccomp.program(PID)))


def decide(number: int, arguments: tuple[int, ...] = (), arch: int = X86_64) -> str | int:
    """Return ``allow``, ``kill`` or the error number that the filter answers with."""
    words = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("<IIQ6Q", number, arch, 0, *(word % 2**64 for word in words))
    accumulator, at = 0, 0
    while True:
        code, if_true, if_false, value = PROGRAM[at]
        at += 1
        if code == 0x20:
            (accumulator,) = struct.unpack_from("<I", data, value)
        elif code == 0x54:
            accumulator &= value
        elif code == 0x15:
            at += if_true if accumulator == value else if_false
        elif code == 0x35:
            at += if_true if accumulator >= value else if_false
        else:
            assert code == 0x06, hex(code)
            return {0x7FFF0000: ALLOW, 0x80000000: KILL}.get(value) or value & 0xFFFF


@given(number=st.integers(0, X32_BIT - 1))
def test_no_other_number_than_the_listed_ones_is_ever_allowed(number: int) -> None:
    listed = {*seccomp._ALLOWED.values(), 2, 16, 53, 56, 72, 234, 257, 302}
    if number in seccomp._ANSWERED_ZERO.values():
        assert decide(number) == 0, "answered without being run"
    elif number not in listed:
        assert decide(number) in (errno.EPERM, errno.ENOSYS, KILL)


@given(number=st.integers(0, 2**32 - 1), arch=st.integers(0, 2**32 - 1).filter(lambda arch: arch != X86_64))
def test_every_call_of_another_architecture_ends_the_process(number: int, arch: int) -> None:
    assert decide(number, arch=arch) == KILL
    assert decide(number, arch=I386) == KILL


@given(number=st.integers(X32_BIT, 2**32 - 1))
def test_every_x32_call_ends_the_process(number: int) -> None:
    assert decide(number) == KILL


@pytest.mark.parametrize("number", seccomp._ALLOWED.values())
def test_listed_calls_are_allowed_whatever_their_arguments(number: int) -> None:
    assert decide(number, (2**64 - 1,) * 6) == ALLOW


@pytest.mark.parametrize("number", seccomp._FATAL.values())
def test_calls_that_serve_attacks_only_end_the_process(number: int) -> None:
    assert decide(number) == KILL


def test_no_number_is_in_two_lists() -> None:
    special = [2, 16, 53, 56, 72, 234, 257, 302, 435]
    numbers = [*seccomp._ALLOWED.values(), *seccomp._FATAL.values(), *special]
    assert len(numbers) == len(set(numbers))


@given(flags=st.integers(0, 2**32 - 1))
def test_files_are_opened_for_reading_only(flags: int) -> None:
    writes = flags & (0x3 | 0x40 | 0x200 | 0x400 | 0x2000 | 0x200000 | 0x400000)
    expected = errno.EPERM if writes else ALLOW
    assert decide(2, (0, flags)) == expected
    assert decide(257, (2**64 - 100, 0, flags)) == expected


@given(flags=st.integers(0, 2**64 - 1))
def test_clone_makes_threads_only(flags: int) -> None:
    thread = 0x100 | 0x800 | 0x10000
    answer = decide(56, (flags,))
    if flags & thread != thread or flags & 0x7E020000:
        assert answer == errno.EPERM


def test_the_flags_of_a_posix_thread_are_let_through_and_clone3_sends_the_library_there() -> None:
    assert decide(56, (0x3D0F00,)) == ALLOW
    assert decide(435) == errno.ENOSYS


@pytest.mark.parametrize("flag", [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000])
def test_a_thread_cannot_take_a_namespace_along(flag: int) -> None:
    assert decide(56, (0x3D0F00 | flag,)) == errno.EPERM


def test_only_the_own_process_can_be_signalled() -> None:
    assert decide(234, (PID, PID, 6)) == ALLOW
    assert decide(234, (PID + 1, PID + 1, 9)) == errno.EPERM
    assert decide(62, (PID, 9)) == errno.EPERM


@pytest.mark.parametrize("command", [5, 6, 7, 8, 9, 10, 11, 15, 16, 1024, 1031, 1033])
def test_fcntl_neither_locks_nor_owns_nor_resizes(command: int) -> None:
    assert decide(72, (3, command, 0)) == errno.EPERM


def test_fcntl_sets_flags_but_never_asynchronous_input() -> None:
    assert decide(72, (3, 4, 0x800)) == ALLOW
    assert decide(72, (3, 4, 0x2000)) == errno.EPERM
    assert decide(72, (3, 1030, 0x2000)) == ALLOW


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [((1, 1), ALLOW), ((1, 1 | 0x80800), ALLOW), ((1, 2), errno.EPERM), ((1, 5), errno.EPERM), ((2, 1), errno.EPERM)],
)
def test_socket_pairs_are_unix_streams(arguments: tuple[int, ...], answer: str | int) -> None:
    assert decide(53, arguments) == answer


def test_limits_of_the_own_process_are_read_and_never_set() -> None:
    assert decide(302, (0, 7, 0, 1)) == ALLOW
    assert decide(302, (0, 7, 1, 0)) == errno.EPERM
    assert decide(302, (0, 7, 1 << 32, 0)) == errno.EPERM
    assert decide(302, (PID, 7, 0, 1)) == errno.EPERM


@pytest.mark.parametrize(("request_code", "answer"), [(0x5401, ALLOW), (0x5412, errno.EPERM), (0x5452, errno.EPERM)])
def test_ioctl_asks_for_a_terminal_but_never_types_into_one(request_code: int, answer: str | int) -> None:
    assert decide(16, (0, request_code)) == answer
