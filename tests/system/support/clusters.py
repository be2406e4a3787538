"""Clusters of real node daemons on loopback."""

import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import time

import runs
import support

# Bounds every wait: no test may hang.
PATIENCE_SECONDS = 200

# States of runs that are over.
OVER = ("finished", "failed", "cancelled")

# Below those that the system gives to whoever takes any port.
FIXED_PORTS = list(range(20000, 32000))
random.shuffle(FIXED_PORTS)


def free_port():
    """A port that nobody listens at, most likely for a while; another one each
    time."""
    while True:
        port = FIXED_PORTS.pop()
        with socket.socket() as it:
            try:
                it.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue  # Somebody has it.


def rest(asked):
    """Waits between two looks at something, of which the last one began at
    `asked`: four times as long as that took, so that looking leaves the
    processors to what is looked at. Returns when the next look begins."""
    time.sleep(min(max(0.05, 4 * (time.monotonic() - asked)), 0.3))
    return time.monotonic()


class Daemon:
    """A node daemon, in a process group of its own; `within` is a command that
    starts it somewhere else."""

    def __init__(self, folder, name, data, serve, *more, join=None,
                 listen="tcp://127.0.0.1:0", within=()):
        self.name = name
        self.ready = folder / f"{name}.ready"
        self.ready.unlink(missing_ok=True)
        self.log = folder / f"{name}.log"
        arguments = [*within, support.program(), "node", "--data", str(data),
                     "--name", name, "--listen", listen,
                     "--runs", str(folder / "runs"),
                     "--ready-file", str(self.ready), *map(str, more)]
        if serve is not None:
            arguments += ["--serve", serve]
        if join:
            arguments += ["--join", join]
        self.arguments = arguments
        with self.log.open("a") as log:
            self.process = subprocess.Popen(arguments, stdout=log, stderr=log,
                                            start_new_session=True)

    def address(self):
        """Where it listens; waits until it does."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not self.ready.exists():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, f"{self.name} does not start"
            time.sleep(0.01)
        return self.ready.read_text().strip()

    def kill(self):
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE_SECONDS)

    def stop(self):
        """Ends it by SIGTERM; returns its exit code."""
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGTERM)
        return self.process.wait(PATIENCE_SECONDS)

    def end(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE_SECONDS)


class Cluster:
    """Daemons that serve a dataset: `shares` says which parts each one has."""

    within = ()  # A command that starts clients somewhere else.

    def __init__(self, folder, data, shares, *more):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.data = data
        self.daemons = []
        self.more = more
        for share in shares:
            self.add(share)
        if shares:
            self.await_daemons(len(shares))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for daemon in self.daemons:
            daemon.end()

    @property
    def coordinator(self):
        return self.daemons[0].address()

    def add(self, share, *more, name=None, data=None, **options):
        daemon = Daemon(self.folder, name or f"d{len(self.daemons)}",
                        data or self.data, share, *self.more, *more,
                        join=self.coordinator if self.daemons else None,
                        **options)
        self.daemons.append(daemon)
        return daemon

    def call(self, command, *arguments):
        """Runs a client's command to its end."""
        insecure = [more for more in self.more if more == "--insecure"]
        return support.graphmill(command, *arguments, "--cluster",
                                 self.coordinator, "--json", *insecure,
                                 within=self.within)

    def reach(self, command, *arguments):
        """The same, until the coordinator is reached: a client gives up after
        some seconds, and where others have the processors it may not run for
        as long."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            done = self.call(command, *arguments)
            if ("nobody answers at" not in done.stderr
                    or time.monotonic() >= deadline):
                return done

    def ask(self, command, *arguments, code=0):
        """Runs a client's command; returns what --json prints at last."""
        looks = code == 0 and command in ("status", "runs", "events", "logs")
        done = (self.reach if looks else self.call)(command, *arguments)
        assert done.returncode == code, \
            f"{command}: {done.returncode}\n{done.stderr}\n{self.logs()}"
        if code != 0:
            return done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    def refused(self, command, *arguments):
        """Runs a command that fails; returns what it says."""
        return self.ask(command, *arguments, code=1)

    def status(self):
        """Of a cluster that may be in trouble."""
        done = self.reach("status")
        assert done.returncode in (0, support.TROUBLED), \
            f"status: {done.returncode}\n{done.stderr}\n{self.logs()}"
        return json.loads(done.stdout.splitlines()[-1])

    def states(self):
        return {d["name"]: d["state"] for d in self.status()["daemons"]}

    def await_daemons(self, count, state="ready"):
        self.wait_until(
            lambda: list(self.states().values()).count(state) >= count,
            f"{count} daemons that are {state}")

    def wait_until(self, condition, what):
        deadline = time.monotonic() + PATIENCE_SECONDS
        asked = time.monotonic()
        while not condition():
            assert time.monotonic() < deadline, f"no {what}\n{self.logs()}"
            asked = rest(asked)

    def record(self, run):
        """What the coordinator has on record of a run."""
        return self.ask("runs", run)["runs"][0]

    def await_state(self, run, *states):
        """Waits until a run is in one of these states; returns its record. No
        run that is over is waited for."""
        record = {}

        def there():
            record.update(self.record(run))
            return record["state"] in (*states, *OVER)
        self.wait_until(there, f"{run} that is {' or '.join(states)}")
        assert record["state"] in states, \
            f"{run} is {record['state']}: {record['message']}\n{self.logs()}"
        return record

    def logs(self):
        return "\n".join(f"--- {d.name}\n{d.log.read_text()}"
                         for d in self.daemons)

    def run(self, definition):
        """Submits a definition and waits for its end; returns the summary."""
        return self.ask("submit", definition, "--watch", "--quiet")


class ClusterWorkplace(runs.Workplace):
    """Has a small graph, whole and in two parts, and clusters of daemons that
    serve shares of it, or of other data, until the test ends."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = runs.small_rmat(cls.top / "rmat")
        cls.parts = runs.partitioned(cls.data, 2, "random")

    def cluster(self, shares, *more, data=None):
        made = Cluster(self.top / self.own_name, data or self.parts, shares,
                       *more)
        self.addCleanup(made.__exit__)
        return made


def check_two_daemons(test, name, parts, expected):
    """Two daemons with a part each train weights of known digests, also if one
    of them samples for the other.
    expected: [(definition, digest)]"""
    with Cluster(test.top / f"cluster-{name}", parts, ["0", "1"]) as cluster:
        for n, (definition, digest) in enumerate(expected):
            for more in ({}, {"placement": {"trainers": ["d0"],
                                            "samplers": ["d1"]}}):
                summary = cluster.run(test.write(
                    runs.merged(definition, more), parts,
                    f"-{name}-{n}{len(more)}"))
                test.assertEqual(summary["digest"], digest, cluster.logs())
