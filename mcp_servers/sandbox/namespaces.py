"""The outer layer without bubblewrap: new namespaces whose root holds the readable paths and nothing else.

An ordinary user gets them through a user namespace. Root needs none, and so can also serve an interpreter under a
home folder that nobody else may enter: the new root has its own, open folders above each bound path.
"""

from __future__ import annotations

import errno
import os

from mcp_servers.sandbox import kernel, lockdown
from mcp_servers.sandbox.readable import Readable

_NEW_MOUNT, _NEW_CGROUP, _NEW_UTS, _NEW_IPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
_NEW_PID, _NEW_NETWORK = 0x20000000, 0x40000000
_ALL_BUT_USER = _NEW_MOUNT | _NEW_CGROUP | _NEW_UTS | _NEW_IPC | _NEW_PID | _NEW_NETWORK

_READ_ONLY, _NO_SUID, _NO_DEV, _NO_EXEC = 1, 2, 4, 8
_REMOUNT, _NO_ATIME, _NO_DIR_ATIME, _BIND, _REC, _PRIVATE = 0x20, 0x400, 0x800, 0x1000, 0x4000, 0x40000
_REL_ATIME = 0x200000
_STAGE, OLD_ROOT = "/tmp", "/.old"
_SIZE = "size=1m,mode=0755"


def _unshare(readable: Readable) -> None:
    if os.geteuid() == 0:
        try:
            kernel.unshare(_ALL_BUT_USER)
            return
        except OSError as error:
            # Root of a container without CAP_SYS_ADMIN: go on as an ordinary user does.
            if error.errno != errno.EPERM:
                raise
            lockdown.leave_root()
            readable.require_access()
    uid, gid = os.getuid(), os.getgid()
    # The kernel gives the map files of an undumpable process to root.
    kernel.prctl("PR_SET_DUMPABLE", kernel.PR_SET_DUMPABLE, 1)
    kernel.unshare(_ALL_BUT_USER | kernel.CLONE_NEWUSER)
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{lockdown.NOBODY} {uid} 1"),
        ("gid_map", f"{lockdown.NOBODY} {gid} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="utf-8") as file:
            file.write(text)


def _kept_flags(path: str) -> int:
    """Return the mount flags of ``path`` that a user namespace may not take away when it mounts again."""
    present = os.statvfs(path).f_flag
    pairs = (
        (os.ST_NOSUID, _NO_SUID),
        (os.ST_NODEV, _NO_DEV),
        (os.ST_NOEXEC, _NO_EXEC),
        (os.ST_NOATIME, _NO_ATIME),
        (os.ST_NODIRATIME, _NO_DIR_ATIME),
        (os.ST_RELATIME, _REL_ATIME),
    )
    return sum(mount_flag for state_flag, mount_flag in pairs if present & state_flag)


def _bind(path: str, *, forbid: int = _NO_DEV) -> None:
    source = OLD_ROOT + path
    if os.path.isdir(source):
        os.makedirs(path, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if not os.path.exists(path):
            os.close(os.open(path, os.O_CREAT | os.O_RDONLY, 0o444))
    kernel.mount(source, path, None, _BIND | _REC)
    kernel.mount("none", path, None, _REMOUNT | _BIND | _READ_ONLY | _NO_SUID | forbid | _kept_flags(path))


def _furnish(readable: Readable) -> None:
    """Bind the readable paths, outer ones first so that a hidden folder covers and a package inside it shows."""
    for link, target in readable.links:
        os.makedirs(os.path.dirname(link), exist_ok=True)
        os.symlink(target, link)
    hidden = set(readable.hidden) - set(readable.trees)
    for path in sorted(hidden | set(readable.trees), key=lambda path: path.count(os.sep)):
        if path in hidden:
            kernel.mount("tmpfs", path, "tmpfs", _NO_SUID | _NO_DEV, _SIZE)
        else:
            _bind(path)
    for path in readable.devices:
        _bind(path, forbid=_NO_EXEC)


def _seal(readable: Readable) -> None:
    """Make the new root, and what covers hidden folders, read-only."""
    for path in ("/", *sorted(set(readable.hidden) - set(readable.trees))):
        kernel.mount("none", path, None, _REMOUNT | _BIND | _READ_ONLY | _NO_SUID | _NO_DEV | _kept_flags(path))


def enter(readable: Readable) -> None:
    """Leave the machine's namespaces; the next child of this process is the first of the new process namespace.

    Raises
    ------
    OSError
        The kernel or a policy of the machine forbids it.
    """
    _unshare(readable)
    os.umask(0o022)
    kernel.mount("none", "/", None, _REC | _PRIVATE)
    kernel.mount("tmpfs", _STAGE, "tmpfs", _NO_SUID | _NO_DEV, _SIZE)
    os.mkdir(_STAGE + OLD_ROOT, 0o700)
    # What is below the stage folder stays visible under the old root: the stage moves away with the pivot.
    kernel.syscall("pivot_root", kernel.SYS_PIVOT_ROOT, os.fsencode(_STAGE), os.fsencode(_STAGE + OLD_ROOT))
    os.chdir("/")
    _furnish(readable)
    kernel.unmount_lazily(OLD_ROOT)
    os.rmdir(OLD_ROOT)
    _seal(readable)
