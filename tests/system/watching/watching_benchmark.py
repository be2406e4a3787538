#!/usr/bin/python3
"""What it costs a run to be watched.

    python3 tests/system/watching/watching_benchmark.py build/actors/graphmill
        [--pairs 5] [--scale 16] [--epochs 100] [--only crowd]

Two daemons train on an R-MAT graph, again and again, in pairs of runs of which one
is watched and the other one is not, in turns:

    usual   a page is open, all pages of metrics are scraped each second, and `top`
            is on a terminal
    crowd   20 pages are open, and 1,000 scrapes come as fast as they are answered

A page is what asks as the web page does: it catches up, has the stream, and asks
for the run with each tick. What those who watch do themselves is done in the time that
no other process wants, for they would be on other machines. Prints processor time of the daemons and seconds of
training, the watched beside the other one of each pair, as the median of all
pairs, which share of that time went into answers over HTTP, and what is asked of them: 1 % more processor time when watched as usual,
and 2 % more time in the crowd. Other load on the machine shows. Ends with 1 if the digests of two runs
differ, or if somebody who watches is not answered.
"""

import argparse
import contextlib
import http.client
import json
import os
import pathlib
import statistics
import sys
import tempfile
import threading

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from clusters import PATIENCE_SECONDS, Cluster
from over_http import get, told_at
from runs import name_of, partitioned, small_rmat
from support import program
from terminals import Terminal

CROWD_PAGES = 20
CROWD_SCRAPES = 1000
CROWD_SCRAPERS = 8  # Each asks when it has its answer.
ASKED = {"usual": ("processor time", 1.01), "crowd": ("seconds", 1.02)}


class Watchers:
    """Threads that watch a cluster until they are left."""

    def __init__(self, cluster):
        self.coordinator = told_at(cluster.daemons[0], "the cluster")
        self.daemons = [told_at(daemon, "itself") for daemon in cluster.daemons]
        self.cluster = cluster
        self.over = threading.Event()
        self.lock = threading.Lock()
        self.ticks = 0
        self.scrapes = 0
        self.failed = []
        self.threads = []

    def begin(self, work):
        def watched():
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
            try:
                work()
            except (OSError, http.client.HTTPException, ValueError) as reason:
                self.failed.append(f"{work.__name__}: {reason!r}")
        self.threads.append(threading.Thread(target=watched))
        self.threads[-1].start()

    def end(self):
        self.over.set()
        for thread in self.threads:
            thread.join()

    def read(self, address, path):
        status, body = get(address, path)
        # In the moment in which a run begins there is nothing to tell of it.
        if status not in (200, 404, 503):
            raise ValueError(f"{path}: {status} {body}")
        return body

    def page(self):
        for path in "/", "/api/status", "/api/history", "/api/events":
            self.read(self.coordinator, path)
        while not self.over.is_set():
            connection = http.client.HTTPConnection(self.coordinator,
                                                    timeout=PATIENCE_SECONDS)
            with contextlib.closing(connection):
                connection.request("GET", "/api/stream")
                self.listen(connection.getresponse())

    def listen(self, stream):
        if stream.status == 503:  # The pages of the run before go away first.
            self.over.wait(0.2)
            return
        if stream.status != 200:
            raise ValueError(f"/api/stream: {stream.status}")
        while not self.over.is_set():
            line = stream.readline()
            if not line:
                raise ValueError("the stream has ended")
            if line.startswith(b"data: "):
                self.tick(json.loads(line.removeprefix(b"data: ")))

    def tick(self, told):
        with self.lock:
            self.ticks += 1
        running = told["status"] and told["status"]["running"]
        if running:
            self.read(self.coordinator, f"/api/runs/{running}")

    def scrape(self, address):
        self.read(address, "/metrics")
        with self.lock:
            self.scrapes += 1

    def scrape_each_second(self):
        while not self.over.wait(1):
            for address in self.coordinator, *self.daemons:
                self.scrape(address)

    def scrape_at_once(self):
        for _ in range(CROWD_SCRAPES // CROWD_SCRAPERS):
            self.scrape(self.coordinator)


@contextlib.contextmanager
def usual(cluster):
    watchers = Watchers(cluster)
    terminal = Terminal()
    top = terminal.start([program(), "top", "--cluster", cluster.coordinator],
                         env={**os.environ, "TERM": "vt100"})
    try:
        watchers.begin(watchers.page)
        watchers.begin(watchers.scrape_each_second)
        yield watchers
        if top.poll() is not None:
            watchers.failed.append(f"top: {terminal.output!r}")
    finally:
        watchers.end()
        top.kill()
        top.wait()
        terminal.close()


@contextlib.contextmanager
def crowd(cluster):
    watchers = Watchers(cluster)
    try:
        for _ in range(CROWD_PAGES):
            watchers.begin(watchers.page)
        for _ in range(CROWD_SCRAPERS):
            watchers.begin(watchers.scrape_at_once)
        yield watchers
    finally:
        watchers.end()


@contextlib.contextmanager
def nobody(_):
    yield None


WAYS = {"usual": usual, "crowd": crowd}


def seconds_in(path):
    """User and system time, behind the name, which may have blanks."""
    figures = path.read_text().rpartition(")")[2].split()
    return sum(map(int, figures[11:13])) / os.sysconf("SC_CLK_TCK")


def processor_seconds(cluster):
    """Of all daemons, since they began, and of what answers over HTTP there."""
    every, http = 0.0, 0.0
    for daemon in cluster.daemons:
        process = pathlib.Path(f"/proc/{daemon.process.pid}")
        every += seconds_in(process / "stat")
        for thread in process.glob("task/*"):
            if (thread / "comm").read_text().strip() == "graphmill-http":
                http += seconds_in(thread / "stat")
    return every, http


def measure(cluster, definition, watched_by):
    before = processor_seconds(cluster)
    with watched_by(cluster) as watchers:
        summary = cluster.run(definition)
    every, http = (now - then for now, then in
                   zip(processor_seconds(cluster), before))
    out = {"processor time": every, "http": http / every,
           "seconds": summary["seconds"], "digest": summary["digest"],
           "failed": [], "ticks": 0, "scrapes": 0}
    if watchers:
        out.update(failed=watchers.failed, ticks=watchers.ticks,
                   scrapes=watchers.scrapes)
    return out


def compare(cluster, definition, name, way, pairs):
    """Prints what a way to watch costs; returns all runs of it."""
    done = []
    ratios = {"processor time": [], "seconds": []}
    for pair in range(pairs):
        order = (nobody, way) if pair % 2 == 0 else (way, nobody)
        both = {how: measure(cluster, definition, how) for how in order}
        done += both.values()
        for what, all_of_it in ratios.items():
            all_of_it.append(both[way][what] / both[nobody][what])
    for what, all_of_it in ratios.items():
        asked = (f", asked: {ASKED[name][1]:.2f}"
                 if ASKED[name][0] == what else "")
        print(f"{name:6} {what:15} x {statistics.median(all_of_it):.3f} "
              f"({min(all_of_it):.3f} to {max(all_of_it):.3f}){asked}",
              flush=True)
    watched = [run for run in done if run["ticks"] or run["scrapes"]]
    shares = [run["http"] for run in watched]
    print(f"{name:6} {'of it for HTTP':15}   {statistics.median(shares):.2%} "
          f"({min(shares):.2%} to {max(shares):.2%})", flush=True)
    print(f"{name:6} {'answered':15} {sum(run['ticks'] for run in watched)} "
          f"ticks, {sum(run['scrapes'] for run in watched)} scrapes in "
          f"{len(watched)} of {pairs} runs", flush=True)
    return done


def main():
    program()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--scale", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--only", choices=WAYS, help="of the two ways")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="graphmill-watching-") as folder:
        top = pathlib.Path(folder)
        parts = partitioned(
            small_rmat(top / "rmat", scale=given.scale,
                       edges=16 << given.scale, features=64), 2, "random")
        definition = top / "watched.yaml"
        definition.write_text(json.dumps({
            "dataset": name_of(parts), "seed": 7,
            "sampler": {"fanouts": [10, 5]},
            "model": {"kind": "sage", "hidden": 64},
            "train": {"batch_size": 512, "epochs": given.epochs},
            "trainer": {"replicas": 2}}))
        done = []
        with Cluster(top / "cluster", parts, ["0", "1"],
                     "--http", "127.0.0.1:0",
                     "--metrics", "127.0.0.1:0") as cluster:
            measure(cluster, definition, nobody)  # All is read from disk once.
            for name, way in WAYS.items():
                if given.only in (None, name):
                    done += compare(cluster, definition, name, way, given.pairs)
    digests = {run["digest"] for run in done}
    failed = [reason for run in done for reason in run["failed"]]
    print(f"digests {', '.join(sorted(digests))}")
    for reason in failed:
        print(f"failed: {reason}")
    return 1 if failed or len(digests) != 1 else 0


if __name__ == "__main__":
    raise SystemExit(main())
