"""A cluster whose dead daemons are started again, as systemd would."""

import json
import os
import pathlib
import signal
import subprocess
import time

from clusters import PATIENCE_SECONDS, Cluster, Daemon, free_port
from support import TROUBLED

# Before a daemon that has died is started again.
RESTART_SECONDS = 0.2


class Supervised(Cluster):
    """Daemons by name, at fixed ports, that let themselves be harmed. Whoever
    waits for something calls `tend` meanwhile, which starts the dead again."""

    def __init__(self, folder, data, layout, stand_in=False, through=()):
        """`layout` says what each daemon has: a name, parts and more options;
        the first one is the coordinator. A stand-in for it has the same, and the
        same folder of runs. `through` is a command that starts each daemon."""
        super().__init__(folder, data, [])
        self.through = through
        self.died = {}
        self.retired = []
        self.restarts = 0
        self.leaders = []
        self.count = len(layout)
        first = layout[0]
        self.addresses = [f"tcp://127.0.0.1:{free_port()}"]
        if stand_in:
            self.addresses.append(f"tcp://127.0.0.1:{free_port()}")
        try:
            self.start(*first, listen=self.addresses[0])
            self.daemons[0].address()  # It leads before the stand-in asks to.
            if stand_in:
                self.start(f"{first[0]}2", *first[1:], "--standby",
                           listen=self.addresses[1])
            self.leaders = [daemon.name for daemon in self.daemons]
            for share in layout[1:]:
                self.start(*share, join=self.coordinator)
            assert self.wait_until(self.all_there, "daemons"), self.logs()
        except BaseException:
            self.__exit__()
            raise

    def start(self, name, parts, *more, **options):
        self.daemons.append(Daemon(
            self.folder, name, self.data, parts, "--chaos-allowed", *more,
            **{"listen": "tcp://127.0.0.1:0", "within": self.through,
               **options}))

    def __exit__(self, *_):
        super().__exit__()
        for daemon in self.retired:
            daemon.end()

    def replace(self, name, parts, *more):
        """Starts another daemon of the name elsewhere; the old one is left
        alone until the end."""
        old = self.daemon(name)
        self.daemons.remove(old)
        self.retired.append(old)
        self.start(name, parts, *more, join=self.coordinator)

    @property
    def coordinator(self):
        """The addresses, with that of whoever leads in front: a stand-in that
        waits listens nowhere, and a client would lose seconds on it."""
        order = sorted(zip(self.leaders, self.addresses),
                       key=lambda one: not self.daemon(one[0]).ready.exists())
        return ",".join(address for _, address in order)

    def leader(self):
        """The name of the coordinator's daemon: a stand-in is ready only once
        it leads."""
        return next((name for name in self.leaders
                     if self.daemon(name).ready.exists()), self.leaders[0])

    def daemon(self, name):
        return next(one for one in self.daemons if one.name == name)

    def tend(self):
        """Starts again who has died a moment ago."""
        now = time.monotonic()
        for daemon in self.daemons:
            if daemon.process.poll() is None:
                continue
            if now - self.died.setdefault(daemon.name, now) < RESTART_SECONDS:
                continue
            del self.died[daemon.name]
            self.restarts += 1
            daemon.ready.unlink(missing_ok=True)
            if len(self.leaders) > 1 and daemon.name in self.leaders \
                    and "--standby" not in daemon.arguments:
                daemon.arguments.append("--standby")  # The other one leads.
            with daemon.log.open("a") as log:
                daemon.process = subprocess.Popen(
                    daemon.arguments, stdout=log, stderr=log,
                    start_new_session=True)

    def wait_until(self, condition, what, seconds=PATIENCE_SECONDS):
        """As a cluster does; returns whether it came, within the seconds."""
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() >= deadline:
                return False
            self.tend()
            time.sleep(0.02)
        return True

    def answer(self, command, *arguments):
        """What a client's command prints at last; None if nobody answered."""
        done = self.call(command, *arguments)
        if done.returncode not in (0, TROUBLED):
            return None
        return json.loads(done.stdout.splitlines()[-1])

    def states(self):
        now = self.answer("status")
        return {one["name"]: one["state"]
                for one in (now or {"daemons": []})["daemons"]}

    def all_there(self):
        return list(self.states().values()).count("ready") == self.count

    def record(self, run):
        found = self.answer("runs", run)
        return found["runs"][0] if found else None

    def harm(self, name, kind, *more):
        """Asks a daemon to harm itself; returns whether it will."""
        return self.answer("chaos", "--daemon", name, "--kinds", kind,
                           *more) is not None

    def is_stopped(self, name):
        return is_stopped(self.daemon(name))

    def kill(self, name):
        try:
            os.kill(self.daemon(name).process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def lines(self, run, file):
        """The whole lines of a file of a run folder, as JSON."""
        path = self.folder / "runs" / run / file
        try:
            text = path.read_text()
        except OSError:
            return []
        out = []
        for line in text.split("\n")[:-1]:
            try:
                out.append(json.loads(line))
            except ValueError:
                pass  # Cut short where a coordinator was killed.
        return out


def is_stopped(daemon):
    """Whether a daemon's process is; one that has ended is not."""
    stat = pathlib.Path(f"/proc/{daemon.process.pid}/stat")
    try:
        return stat.read_text().rsplit(")", 1)[1].split()[0] == "T"
    except (OSError, IndexError):
        return False
