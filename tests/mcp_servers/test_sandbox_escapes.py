"""Attempts to get out of the sandbox, in every tier that works here, and each one in a control without protection.

In the control the attempt must succeed: one that cannot succeed anywhere would prove nothing.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mcp_servers.sandbox import readable, tiers
from mcp_servers.sandbox.outcome import Outcome
from mcp_servers.sandbox.pool import Pool
from mcp_servers.sandbox.protection import Tier

PRELUDE = """
import ctypes, errno, mmap, os, resource, signal, socket, struct, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long

def call(number, *arguments):
    ctypes.set_errno(0)
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    value = libc.syscall(ctypes.c_long(number), *words)
    if value < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return value

def reach(number, *arguments):
    # An error about the arguments shows that the kernel looked at them.
    try:
        return call(number, *arguments)
    except OSError as error:
        if error.errno in (errno.EPERM, errno.ENOSYS, errno.EACCES):
            raise

def child(pid):
    if pid == 0:
        os._exit(0)
"""

READS = {
    "passwd": "assert 'root' in open('/etc/passwd').read()",
    "canary": "assert open(data['canary']).read() == 'canary'",
    "canary through proc": "assert open('/proc/self/root' + data['canary']).read() == 'canary'",
    "canary through cwd": "os.chdir(os.path.dirname(data['canary']))\nassert open('canary.txt').read() == 'canary'",
    "canary by relative path": "assert open('../' * 40 + data['canary'].lstrip('/')).read() == 'canary'",
    "canary by openat2": "how = ctypes.create_string_buffer(24)\ncall(437, -100, data['canary'].encode(), how, 24)",
    "canary through a symbolic link": "assert open(data['link']).read() == 'canary'",
    "canary mapped": "mmap.mmap(os.open(data['canary'], os.O_RDONLY), 0, prot=mmap.PROT_READ)",
    "own environment": "assert 'CANARY' in os.environ",
    "environment in proc": "assert b'CANARY' in open('/proc/self/environ', 'rb').read()",
    "environment of another process": "assert b'CANARY' in open(f'/proc/{data[\"victim\"]}/environ', 'rb').read()",
    "memory of another process": "open(f'/proc/{data[\"victim\"]}/mem', 'rb')",
    "process list": "assert any(name.isdigit() for name in os.listdir('/proc'))",
    "root folder": "assert 'proc' in os.listdir('/')",
    "the benchmark's answers": "open(data['answers'])",
    "another package": "open(data['package'])",
    "a device": "open('/dev/zero', 'rb').read(1)",
    "kernel settings": "open('/proc/sys/kernel/hostname').read()",
    "sysfs": "os.listdir('/sys')",
}

WRITES = {
    "new file": "open(data['folder'] + '/new', 'w').write('x')",
    "overwriting": "open(data['canary'], 'w').write('x')",
    "appending": "open(data['canary'], 'a').write('x')",
    "truncating": "os.truncate(data['canary'], 0)",
    "removing": "os.unlink(data['canary'])",
    "renaming": "os.rename(data['canary'], data['canary'] + '.old')",
    "new folder": "os.mkdir(data['folder'] + '/new')",
    "new link": "os.link(data['canary'], data['folder'] + '/hard')",
    "new symbolic link": "os.symlink('/', data['folder'] + '/soft')",
    "changing rights": "os.chmod(data['canary'], 0o777)",
    "shared memory file": "open('/dev/shm/' + data['name'], 'w').write('x')\nos.unlink('/dev/shm/' + data['name'])",
    "the random device": "os.write(os.open('/dev/urandom', os.O_WRONLY), b'x')",
    "nameless file": "os.open(data['folder'], os.O_TMPFILE | os.O_RDWR)",
}

NETWORK = {
    "tcp": "socket.create_connection(('127.0.0.1', data['tcp']), 1)",
    "tcp by a raw call": "fd = call(41, socket.AF_INET, socket.SOCK_STREAM, 0)\n"
    "call(42, fd, struct.pack('<HH', 2, socket.htons(data['tcp'])) + bytes([127, 0, 0, 1]) + bytes(8), 16)",
    "udp": "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', data['udp']))",
    "unix": "s = socket.socket(socket.AF_UNIX)\ns.connect(data['unix'])",
    "abstract unix": "s = socket.socket(socket.AF_UNIX)\ns.connect('\\0' + data['abstract'])",
    "datagram pair to an abstract name": "a, b = socket.socketpair(type=socket.SOCK_DGRAM)\n"
    "try: a.sendto(b'x', '\\0nobody' + data['name'])\nexcept ConnectionRefusedError: pass",
    "netlink": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)",
    "ip version 6": "socket.socket(socket.AF_INET6)",
    "listening": "s = socket.socket()\ns.bind(('127.0.0.1', 0))\ns.listen()",
}
NETWORK_AS_ROOT = {
    "raw packets": "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
    "raw ip": "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)",
}

PROCESSES = {
    "fork": "child(os.fork())",
    "fork by a raw call": "child(call(57))",
    "clone without thread": "child(call(56, signal.SIGCHLD, 0, 0, 0, 0))",
    "clone into a user namespace": "child(call(56, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0))",
    "clone3": "child(call(435, struct.pack('<8Q', 0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0), 64))",
    "daemon": "pid = os.fork()\nif pid == 0:\n    os.setsid()\n    os._exit(0)\nos.waitpid(pid, 0)",
    "spawn": "os.posix_spawn('/bin/true', ['true'], {})",
    "exec": "os.execv(sys.executable, ['python', '-c', 'print(\"escaped\")'])",
    "exec from memory": "fd = os.memfd_create('x', 0)\nos.write(fd, open('/bin/echo', 'rb').read())\n"
    "os.execve(fd, ['echo', 'escaped'], {})",
    "kill": "os.kill(data['victim'], signal.SIGKILL)",
    "kill the parent": "os.kill(os.getppid(), 0)",
    "kill everything": "os.kill(-1, 0)",
    "thread kill": "call(234, data['victim'], data['victim'], signal.SIGKILL)",
    "queued signal": "call(129, data['victim'], 9, struct.pack('<iii', 9, 0, -1) + bytes(116))",
    "process descriptor": "signal.pidfd_send_signal(os.pidfd_open(data['victim']), signal.SIGKILL)",
    "signal through F_SETOWN": "import fcntl\na, b = socket.socketpair()\n"
    "fcntl.fcntl(a, fcntl.F_SETOWN, data['victim'])\n"
    "fcntl.fcntl(a, 10, signal.SIGKILL)\nfcntl.fcntl(a, fcntl.F_SETFL, os.O_ASYNC)\nb.send(b'x')",
    "signal through FIOASYNC": "import fcntl\na, b = socket.socketpair()\n"
    "fcntl.ioctl(a, 0x8901, struct.pack('<i', data['victim']))\nfcntl.ioctl(a, 0x5452, struct.pack('<i', 1))",
    "memory by process_vm_readv": "reach(310, data['victim'], 0, 0, 0, 0, 0)",
    "limits of another process": "resource.prlimit(data['victim'], resource.RLIMIT_NOFILE, (16, 16))",
    "priority of another process": "os.setpriority(os.PRIO_PROCESS, data['victim'], 19)",
    "processor of another process": "os.sched_setaffinity(data['victim'], os.sched_getaffinity(0))",
    "new session": "os.setpgid(0, 0)",
    "new user namespace": "call(272, 0x10000000)",
}
PROCESSES_AS_ROOT = {
    "trace": "call(101, 0x4206, data['victim'], 0, 0)",
    "become root": "os.setresuid(0, 0, 0)",
    "change groups": "os.setgroups([0])",
    "capabilities": "call(126, struct.pack('<Ii', 0x20080522, 0), struct.pack('<6I', 1, 1, 0, 0, 0, 0))",
    "join a namespace": "call(308, os.open('/proc/self/ns/uts', os.O_RDONLY), 0)",
    "mount": "call(272, 0x20000)\ncall(165, b'none', data['folder'].encode(), b'tmpfs', 0, 0)",
    "new root": "os.chroot(data['folder'])",
    "host name": "socket.sethostname(socket.gethostname())",
}

KERNEL = {
    "io_uring": "reach(425, 1, ctypes.create_string_buffer(120))",
    "perf": "reach(298, 0, 0, -1, -1, 0)",
    "keyctl": "reach(250, 0, -3, 0)",
    "add_key": "reach(248, b'user', b'x', b'x', 1, -1)",
    "int 0x80": "code = mmap.mmap(-1, 4096, prot=7)\ncode.write(bytes.fromhex('b814000000cd80c3'))\n"
    "where = ctypes.addressof(ctypes.c_char.from_buffer(code))\n"
    "assert ctypes.CFUNCTYPE(ctypes.c_int)(where)() > 0",
    "x32": "try: call(0x40000000 | 39)\nexcept OSError as error: assert error.errno == errno.ENOSYS",
    "another filter": "reach(317, 1, 0, 0)",
    "another filter by prctl": "assert libc.prctl(22, 2, 0, 0, 0) == -1 and ctypes.get_errno() == errno.EFAULT",
    "dumpable again": "assert libc.prctl(4, 1, 0, 0, 0) == 0",
    "survive the parent": "assert libc.prctl(1, 0, 0, 0, 0) == 0",
    "personality": "reach(135, 0xffffffff)",
    "raising a limit": "resource.setrlimit(resource.RLIMIT_NOFILE, resource.getrlimit(resource.RLIMIT_NOFILE))",
    "file handles": "reach(303, -100, b'/', bytes(128), ctypes.create_string_buffer(8), 0)",
    "clock": "reach(227, 0, 0)",
}
KERNEL_AS_ROOT = {
    "reboot": "reach(169, 0, 0, 0, 0)",
    "bpf": "reach(321, 9999, 0, 0)",
    "userfaultfd": "reach(323, 0)",
    "locked clock": "reach(227, 0, struct.pack('<qq', -1, -1))",
}

RESOURCES = {
    "memory": "x = bytearray(2**30)",
    "memory mapped": "m = mmap.mmap(-1, 2**30)",
    "memory in a file of memory": "os.memfd_create('x')",
    "shared memory segment": "i = call(29, 0, 4096, 0o600)\ncall(31, i, 0, 0)",
    "message queue": "call(240, data['name'].encode(), 0o102, 0o600, 0)\ncall(241, data['name'].encode())",
    "large pipe": "import fcntl\nr, w = os.pipe()\nfcntl.fcntl(w, fcntl.F_SETPIPE_SZ, 2**20)",
    "locked memory": "call(149, ctypes.create_string_buffer(4096), 4096)",
    "many threads": "stop = threading.Event()\n"
    "ts = [threading.Thread(target=stop.wait, daemon=True) for _ in range(1000)]\n"
    "try:\n    [t.start() for t in ts]\nfinally:\n    stop.set()",
    "many descriptors": "fds = [os.dup(1) for _ in range(200)]",
    "endless loop": "signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nend = time.monotonic() + data['patience']\n"
    "while time.monotonic() < end: pass",
    "ignored signals and sleep": "for n in range(1, 32):\n    try: signal.signal(n, signal.SIG_IGN)\n"
    "    except OSError: pass\ntime.sleep(data['patience'])",
    "closed pipes and sleep": "keep = [os.dup(n) for n in (1, 2)]\nos.close(1)\nos.close(2)\n"
    "time.sleep(data['patience'])\n[os.dup2(k, n) for k, n in zip(keep, (1, 2))]",
    "endless output": "out = 'x' * 4096\nfor _ in range(256): sys.stderr.write(out)",
}

CHANNEL = {
    "descriptors": "known = {0, 1, 2, 10}\nfound = set()\n"
    "for n in range(256):\n    try: os.fstat(n)\n    except OSError: continue\n"
    "    found.add(n)\nassert found - known",
    "standard input": "assert os.read(0, 1)",
}

WORKING_TIERS = [tier for tier in tiers.CANDIDATES if tiers.check(tier, readable.find()).works]
FAMILIES: dict[str, dict[str, str]] = {
    "reads": READS,
    "writes": WRITES,
    "network": NETWORK,
    "network as root": NETWORK_AS_ROOT,
    "processes": PROCESSES,
    "processes as root": PROCESSES_AS_ROOT,
    "kernel": KERNEL,
    "kernel as root": KERNEL_AS_ROOT,
    "resources": RESOURCES,
    "channel": CHANNEL,
}
ATTEMPTS = [
    pytest.param(family, code, id=f"{family}: {name}")
    for family, rows in FAMILIES.items()
    for name, code in rows.items()
]


@dataclass
class Surroundings:
    """Everything outside that an attempt may touch, and the evidence whether it did."""

    data: dict[str, Any]
    victim: subprocess.Popen[bytes]
    sockets: list[socket.socket]
    folder: Path

    def untouched(self) -> bool:
        """Return whether nothing was written, nobody connected and the victim lives."""
        files = sorted(path.name for path in self.folder.iterdir())
        return (
            files == ["canary.txt", "link", "unix"]
            and (self.folder / "canary.txt").read_text() == "canary"
            and (self.folder / "canary.txt").stat().st_mode & 0o777 == 0o644
            and self.victim.poll() is None
            and not any(_has_visitor(listener) for listener in self.sockets)
        )


def _has_visitor(listener: socket.socket) -> bool:
    readable_now, _, _ = select.select([listener], [], [], 0)
    return bool(readable_now)


def _listening(kind: int, family: int, address: Any) -> socket.socket:
    listener = socket.socket(family, kind)
    listener.bind(address)
    if kind == socket.SOCK_STREAM:
        listener.listen()
    return listener


@pytest.fixture
def surroundings() -> Iterator[Surroundings]:
    # The path of a unix socket has 108 bytes at most, which the folders of pytest exceed.
    folder = Path(tempfile.mkdtemp(prefix="traderbench-"))
    folder.chmod(0o755)
    canary = folder / "canary.txt"
    canary.write_text("canary")
    canary.chmod(0o644)
    (folder / "link").symlink_to(canary)
    name = folder.name
    sockets = [
        _listening(socket.SOCK_STREAM, socket.AF_INET, ("127.0.0.1", 0)),
        _listening(socket.SOCK_DGRAM, socket.AF_INET, ("127.0.0.1", 0)),
        _listening(socket.SOCK_STREAM, socket.AF_UNIX, str(folder / "unix")),
        _listening(socket.SOCK_STREAM, socket.AF_UNIX, f"\0{name}"),
    ]
    victim = subprocess.Popen(["sleep", "60"], env={"CANARY": "1", "PATH": os.environ["PATH"]})
    packages = Path(pytest.__file__).parent
    data = {
        "canary": str(canary),
        "link": str(folder / "link"),
        "folder": str(folder),
        "answers": str(Path(tiers.__file__).resolve().parents[2] / "evaluators" / "contract.py"),
        "package": str(packages / "__init__.py"),
        "tcp": sockets[0].getsockname()[1],
        "udp": sockets[1].getsockname()[1],
        "unix": str(folder / "unix"),
        "abstract": name,
        "name": name,
        "victim": victim.pid,
        "patience": 0.6,
    }
    try:
        yield Surroundings(data, victim, sockets, folder)
    finally:
        victim.kill()
        victim.wait()
        for listener in sockets:
            listener.close()
        shutil.rmtree(folder)


@pytest.fixture(scope="module", params=WORKING_TIERS, ids=lambda tier: tier.name)
def pool(request: pytest.FixtureRequest) -> Iterator[Pool]:
    tier: Tier = request.param
    with Pool(tier, size=1, modules=("threading",)) as started:
        yield started


def _escaped(outcome: Outcome) -> bool:
    return "escaped" in (outcome.result, outcome.stdout.strip())


@pytest.mark.parametrize(("family", "code"), ATTEMPTS)
def test_no_attempt_gets_out(pool: Pool, surroundings: Surroundings, family: str, code: str) -> None:
    outcome = pool.execute(f"{PRELUDE}\n{code}\nresult = 'escaped'", data=surroundings.data, timeout_s=0.5)
    assert not _escaped(outcome), outcome
    assert outcome.error_class not in (None, "sandbox_fault"), outcome
    assert surroundings.untouched()


def _forbidden_by_machine(family: str, code: str, complaint: str, status: int) -> bool:
    """Return whether a container or the kernel's settings stopped an attempt on the kernel; plain ones must succeed."""
    if family == "network":
        return "Errno 97" in complaint  # no such address family
    if family.split()[0] != "kernel" and not family.endswith("as root") and "0x10000000" not in code:
        return False
    return complaint.startswith("PermissionError") or "Errno 38" in complaint or status == -signal.SIGSEGV


@pytest.mark.parametrize(("family", "code"), ATTEMPTS)
def test_every_attempt_succeeds_without_protection(surroundings: Surroundings, family: str, code: str) -> None:
    if family.endswith("as root") and os.geteuid() != 0:
        pytest.skip("only root can do this, with or without a sandbox")
    data = {**surroundings.data, "patience": 0.01}
    program = f"import json\ndata = json.loads({json.dumps(data)!r})\n{PRELUDE}\n{code}\nprint('escaped')"
    ran = subprocess.run(
        [sys.executable, "-S", "-c", program],
        input=b"input",
        capture_output=True,
        env={"CANARY": "1", "PATH": os.environ["PATH"]},
        pass_fds=[surroundings.sockets[0].fileno()],
        timeout=20,
    )
    complaint = ran.stderr.decode().strip().rpartition("\n")[2]
    if ran.stdout.strip() != b"escaped" and _forbidden_by_machine(family, code, complaint, ran.returncode):
        pytest.skip(f"this machine forbids it to everybody: {complaint or ran.returncode}")
    assert ran.stdout.strip() == b"escaped", ran.stderr[-600:].decode()
