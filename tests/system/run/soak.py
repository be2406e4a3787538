#!/usr/bin/python3
"""Says whether a training run of many small steps holds its memory.

    python3 tests/system/run/soak.py build/actors/graphmill [--minutes 30]
        [--cluster] [--limit-mib N]

Imports WordNet (Debian: wordnet-base) and trains R-GCN on it, hidden 16, fanouts
2 and 2, batches of 32, budget.bytes 256 MiB: hundreds of steps per second, each
with a dozen requests between actors, so that anything left behind by a request,
a batch or a step adds up fast. In one process, or with --cluster on two node
daemons on loopback that have a part and a trainer each.

Once a second it adds up RssAnon and RssShmem of all processes of the run. Batches
of evaluations are not as large as those of training, so that memory goes up and
down with each cycle of epochs, and what stays is seen where it is low: a minute's
level is the lowest tenth of its samples. Ends with 1 if the level of a minute
behind the second one is above that one's by more than --percent (2). The most of
each minute is shown, too. With --minutes below 4 the minutes are shorter alike; they
must have some cycles each.

With --limit-mib N everything, the import and this script included, is in a memory
cgroup of that size (root), pages of mapped files counted; ends with 1 if a process
was killed for want of memory.
"""

import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import support
from clusters import Cluster
from memory_group import limited
from runs import partitioned

MIB = 1 << 20

DEFINITION = {
    "dataset": "wordnet",
    "sampler": {"fanouts": [2, 2]},
    "model": {"kind": "rgcn", "hidden": 16},
    "train": {"batch_size": 32, "epochs": 1000000},
    "evaluate": {"every": 3},
    "budget": {"bytes": 256 * MIB},
}


def memory_of(pids):
    """RssAnon and RssShmem of processes, in bytes."""
    total = 0
    for pid in pids:
        for line in pathlib.Path(f"/proc/{pid}/status").open():
            if line.startswith(("RssAnon:", "RssShmem:")):
                total += int(line.split()[1]) * 1024
    return total


def epochs_of(runs):
    """Training epochs that the run in a folder has written."""
    found = list(pathlib.Path(runs).glob("*/metrics.jsonl"))
    if not found:
        return 0
    lines = found[0].read_text().split("\n")[:-1]
    return sum(json.loads(line)["phase"] == "train" for line in lines)


class Minutes:
    """What was measured, by minute."""

    def __init__(self, minute):
        self.minute = minute
        self.samples = {}

    def add(self, elapsed, value):
        self.samples.setdefault(int(elapsed // self.minute), []).append(value)

    def whole(self, elapsed):
        """The lowest tenth and the most of the minutes that are over."""
        return [(statistics.quantiles(self.samples[m], n=10)[0],
                 max(self.samples[m]))
                for m in sorted(self.samples) if (m + 1) * self.minute <= elapsed]


def watch(pids, alive, minutes, minute, runs):
    """Looks at processes for a while; returns the levels of minutes."""
    seen = Minutes(minute)
    began = time.monotonic()
    told = 0
    while (elapsed := time.monotonic() - began) < minutes * 60:
        assert alive(), "the run has ended"
        seen.add(elapsed, memory_of(pids))
        for low, most in seen.whole(elapsed)[told:]:
            told += 1
            print(f"  {told * minute:6.0f} s: {low / MIB:7.1f} to "
                  f"{most / MIB:.1f} MiB, {epochs_of(runs)} epochs", flush=True)
        time.sleep(min(1, minute / 20))
    return [low for low, _ in seen.whole(minutes * 60)]


def in_one_process(top, data, minutes, minute):
    definition = top / "soak.yaml"
    definition.write_text(json.dumps(DEFINITION))
    run = subprocess.Popen(
        [support.program(), "train", str(definition), "--data", str(data),
         "--runs", str(top / "runs"), "--quiet"], start_new_session=True)
    try:
        return watch([run.pid], lambda: run.poll() is None, minutes, minute,
                     top / "runs")
    finally:
        os.kill(run.pid, signal.SIGINT)
        run.wait(60)


def on_a_cluster(top, data, minutes, minute):
    parts = partitioned(data, 2, "random")
    definition = top / "soak.yaml"
    definition.write_text(json.dumps(
        {**DEFINITION, "trainer": {"replicas": 2}}))
    with Cluster(top / "cluster", parts, ["0", "1"]) as cluster:
        run = cluster.ask("submit", definition)["run"]
        daemons = [daemon.process for daemon in cluster.daemons]
        levels = watch([daemon.pid for daemon in daemons],
                        lambda: all(d.poll() is None for d in daemons),
                        minutes, minute, top / "cluster" / "runs")
        cluster.ask("cancel", run)
    return levels


def main():
    parser = support.ScriptOptions(__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--cluster", action="store_true",
                        help="on two node daemons instead of in one process")
    parser.add_argument("--percent", type=float, default=2,
                        help="what memory may grow by after the first minute")
    parser.add_argument("--limit-mib", type=int,
                        help="the memory that there is; without it, the machine's")
    given = parser.parse_args()
    # Whoever ends this early leaves no daemons behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    minute = min(60, given.minutes * 60 / 4)
    with (tempfile.TemporaryDirectory(prefix="graphmill-soak-") as folder,
          limited(given.limit_mib) as group):
        top = pathlib.Path(folder)
        data = top / "wordnet"
        support.imported("wordnet", "--out", data)
        how = on_a_cluster if given.cluster else in_one_process
        levels = how(top, data, given.minutes, minute)
        killed = group.killed() if group else 0
    level, *later = levels[1:]
    growth = 100 * (max(later) / level - 1)
    holds = growth <= given.percent
    print(f"{'holds' if holds else 'GROWS'}: {level / MIB:.1f} MiB after "
          f"{minute:.0f} s, then at most {max(later) / MIB:.1f} MiB "
          f"({growth:+.2f} %) and {later[-1] / MIB:.1f} MiB at the end")
    if killed:
        print(f"{killed} processes were killed for want of memory")
    return 0 if holds and not killed else 1


if __name__ == "__main__":
    raise SystemExit(main())
