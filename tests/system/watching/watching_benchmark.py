#!/usr/bin/python3
"""What it costs a run to be watched.

    python3 tests/system/watching/watching_benchmark.py build/actors/graphmill
        [--epochs 1500] [--runs 1] [--seconds 1] [--only crowd]

Two daemons train on an R-MAT graph. A run is watched for a second, and is not for a
second, in turns until it ends, so that both see the same machine:

    usual   a page is open, all pages of metrics are scraped each second, and `top`
            is on a terminal
    crowd   20 pages are open, and 250 scrapes come in each second, as fast as they
            are answered: 1,000 in four

A page is what asks as the web page does: it catches up, has the stream, and asks for
the run with each tick. It is opened before the time is taken. What those who watch do
themselves is done in the time that no other process wants, for they would be on other
machines. Prints processor time of the daemons and seconds of training for an epoch,
watched beside not watched, as the middle of all pairs with the interval in which it
is; which share of that time went into answers over HTTP; and what watching takes of a
run that waits for most of its time, beside what training takes, which other load on
the machine disturbs least. Asked of them: 1 % more processor time when watched as
usual, and 2 % more time in the crowd. Where the machine's speed changes from second
to second, pairs of short pieces tell more in the same time than pairs of long ones,
and an interval is narrow enough to tell only after a while: `--only crowd --runs 10`.

Ends with 1 if a digest is not that of the run that nobody watches, or if somebody who
watches is not answered.
"""

import argparse
import bisect
import itertools
import json
import math
import os
import pathlib
import statistics
import sys
import tempfile
import time

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from clusters import Cluster
from runs import name_of, partitioned, small_rmat
from support import program
from watchers import crowd, nobody, usual

IDLE_PAIRS = 9
IDLE_SECONDS = 4
SETTLED_SECONDS = 0.2  # After those who watch have come, or gone.
ASKED = {"usual": ("processor_time", 1.01), "crowd": ("seconds", 1.02)}
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


class Window:
    """A piece of a run: what went on while it was watched, or was not."""

    def __init__(self, cluster, way, seconds, is_over):
        self.watchers = None
        with way(cluster) as self.watchers:
            time.sleep(SETTLED_SECONDS)
            before = processor_seconds(cluster)
            self.since = time.time()
            if self.watchers:
                self.watchers.scraping.set()
            while time.time() < self.since + seconds and not is_over():
                time.sleep(0.05)
            self.until = time.time()
            after = processor_seconds(cluster)
        self.processor, self.http = (n - t for n, t in zip(after, before))
        self.whole = self.until >= self.since + seconds

    def count(self, ends):
        """Knows what an epoch has taken in it, evaluations included.

        @param ends When the run's epochs ended."""
        epochs = epochs_at(self.until, ends) - epochs_at(self.since, ends)
        self.seconds = (self.until - self.since) / epochs
        self.processor_time = self.processor / epochs


def epochs_at(time, ends):
    """How far a run was then, in epochs and parts of them."""
    over = bisect.bisect(ends, time)
    if over in (0, len(ends)):
        return over
    return over + (time - ends[over - 1]) / (ends[over] - ends[over - 1])


def ends_in(folder):
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    return [line["ended"] for line in map(json.loads, lines)
            if line["phase"] == "train"]


def watched_run(cluster, definition, way, seconds):
    """A run that is watched and not watched in turns: its digest, and its
    windows in pairs, the one that was not watched first."""
    run = cluster.ask("submit", definition)["run"]
    folder = cluster.folder / "runs" / run
    cluster.wait_until((folder / "metrics.jsonl").exists, f"epoch of {run}")

    def is_over():
        return (folder / "summary.json").exists()
    pairs = []
    while not is_over():
        order = (nobody, way) if len(pairs) % 2 == 0 else (way, nobody)
        both = {how: Window(cluster, how, seconds, is_over) for how in order}
        if all(window.whole for window in both.values()):
            pairs.append((both[nobody], both[way]))
    ends = ends_in(folder)
    pairs = [pair for pair in pairs
             if all(window.until <= ends[-1] for window in pair)]
    for window in itertools.chain(*pairs):
        window.count(ends)
    return json.loads((folder / "summary.json").read_text())["digest"], pairs


def middle_of(values):
    """Their pseudomedian, and in which interval it is with 95 %: the median of
    the means of all pairs, and the interval that the signed-rank test leaves
    (Hodges and Lehmann 1963; Hollander and Wolfe, "Nonparametric Statistical
    Methods", 3.3). All of them, if there are too few to say."""
    count = len(values)
    means = sorted((a + b) / 2 for a, b in
                   itertools.combinations_with_replacement(values, 2))
    spread = math.sqrt(count * (count + 1) * (2 * count + 1) / 24)
    beyond = max(0, math.floor(len(means) / 2 - 1.96 * spread) - 1)
    return statistics.median(means), means[beyond], means[-1 - beyond]


def cost_of(cluster, definition, way):
    """What a way to watch takes of the processors each second: of a run that
    has as many actors and does next to nothing, so that nothing else shows."""
    run = cluster.ask("submit", definition)["run"]
    cluster.wait_until(
        lambda: cluster.ask("status", run)["state"] == "running"
        and any(daemon["actors"]
                for daemon in cluster.ask("status", run)["daemons"]),
        f"run {run}")
    time.sleep(IDLE_SECONDS)  # Until its first batches wait for their turn.
    taken = {nobody: [], way: []}
    for _ in range(IDLE_PAIRS):
        for how, all_of_it in taken.items():
            window = Window(cluster, how, IDLE_SECONDS, lambda: False)
            all_of_it.append(window.processor / (window.until - window.since))
    cluster.ask("cancel", run)
    cluster.wait_until(lambda: cluster.status()["running"] is None,
                       f"end of {run}")
    return [there - here for here, there in zip(taken[nobody], taken[way])]


def tell_cost(name, costs, pairs):
    """@param pairs Of a run that trains."""
    trains = statistics.median(alone.processor / (alone.until - alone.since)
                               for alone, _ in pairs)
    middle, low, high = middle_of(costs)
    print(f"{name:6} {'by itself':15}   {middle * 1000:.1f} ms each second, "
          f"training {trains * 1000:.0f}: x {1 + middle / trains:.4f} (from "
          f"{1 + low / trains:.4f} to {1 + high / trains:.4f} with 95 %)",
          flush=True)


def tell(name, pairs):
    """Prints what a way to watch costs."""
    for what in "processor_time", "seconds":
        ratios = [getattr(watched, what) / getattr(alone, what)
                  for alone, watched in pairs]
        # Twice as slow is as far from equal as twice as fast.
        middle, low, high = map(math.exp,
                                middle_of([math.log(one) for one in ratios]))
        asked = (f", asked: {ASKED[name][1]:.2f}"
                 if ASKED[name][0] == what else "")
        print(f"{name:6} {what:15} x {middle:.3f} "
              f"(from {low:.3f} to {high:.3f} with 95 %; all "
              f"{len(ratios)}: {min(ratios):.3f} to {max(ratios):.3f}){asked}",
              flush=True)
    watched = [window for _, window in pairs]
    share = (sum(window.http for window in watched)
             / sum(window.processor for window in watched))
    print(f"{name:6} {'of it for HTTP':15}   {share:.2%}", flush=True)
    seen = [window.watchers for window in watched]
    print(f"{name:6} {'answered':15}   {sum(one.ticks for one in seen)} ticks, "
          f"{sum(one.scrapes for one in seen)} scrapes in "
          f"{sum(window.until - window.since for window in watched):.0f} s",
          flush=True)
    return [reason for one in seen for reason in one.failed]


def main():
    program()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1,
                        help="that it is watched, or not, at a time")
    parser.add_argument("--scale", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=1500)
    parser.add_argument("--runs", type=int, default=1,
                        help="that are watched in each way")
    parser.add_argument("--only", choices=WAYS, help="of the two ways")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="graphmill-watching-") as folder:
        top = pathlib.Path(folder)
        parts = partitioned(
            small_rmat(top / "rmat", scale=given.scale,
                       edges=16 << given.scale, features=64), 2, "random")
        definition = top / "watched.yaml"
        trained = {
            "dataset": name_of(parts), "seed": 7,
            "sampler": {"fanouts": [10, 5]},
            "model": {"kind": "sage", "hidden": 64},
            "train": {"batch_size": 512, "epochs": given.epochs},
            "trainer": {"replicas": 2}}
        definition.write_text(json.dumps(trained))
        idle = top / "idle.yaml"
        idle.write_text(json.dumps({
            **trained, "train": {"batch_size": 32, "epochs": 100000},
            "faults": {"trainer_delay_ms": 1000}}))
        with Cluster(top / "cluster", parts, ["0", "1"],
                     "--http", "127.0.0.1:0",
                     "--metrics", "127.0.0.1:0") as cluster:
            digest, _ = watched_run(cluster, definition, nobody, given.seconds)
            digests = {digest}
            failed = []
            for name, way in WAYS.items():
                if given.only in (None, name):
                    pairs = []
                    for _ in range(given.runs):
                        digest, more = watched_run(cluster, definition, way,
                                                   given.seconds)
                        digests.add(digest)
                        pairs += more
                        print(f"{name:6} {'pairs':15}  ", *(
                            f"{watched.seconds / alone.seconds:.3f}"
                            for alone, watched in more), flush=True)
                    failed += tell(name, pairs)
                    tell_cost(name, cost_of(cluster, idle, way), pairs)
    print(f"digests {', '.join(sorted(digests))}")
    for reason in failed:
        print(f"failed: {reason}")
    return 1 if failed or len(digests) != 1 else 0


if __name__ == "__main__":
    raise SystemExit(main())
