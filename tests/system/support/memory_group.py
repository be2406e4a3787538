"""Memory cgroups: processes with less memory than the machine has."""

import contextlib
import os
import pathlib
import subprocess
import time


class MemoryGroup:
    """A cgroup with a limit, of version 1 or 2; gone when it is left."""

    def __init__(self, limit_bytes):
        self.limit = int(limit_bytes)
        self.folder, self.version = _place()

    def __enter__(self):
        self.folder = self.folder / f"graphmill-{os.getpid()}-{time.time_ns()}"
        self.folder.mkdir()
        name = ("memory.limit_in_bytes" if self.version == 1 else "memory.max")
        (self.folder / name).write_text(str(self.limit))
        return self

    def __exit__(self, *_):
        for _ in range(100):  # Its last process may still be on its way out.
            try:
                self.folder.rmdir()
                return
            except OSError:
                time.sleep(0.05)

    def within(self):
        """A command in front of another one that puts it into the group."""
        return ["sh", "-c", 'echo $$ > "$0" && exec "$@"',
                str(self.folder / "cgroup.procs")]

    def killed(self):
        """Processes that were ended for want of memory."""
        name = "memory.oom_control" if self.version == 1 else "memory.events"
        for line in (self.folder / name).read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
        return 0


@contextlib.contextmanager
def limited(mib):
    """Has this process and those that it starts live in a memory group; without
    a limit, where they are."""
    if not mib:
        yield None
        return
    with MemoryGroup(mib << 20) as group:
        members = "cgroup.procs"
        (group.folder / members).write_text(str(os.getpid()))
        try:
            yield group
        finally:
            (group.folder.parent / members).write_text(str(os.getpid()))


def _place():
    first = pathlib.Path("/sys/fs/cgroup/memory")
    return (first, 1) if first.is_dir() else (pathlib.Path("/sys/fs/cgroup"), 2)


def refused():
    """Why memory groups cannot be made here; None if they can."""
    try:
        with MemoryGroup(1 << 30) as group:
            subprocess.run([*group.within(), "true"], check=True,
                           capture_output=True)
        return None
    except (OSError, subprocess.CalledProcessError) as why:
        return f"memory cgroups cannot be made here: {why}"


def forget_pages(folder):
    """Drops the pages of all files below a folder from memory."""
    for path in pathlib.Path(folder).rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
