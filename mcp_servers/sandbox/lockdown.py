"""What a child gives up before it touches a user's byte, in the order in which it must be given up."""

from __future__ import annotations

import _thread
import ctypes
import errno
import fcntl
import mmap
import os
import resource
import signal
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

from mcp_servers.sandbox import kernel, landlock, limits, seccomp

NOBODY = 65534
PRIVATE_USERS = range(0x70000000, 0x7FFE0000)
"""User ids that no system gives out (systemd's list of ranges)."""

# One for a nursery and all that it forks: a signal on the death of a parent needs the user id of the child.
_OWN_USER = PRIVATE_USERS[int.from_bytes(os.urandom(8)) % len(PRIVATE_USERS)]
RESULT_FD = 10
RULESET_FD = 11
_SAFE_FD = 100
_CAPABILITY_VERSION_3 = 0x20080522
_LAST_POSSIBLE_CAPABILITY = 63


class NotLocked(RuntimeError):
    """A protection that the tier promises is not in force."""


ThreadCount: TypeAlias = Literal["by call", "by user", "with strangers"]
"""What the kernel counts together when it limits threads: this call's; those of the server's calls, which have a user
id of their own; those of processes that are not ours, so that no limit makes sense."""


@dataclass(frozen=True)
class Confinement:
    """What the zygote prepared once and each child puts on.

    Attributes
    ----------
    ruleset
        Landlock ruleset descriptor of the zygote; None where the tier does without.
    address_space_bytes
        Limit of the child's address space: what the zygote already maps plus the call's allowance.
    threads
        How the child's threads are counted, and so how many it may have.
    """

    ruleset: int | None
    address_space_bytes: int
    threads: ThreadCount


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when ``parent`` ends; leave at once if it already has."""
    kernel.prctl("PR_SET_PDEATHSIG", kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def _capabilities() -> tuple[int, ...]:
    held = ctypes.create_string_buffer(24)
    kernel.syscall("capget", kernel.SYS_CAPGET, struct.pack("<Ii", _CAPABILITY_VERSION_3, 0), held)
    return struct.unpack("<6I", held.raw)


def leave_root() -> None:
    """Change root's user and group to one that nobody else has, or to nobody where this machine maps no other.

    The kernel counts threads by user, so a user that others share could be starved by them.
    """
    try:
        os.setgroups([])
        try:
            os.setresgid(_OWN_USER, _OWN_USER, _OWN_USER)
            os.setresuid(_OWN_USER, _OWN_USER, _OWN_USER)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
    except PermissionError as error:
        raise PermissionError(
            "root without CAP_SETUID and CAP_SETGID cannot give up root; start the server as an ordinary user"
        ) from error


def _has_a_thread_to_itself() -> bool:
    """Return whether a process that may have two tasks can start a thread, in a user namespace of its own."""
    kernel.unshare(kernel.CLONE_NEWUSER)
    resource.setrlimit(resource.RLIMIT_NPROC, (2, 2))
    try:
        _thread.start_new_thread(int, ())
    except RuntimeError:
        return False
    return True


def counts_by_call() -> bool:
    """Return whether the kernel counts the threads of a user namespace by themselves (Linux 5.14 does), by trying.

    This process must have given up root; its being there is what makes the count of its user too high.
    """
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if _has_a_thread_to_itself() else 1)
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def drop_privileges() -> None:
    """Leave root, and give up every capability, also the ones that only a user namespace gave."""
    for capability in range(_LAST_POSSIBLE_CAPABILITY + 1):
        try:
            kernel.prctl("PR_CAPBSET_DROP", kernel.PR_CAPBSET_DROP, capability)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.EPERM):
                raise
    if os.geteuid() == 0:
        leave_root()
    kernel.prctl("PR_CAP_AMBIENT", kernel.PR_CAP_AMBIENT, kernel.PR_CAP_AMBIENT_CLEAR_ALL)
    kernel.syscall("capset", kernel.SYS_CAPSET, struct.pack("<Ii", _CAPABILITY_VERSION_3, 0), bytes(24))
    if 0 in os.getresuid() or any(_capabilities()):
        raise NotLocked("user id 0 or a capability is still held")
    kernel.prctl("PR_SET_NO_NEW_PRIVS", kernel.PR_SET_NO_NEW_PRIVS, 1)
    kernel.prctl("PR_SET_DUMPABLE", kernel.PR_SET_DUMPABLE, 0)


def mapped_bytes() -> int:
    """Return the size of this process's address space to within a page, without needing ``/proc``."""
    old = resource.getrlimit(resource.RLIMIT_AS)
    low, high = 0, 1 << 46
    while high - low > mmap.PAGESIZE:
        middle = (low + high) // 2
        resource.setrlimit(resource.RLIMIT_AS, (middle, old[1]))
        try:
            mmap.mmap(-1, mmap.PAGESIZE).close()
            high = middle
        except OSError:
            low = middle
    resource.setrlimit(resource.RLIMIT_AS, old)
    return high


def keep_only(wanted: Mapping[int, int]) -> None:
    """Make ``wanted`` (new number to present number) the only open descriptors."""
    # Moved out of the way first: a received descriptor may itself have one of the new numbers.
    moved = {target: fcntl.fcntl(source, fcntl.F_DUPFD, _SAFE_FD) for target, source in wanted.items()}
    for target, source in moved.items():
        os.dup2(source, target)
    gaps = [-1, *sorted(wanted), resource.getrlimit(resource.RLIMIT_NOFILE)[1]]
    for before, after in pairwise(gaps):
        # closerange takes an empty range that starts at 0 for all descriptors.
        if after > before + 1:
            os.closerange(before + 1, after)


def _most_threads(counted: ThreadCount) -> int | None:
    """Return the limit; where threads are counted by call, enter the namespace in which they are."""
    if counted == "with strangers":
        return None
    if counted == "by user":
        return limits.SHARED_THREADS_LIMIT
    kernel.unshare(kernel.CLONE_NEWUSER)
    return limits.THREADS_LIMIT


def _limit_resources(confinement: Confinement) -> None:
    space = confinement.address_space_bytes
    hard = {
        resource.RLIMIT_AS: space,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NOFILE: limits.OPEN_FILES_LIMIT,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
    }
    if (most := _most_threads(confinement.threads)) is not None:
        hard[resource.RLIMIT_NPROC] = most
    for kind, value in hard.items():
        resource.setrlimit(kind, (value, value))
    # Code can ignore SIGXCPU of the soft limit but not SIGKILL of the hard one.
    resource.setrlimit(resource.RLIMIT_CPU, (limits.CPU_LIMIT_S, limits.CPU_LIMIT_S + 1))


def lock(confinement: Confinement, parent: int) -> None:
    """Give up everything; after this the process computes, reads libraries and answers, and can do nothing else.

    A Landlock ruleset must be open as :data:`RULESET_FD`; it is closed here.

    Raises
    ------
    OSError, NotLocked
        A protection could not be put on. The caller must not run user code then.
    """
    _limit_resources(confinement)
    drop_privileges()
    # A change of user id would have cleared it, so it comes after.
    die_with_parent(parent)
    if confinement.ruleset is not None:
        landlock.restrict(RULESET_FD)
        os.close(RULESET_FD)
    seccomp.install(os.getpid())
