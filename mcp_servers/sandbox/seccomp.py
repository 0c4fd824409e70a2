"""A system call allow-list as a classic BPF program, installed without any library.

Four answers. *Allowed* calls run. Calls that no numerical code makes and that only serve an attack end the process
(``SIGSYS``, seen by the host as a policy violation). Two that ask for a priority are told 0 and do not run. Everything
else fails with ``EPERM``, so that a library which merely tries (``subprocess``, ``socket``) fails with a plain
``PermissionError``.

The program looks at the architecture first: ``int 0x80`` and x32 reach the same kernel under other numbers.
Source of the numbers: arch/x86/entry/syscalls/syscall_64.tbl; of the program format: Documentation/userspace-api/
seccomp_filter.rst in the Linux tree.
"""

from __future__ import annotations

import ctypes
import errno
import struct
from collections.abc import Iterable

from mcp_servers.sandbox import kernel

_LOAD, _AND = 0x20, 0x54
_JUMP_EQUAL, _JUMP_GREATER_EQUAL = 0x15, 0x35
_RETURN = 0x06
_ALLOW, _KILL_PROCESS, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER_OFFSET, _ARCH_OFFSET = 0, 4
_AUDIT_ARCH_X86_64 = 0xC000003E
_X32_BIT = 0x40000000
_SET_MODE_FILTER = 1

_ALLOWED = {
    "read": 0, "write": 1, "close": 3, "stat": 4, "fstat": 5, "lstat": 6, "poll": 7, "lseek": 8, "mmap": 9,
    "mprotect": 10, "munmap": 11, "brk": 12, "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15,
    "pread64": 17, "readv": 19, "writev": 20, "access": 21, "pipe": 22, "select": 23, "sched_yield": 24,
    "mremap": 25, "madvise": 28, "dup": 32, "dup2": 33, "pause": 34, "nanosleep": 35, "getitimer": 36, "alarm": 37,
    "setitimer": 38, "getpid": 39, "sendto": 44, "recvfrom": 45, "sendmsg": 46, "recvmsg": 47, "shutdown": 48,
    "getsockname": 51, "getpeername": 52, "getsockopt": 55, "exit": 60, "uname": 63, "getcwd": 79, "readlink": 89,
    "umask": 95, "gettimeofday": 96, "getrlimit": 97, "getrusage": 98, "sysinfo": 99, "times": 100, "getuid": 102,
    "getgid": 104, "geteuid": 107, "getegid": 108, "getppid": 110, "getpgrp": 111, "getgroups": 115,
    "getresuid": 118, "getresgid": 120, "rt_sigpending": 127, "rt_sigtimedwait": 128, "rt_sigsuspend": 130,
    "sigaltstack": 131, "gettid": 186, "time": 201, "futex": 202, "sched_getaffinity": 204, "epoll_create": 213,
    "getdents64": 217, "set_tid_address": 218, "restart_syscall": 219, "fadvise64": 221, "clock_gettime": 228,
    "clock_getres": 229, "clock_nanosleep": 230, "exit_group": 231, "epoll_wait": 232, "epoll_ctl": 233,
    "newfstatat": 262, "readlinkat": 267, "faccessat": 269, "pselect6": 270, "ppoll": 271, "set_robust_list": 273,
    "epoll_pwait": 281, "eventfd2": 290, "epoll_create1": 291, "dup3": 292, "pipe2": 293, "getcpu": 309,
    "getrandom": 318, "membarrier": 324, "statx": 332, "rseq": 334, "faccessat2": 439, "epoll_pwait2": 441,
}  # fmt: skip

_FATAL = {
    "ptrace": 101, "pivot_root": 155, "chroot": 161, "settimeofday": 164, "mount": 165, "umount2": 166,
    "reboot": 169, "init_module": 175, "delete_module": 176, "clock_settime": 227, "kexec_load": 246, "add_key": 248,
    "request_key": 249, "keyctl": 250, "unshare": 272, "perf_event_open": 298, "open_by_handle_at": 304,
    "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311, "finit_module": 313, "bpf": 321,
    "userfaultfd": 323, "pidfd_send_signal": 424, "io_uring_setup": 425, "io_uring_enter": 426,
    "io_uring_register": 427, "open_tree": 428, "move_mount": 429, "fsopen": 430, "pidfd_getfd": 438,
}  # fmt: skip

_ANSWERED_ZERO = {"sched_getparam": 143, "sched_getscheduler": 145}
"""XLA's locks ask for the priority of a thread and print an error where that is refused: they are told the default."""

_OPEN, _IOCTL, _SOCKETPAIR, _CLONE, _FCNTL, _TGKILL = 2, 16, 53, 56, 72, 234
_OPENAT, _PRLIMIT64, _CLONE3 = 257, 302, 435

# O_ACCMODE, O_CREAT, O_TRUNC, O_APPEND, O_ASYNC, O_PATH, __O_TMPFILE: Landlock before ABI 3 does not cover truncation.
_OPEN_REFUSED = 0x3 | 0x40 | 0x200 | 0x400 | 0x2000 | 0x200000 | 0x400000
_OPEN_ASYNC = 0x2000
_THREAD_FLAGS = 0x00000100 | 0x00000800 | 0x00010000  # CLONE_VM, CLONE_SIGHAND, CLONE_THREAD
# CLONE_PTRACE, CLONE_VFORK, CLONE_PARENT, CLONE_UNTRACED and every CLONE_NEW*.
_CLONE_REFUSED = 0x00002000 | 0x00004000 | 0x00008000 | 0x00800000 | 0x00020000 | 0x02000000 | 0x7C000000
_TCGETS, _FIONREAD, _FIONBIO, _FIONCLEX, _FIOCLEX = 0x5401, 0x541B, 0x5421, 0x5450, 0x5451
_F_DUPFD, _F_GETFD, _F_SETFD, _F_GETFL, _F_SETFL, _F_DUPFD_CLOEXEC = 0, 1, 2, 3, 4, 1030
_AF_UNIX, _SOCK_STREAM, _SOCK_TYPE_MASK = 1, 1, 0xF


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)


def _give(answer: int) -> bytes:
    return _instruction(_RETURN, answer)


_REFUSE = _give(_ERRNO | errno.EPERM)


def _load_argument(index: int, *, high: bool = False) -> bytes:
    return _instruction(_LOAD, 16 + 8 * index + (4 if high else 0))


def _require_bits(argument: int, *, mask: int, value: int) -> bytes:
    """Refuse unless the low word of ``argument``, masked, equals ``value``."""
    return _load_argument(argument) + _instruction(_AND, mask) + _instruction(_JUMP_EQUAL, value, if_true=1) + _REFUSE


def _require_null(argument: int) -> bytes:
    """Refuse unless all 64 bits of ``argument`` are zero."""
    return b"".join(
        _load_argument(argument, high=high) + _instruction(_JUMP_EQUAL, 0, if_true=1) + _REFUSE
        for high in (False, True)
    )


def _require_one_of(argument: int, values: Iterable[int]) -> bytes:
    """Refuse unless the low word of ``argument`` is one of ``values``."""
    listed = list(values)
    tests = [_instruction(_JUMP_EQUAL, value, if_true=len(listed) - at) for at, value in enumerate(listed)]
    return _load_argument(argument) + b"".join(tests) + _REFUSE


def _on(number: int, body: bytes) -> bytes:
    """Return ``body`` guarded by the system call number; ``body`` returns on every path."""
    return _instruction(_LOAD, _NUMBER_OFFSET) + _instruction(_JUMP_EQUAL, number, if_false=len(body) // 8) + body


def _each(numbers: Iterable[int], answer: int) -> bytes:
    return b"".join(_instruction(_JUMP_EQUAL, number, if_false=1) + _give(answer) for number in numbers)


def _set_flags_without_async() -> bytes:
    """F_SETFL may set anything but O_ASYNC, which would make the kernel send signals on our behalf."""
    check = _require_bits(2, mask=_OPEN_ASYNC, value=0)
    return (
        _require_one_of(1, (_F_DUPFD, _F_DUPFD_CLOEXEC, _F_GETFD, _F_SETFD, _F_GETFL, _F_SETFL))
        + _load_argument(1)
        + _instruction(_JUMP_EQUAL, _F_SETFL, if_false=len(check) // 8)
        + check
    )


def _argument_rules() -> bytes:
    allow = _give(_ALLOW)
    open_stream_pair = _require_bits(0, mask=0xFFFFFFFF, value=_AF_UNIX) + _require_bits(
        1, mask=_SOCK_TYPE_MASK, value=_SOCK_STREAM
    )
    new_thread = _require_bits(0, mask=_THREAD_FLAGS, value=_THREAD_FLAGS) + _require_bits(
        0, mask=_CLONE_REFUSED, value=0
    )
    read_own_limit = _require_bits(0, mask=0xFFFFFFFF, value=0) + _require_null(2)
    return b"".join(
        (
            _on(_OPEN, _require_bits(1, mask=_OPEN_REFUSED, value=0) + allow),
            _on(_OPENAT, _require_bits(2, mask=_OPEN_REFUSED, value=0) + allow),
            _on(_IOCTL, _require_one_of(1, (_TCGETS, _FIONREAD, _FIONBIO, _FIONCLEX, _FIOCLEX)) + allow),
            _on(_FCNTL, _set_flags_without_async() + allow),
            _on(_SOCKETPAIR, open_stream_pair + allow),
            _on(_CLONE, new_thread + allow),
            # ENOSYS makes the C library fall back to clone, whose flags a filter can see.
            _on(_CLONE3, _give(_ERRNO | errno.ENOSYS)),
            _on(_PRLIMIT64, read_own_limit + allow),
        )
    )


_HEAD = (
    _instruction(_LOAD, _ARCH_OFFSET)
    + _instruction(_JUMP_EQUAL, _AUDIT_ARCH_X86_64, if_true=1)
    + _give(_KILL_PROCESS)
    + _instruction(_LOAD, _NUMBER_OFFSET)
    + _instruction(_JUMP_GREATER_EQUAL, _X32_BIT, if_false=1)
    + _give(_KILL_PROCESS)
)
_TAIL = (
    _each(_ALLOWED.values(), _ALLOW)
    + _each(_FATAL.values(), _KILL_PROCESS)
    + _each(_ANSWERED_ZERO.values(), _ERRNO)
    + _argument_rules()
    + _REFUSE
)


def program(pid: int) -> bytes:
    """Return the filter for the process ``pid``, which alone it may signal (``raise`` and ``abort`` need that)."""
    signal_self = _require_bits(0, mask=0xFFFFFFFF, value=pid) + _give(_ALLOW)
    return _HEAD + _on(_TGKILL, signal_self) + _instruction(_LOAD, _NUMBER_OFFSET) + _TAIL


def install(pid: int) -> None:
    """Put the calling single-threaded process, whose id is ``pid``, behind the filter, for good.

    Raises
    ------
    OSError
        The kernel has no seccomp filters, or ``no_new_privs`` was not set before.
    """
    code = program(pid)
    buffer = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("<HxxxxxxQ", len(code) // 8, ctypes.addressof(buffer))
    kernel.syscall("seccomp", kernel.SYS_SECCOMP, _SET_MODE_FILTER, 0, header)
