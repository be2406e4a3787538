#!/usr/bin/python3
"""Watches a cluster for long, while its daemons are killed and strangers ask for
what they should not.

    python3 tests/system/watching/watched_soak.py build/actors/graphmill
        [--minutes 15] [--limit-mib 2500] [--seed 1]

A coordinator without parts and three daemons, of which two have a part and a trainer
each and one has both parts, train one run after the other by the same definition, all
in a memory cgroup (root; --limit-mib 0: without). Every 20 to 40 s one of the four
gets SIGKILL, the coordinator among them, or is stopped for 8 s, drawn by the seed;
who is dead is started again. Meanwhile

    4 pages    are open: they catch up, have the stream, and go on after a loss of the
               connection where they were
    3 askers   scrape /metrics and read what there is below /api
    strangers  send random bytes to both ports, heads that do not end or are too long,
               wrong tokens, paths that lead elsewhere, and hold 300 connections

Ends with 1 if a run does not finish with the digest of the first one, which nobody
disturbed; if a page has missed an event, or was told one twice or out of order; if an
answer to an asker is neither right nor a refusal that means "later"; if events of
before a coordinator's death are gone; if a process was killed for want of memory, or
the coordinator has held more than --most-mib (300).
"""

import contextlib
import http.client
import json
import os
import pathlib
import random
import signal
import socket
import sys
import tempfile
import threading
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]
from clusters import free_port
from memory_group import limited
from runs import SMALL, merged, name_of, partitioned, small_rmat
from supervised import Supervised
from support import ScriptOptions

MIB = 1 << 20
PAGES, ASKERS, HELD = 4, 3, 300
RUN_SECONDS = 600  # One takes half a minute or so; it waits for who is killed.
ANSWER_SECONDS = 60
STOP_SECONDS = 8
LATER = (404, 429, 503, 504)

DEFINITION = merged(SMALL, {
    "train": {"epochs": 60},
    "evaluate": {"every": 20},
    "trainer": {"replicas": 2},
    "checkpoint": {"every_steps": 10},
    "faults": {"trainer_delay_ms": 60},
})


class Work:
    """Threads that go on until they are ended, and what went wrong there."""

    def __init__(self):
        self.over = threading.Event()
        self.failed, self.threads = [], []

    def begin(self, work, *arguments):
        def until_over():
            while not self.over.is_set():
                try:
                    work(*arguments)
                except (OSError, http.client.HTTPException):
                    pass  # The coordinator was killed, or hangs up on strangers.
                except Exception as reason:  # pylint: disable=broad-except
                    self.failed.append(f"{work.__qualname__}: {reason!r}")
                    return
                self.over.wait(0.2)
        self.threads.append(threading.Thread(target=until_over, daemon=True))
        self.threads[-1].start()

    def end(self):
        self.over.set()
        for thread in self.threads:
            thread.join(ANSWER_SECONDS + 10)


class Page:
    """What the web page does with events: it is told each once, in their order,
    whichever coordinator tells it."""

    def __init__(self, address, work):
        self.address, self.work = address, work
        self.last_id = None
        self.seen = []
        self.streams = 0

    def watch(self):
        with connection_to(self.address) as connection:
            # As a browser does: from the last tick on.
            connection.request("GET", "/api/stream", headers={
                "Last-Event-ID": self.last_id} if self.last_id else {})
            answer = connection.getresponse()
            if answer.status != 200:
                return
            self.streams += 1
            while not self.work.over.is_set():
                line = answer.readline()
                if not line:
                    return
                if line.startswith(b"id: "):
                    told = line[4:].decode().strip()
                elif line.startswith(b"data: "):
                    self.take(json.loads(line[6:])["events"]["events"])
                    self.last_id = told

    def take(self, events):
        if not self.last_id:  # The stream begins with the present.
            self.seen = self.known()
            events = [event for event in events
                      if event["seq"] not in self.seen]
        for event in events:
            if self.seen and event["seq"] <= self.seen[-1]:
                raise ValueError(f"{event} comes after {self.seen[-1]}")
            self.seen.append(event["seq"])

    def known(self):
        """What has happened before the stream began. It is asked for when that
        is there, so nothing can be missed in between."""
        with connection_to(self.address) as connection:
            connection.request("GET", "/api/events")
            events = json.load(connection.getresponse())["events"]
        return [event["seq"] for event in events]


@contextlib.contextmanager
def connection_to(address):
    connection = http.client.HTTPConnection(address, timeout=ANSWER_SECONDS)
    with contextlib.closing(connection):
        yield connection


def read_all(address, counts):
    """All that is told over HTTP, each of them right or to be asked for later."""
    status = read(address, "/api/status", counts)
    read(address, "/metrics", counts)
    for path in ("/healthz", "/readyz", "/api/history", "/api/runs",
                 "/api/events", "/api/logs?level=warn"):
        read(address, path, counts)
    run = status and json.loads(status)["running"]
    if run:
        read(address, f"/api/runs/{run}", counts)
        read(address, f"/api/metrics/{run}", counts)
        read(address, f"/api/actors?run={run}&daemon=d0", counts)


def read(address, path, counts):
    with connection_to(address) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read()
    counts[answer.status] = counts.get(answer.status, 0) + 1
    if answer.status not in (200, *LATER):
        raise ValueError(f"{path}: {answer.status} {body[:200]}")
    if answer.status == 200 and path.startswith("/api/") \
            and not path.startswith("/api/metrics"):
        json.loads(body)
    return body if answer.status == 200 else None


class Stranger:
    """Sends what nobody should, to one port after the other."""

    def __init__(self, seed, *addresses):
        self.draws = random.Random(seed)
        self.addresses = addresses
        self.held = []

    def attack(self):
        host, _, port = self.draws.choice(self.addresses).rpartition(":")
        tried = self.draws.choice((self.garbage, self.endless, self.huge,
                                   self.token, self.path, self.hold))
        with socket.create_connection((host, int(port)), 10) as it:
            it.settimeout(3)
            tried(it)

    def garbage(self, it):
        it.sendall(self.draws.randbytes(self.draws.randrange(1, 20_000)))
        it.recv(1000)

    def endless(self, it):
        it.sendall(b"GET / HTTP/1.1\r\n")
        for _ in range(20):
            it.sendall(b"X: y\r\n")
            time.sleep(0.05)

    def huge(self, it):
        it.sendall(b"GET / HTTP/1.1\r\nX: " + b"y" * 1_000_000)
        it.recv(1000)

    def token(self, it):
        self.ask(it, "POST", "/api/drain/d0", "Graphmill-Token: "
                 + self.draws.randbytes(16).hex())

    def path(self, it):
        self.ask(it, "GET", self.draws.choice(
            ("/../../etc/passwd", "/page/%2e%2e/%2e%2e/etc/passwd",
             "/api/definitions/..%2f..", "/api/runs/" + "x" * 5000,
             "/api/actors?run=\x7f&daemon=%00", "/api/stream?since=-1")))

    def ask(self, it, method, path, header="X: y"):
        it.sendall(f"{method} {path} HTTP/1.1\r\nHost: {it.getpeername()[0]}\r\n"
                   f"{header}\r\n\r\n".encode("latin-1"))
        answer = it.recv(100_000)
        if answer.startswith(b"HTTP/1.1 200") and b"event-stream" not in answer:
            raise ValueError(f"{method} {path} was answered: {answer[:100]}")

    def hold(self, it):
        for old in self.held[:-HELD]:
            old.close()
        del self.held[:-HELD]
        self.held.append(it.dup())


class Coordinator:
    """What the process that leads holds, by its memory, threads, descriptors."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.most = dict.fromkeys(("MiB", "threads", "descriptors"), 0)

    def look(self):
        process = pathlib.Path(
            f"/proc/{self.cluster.daemons[0].process.pid}")
        try:
            status = dict(line.split(":", 1) for line in
                          (process / "status").read_text().splitlines())
            now = {"MiB": sum(int(status[kind].split()[0]) for kind in
                              ("RssAnon", "RssShmem")) / 1024,
                   "threads": int(status["Threads"]),
                   "descriptors": len(list((process / "fd").iterdir()))}
        except (OSError, KeyError):
            return  # It has been killed.
        self.most = {kind: max(now[kind], most)
                     for kind, most in self.most.items()}


class Soak:
    def __init__(self, cluster, definition, draws):
        self.cluster, self.definition, self.draws = cluster, definition, draws
        self.coordinator = Coordinator(cluster)
        self.kills, self.stops = {}, {}
        self.due = None  # When the next one is harmed; None: nobody is.
        self.stopped = None

    def tend(self):
        self.coordinator.look()
        now = time.monotonic()
        if self.stopped and now >= self.stopped[1]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.stopped[0], signal.SIGCONT)
            self.stopped = None
        if self.due is not None and now >= self.due and not self.stopped:
            self.due = now + self.draws.uniform(20, 40)
            self.harm(self.draws.choice(self.cluster.daemons), now)

    def harm(self, daemon, now):
        if daemon.process.poll() is not None:
            return
        if self.draws.random() < 0.3:
            os.kill(daemon.process.pid, signal.SIGSTOP)
            self.stopped = (daemon.process.pid, now + STOP_SECONDS)
            self.stops[daemon.name] = self.stops.get(daemon.name, 0) + 1
        else:
            self.cluster.kill(daemon.name)
            self.kills[daemon.name] = self.kills.get(daemon.name, 0) + 1

    def run(self):
        """Trains; returns the id and the record of the run."""
        found = []

        def submitted():
            self.tend()
            answer = self.cluster.answer("submit", self.definition)
            found.extend([answer["run"]] if answer else [])
            return found

        def over():
            self.tend()
            record = self.cluster.record(found[0])
            if record and record["state"] not in ("queued", "running"):
                found.append(record)
            return len(found) > 1
        assert self.cluster.wait_until(submitted, "run", RUN_SECONDS), \
            self.cluster.logs()
        assert self.cluster.wait_until(over, "its end", RUN_SECONDS), \
            f"{found[0]} hangs\n{self.cluster.logs()}"
        return found


def await_pages(cluster, pages):
    """Has pages catch up; returns all events that are known."""
    known = []

    def caught_up():
        done = cluster.call("events")
        known[:] = [json.loads(line) for line in done.stdout.splitlines()]
        return done.returncode == 0 and all(
            page.seen and page.seen[-1] >= known[-1]["seq"] for page in pages)
    if not cluster.wait_until(caught_up, "pages", ANSWER_SECONDS):
        yield "a page has not caught up"
    numbers = [event["seq"] for event in known]
    if numbers != sorted(set(numbers)):
        yield "events are told twice, or out of order"
    led = {number >> 32 for number in numbers}
    print(f"  {len(known)} events, of {len(led)} coordinators")
    if len(known) < 2000 and led != set(range(1, max(led) + 1)):
        yield f"events are left of the coordinators {sorted(led)} alone"
    for page in pages:
        if missed := set(numbers) - set(page.seen):
            yield f"a page has missed {len(missed)} events: {sorted(missed)[:5]}"


def soak(top, given):
    """Yields what is wrong."""
    parts = partitioned(small_rmat(top / "rmat"), 2, "random")
    definition = top / "soak.yaml"
    definition.write_text(json.dumps({"dataset": name_of(parts), **DEFINITION}))
    told = f"127.0.0.1:{free_port()}"
    token = top / "token"
    token.write_text("0123456789abcdef0123456789abcdef\n")
    token.chmod(0o600)
    layout = [("c", "none", "--slots", 0, "--http", told,
               "--http-action-token-file", token),
              ("d0", "0", "--slots", 1), ("d1", "1", "--slots", 1),
              ("o", "0,1", "--slots", 0)]
    work = Work()
    with Supervised(top / "cluster", parts, layout) as cluster:
        soaked = Soak(cluster, definition, random.Random(given.seed))
        digest = soaked.run()[1]["summary"]["digest"]
        soaked.due = time.monotonic() + 5
        pages = [Page(told, work) for _ in range(PAGES)]
        for page in pages:
            work.begin(page.watch)
        counts = {}
        for _ in range(ASKERS):
            work.begin(read_all, told, counts)
        port = cluster.addresses[0].split("//")[1]
        for seed in range(2):
            work.begin(Stranger(given.seed + seed, told, port).attack)
        until = time.monotonic() + given.minutes * 60
        runs = 0
        while time.monotonic() < until and not work.failed:
            run, record = soaked.run()
            runs += 1
            print(f"  {run}: {record['state']}, attempts "
                  f"{(record['summary'] or {}).get('attempts', 1)}, coordinator "
                  + ", ".join(f"{most:.0f} {kind}" for kind, most in
                              soaked.coordinator.most.items()), flush=True)
            if record["state"] != "finished":
                yield f"{run} {record['state']}: {record['message']}"
            elif record["summary"]["digest"] != digest:
                yield f"{run} has another digest"
        soaked.due = None
        if soaked.stopped:
            os.kill(soaked.stopped[0], signal.SIGCONT)
        if not cluster.wait_until(cluster.all_there, "daemons"):
            yield "daemons have not come back"
        yield from await_pages(cluster, pages)
        work.end()
        yield from work.failed
        print(f"  {runs} runs; killed {soaked.kills}, stopped {soaked.stops}; "
              f"answers {counts}; pages opened "
              f"{[page.streams for page in pages]} streams")
        if soaked.coordinator.most["MiB"] > given.most_mib:
            yield f"the coordinator has held {soaked.coordinator.most['MiB']} MiB"


def main():
    parser = ScriptOptions(__doc__)
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--limit-mib", type=int, default=2500)
    parser.add_argument("--most-mib", type=int, default=300,
                        help="what the coordinator may hold")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with (tempfile.TemporaryDirectory(prefix="graphmill-soak-") as folder,
          limited(given.limit_mib) as group):
        wrong = []
        for sentence in soak(pathlib.Path(folder), given):
            print("WRONG:", sentence, flush=True)
            wrong.append(sentence)
        if group and group.killed():
            wrong.append("killed for want of memory")
            print(f"WRONG: {group.killed()} processes were {wrong[-1]}")
    print("all is well" if not wrong else f"{len(wrong)} things are wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
