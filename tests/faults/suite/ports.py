"""Who listens on which TCP port of this host, and how to get the port from a process."""
import ctypes
import errno
import ipaddress
import os
import pathlib
import re
import socket
import struct
import subprocess

PIDFD_GETFD = 438  # the number of the system call, on every architecture but Alpha


LISTENS = "0A"  # a state in /proc/net/tcp
WHOLE = ("01", "08")  # the listener's process has it, or gets it with accept(): established, and closed by the other end alone
# A connection to 127.0.0.1 comes to whoever listens on one of them. Others may listen on the same port of other addresses.
OF_LOOPBACK = {ipaddress.ip_address(text) for text in ("127.0.0.1", "0.0.0.0", "::ffff:127.0.0.1", "::")}


def listeners():
    """The address, the port and the inode of each TCP socket that listens. The kernel names them before all others, of which there may
    be thousands."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(table) as file:
            next(file)
            for fields in map(str.split, file):
                if fields[3] != LISTENS:
                    break
                address, port = fields[1].split(":")
                yield _address(address), int(port, 16), fields[9]


def whole_connections():
    """The own port and the other end's port of each connection whose listener has it."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(table) as file:
            next(file)
            for fields in map(str.split, file):
                if fields[3] in WHOLE:
                    yield tuple(int(fields[end].rpartition(":")[2], 16) for end in (1, 2))


def _address(text):
    """The kernel writes each 32 bits of it as a number of this machine."""
    words = (int(text[start:start + 8], 16) for start in range(0, len(text), 8))
    return ipaddress.ip_address(b"".join(struct.pack("=I", word) for word in words))


def _inodes_at(port):
    return [inode for address, listens_on, inode in listeners() if listens_on == port and address in OF_LOOPBACK]


def listener_of(port):
    """The process that listens on this port of 127.0.0.1; None: no such process is found."""
    inodes = {f"socket:[{inode}]" for inode in _inodes_at(port)}
    for folder in pathlib.Path("/proc").glob("[0-9]*/fd"):
        try:
            files = list(folder.iterdir())
        except OSError:
            continue  # the process has ended
        for file in files:
            try:
                if os.readlink(file) in inodes:
                    return int(folder.parent.name)
            except OSError:
                continue  # it has been closed meanwhile
    return None


def inode_of(port):
    """Of the socket that listens on this port of 127.0.0.1; None: there is none."""
    return next(iter(_inodes_at(port)), None)


def ports_of(pid):
    """The TCP ports on which this process listens."""
    return set(inodes_of(pid))


def inodes_of(pid):
    """The sockets on which this process listens, by their ports."""
    inodes = set()
    for file in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            found = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(file))
        except OSError:
            continue  # closed meanwhile
        if found:
            inodes.add(found[1])
    return {port: inode for _, port, inode in listeners() if inode in inodes}


def free_port():
    """A TCP port of loopback that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def take_listener(pid, port):
    """The socket on which this process listens, also for this process. It stays open when the other one ends. Raises OSError."""
    process = os.pidfd_open(pid)
    try:
        for file in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            try:
                if not os.readlink(file).startswith("socket:"):
                    continue
                ours = socket.socket(fileno=_copy(process, int(file.name)))
            except OSError:
                continue  # closed meanwhile
            if ours.type == socket.SOCK_STREAM and ours.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                if ours.family in (socket.AF_INET, socket.AF_INET6) and ours.getsockname()[1] == port:
                    return ours
            ours.close()
    finally:
        os.close(process)
    raise OSError(errno.ENOENT, f"process {pid} does not listen on port {port}")


def _copy(process, number):
    """A file that another process has open, as an open file of this one."""
    copy = ctypes.CDLL(None, use_errno=True).syscall(PIDFD_GETFD, process, number, 0)
    if copy < 0:
        raise OSError(ctypes.get_errno(), f"pidfd_getfd: {os.strerror(ctypes.get_errno())}")
    return copy


def why_no_listener():
    """Why no socket can be taken from a process; empty: it can."""
    with subprocess.Popen(["sleep", "60"]) as child:
        try:
            process = os.pidfd_open(child.pid)
            os.close(_copy(process, 0))
            os.close(process)
            return ""
        except OSError as error:
            return f"no socket can be taken from another process: {error.strerror}"
        finally:
            child.kill()
