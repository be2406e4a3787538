#!/usr/bin/python3
"""Says whether daemons keep anything of the faults that they have been through.

    python3 tests/system/leaks.py build/actors/graphmill [--epochs 50]

Trains on five daemons of a tiny dataset and does something to one of them in each
epoch: connections are cut, messages delayed and damaged, a process is stopped, a
trainer is killed and started again. Compares memory (RssAnon and RssShmem), threads
and descriptors of each daemon after the last epochs with what it had after the
fifth and those that follow; of one that was killed, its successor with it. Each
time the least of a dozen epochs counts, for daemons give free memory back to the
system every 20 s. A run in peace comes before, on daemons of its own: it grows,
too, by the records of its epochs. Ends with 1 if any figure has grown by --percent
(1) more than in peace, or a run did not finish.
"""

import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "support"))
sys.path.insert(0, str(HERE))
import chaos
from runs import merged, name_of
from supervised import Supervised
from support import ScriptOptions

FIRST_EPOCHS = 5
# In which each daemon gives free memory back: seven steps of a quarter of a second
# make an epoch.
SEEN_EPOCHS = 12
STEP_MILLISECONDS = 240
EPOCH_SECONDS = 60

# In turn, by epoch: daemon, kind and options.
FAULTS = (
    ("o1", "cut", ()),
    ("t0", "corrupt", ("--messages", "3")),
    ("o0", "stop", ("--lasts", "300")),
    ("c", "delay", ("--lasts", "500", "--each", "20")),
    ("t1", "kill", ("--at", "mid_epoch")),
)


def figures_of(pid):
    """Memory in bytes, threads and descriptors of a process."""
    memory = 0
    threads = 0
    for line in pathlib.Path(f"/proc/{pid}/status").open():
        if line.startswith(("RssAnon:", "RssShmem:")):
            memory += int(line.split()[1]) * 1024
        if line.startswith("Threads:"):
            threads = int(line.split()[1])
    descriptors = len(list(pathlib.Path(f"/proc/{pid}/fd").iterdir()))
    return {"memory": memory, "threads": threads, "descriptors": descriptors}


def measure(cluster):
    """Of all daemons, once all are there."""
    assert cluster.wait_until(cluster.all_there, "daemons"), cluster.logs()
    return {daemon.name: figures_of(daemon.process.pid)
            for daemon in cluster.daemons}


def epochs_of(cluster, run):
    return sum(line["phase"] == "train"
               for line in cluster.lines(run, "metrics.jsonl"))


def await_epoch(cluster, run, epoch):
    assert cluster.wait_until(lambda: epochs_of(cluster, run) >= epoch,
                              f"epoch {epoch}", EPOCH_SECONDS), cluster.logs()


def least(many):
    """Of several measurements, each figure of each daemon."""
    return {name: {what: min(one[name][what] for one in many)
                   for what in figures}
            for name, figures in many[0].items()}


def train(cluster, definition, epochs, faults):
    """Returns figures from the fifth epoch on, and up to the last but one: the
    share of the run is still there then."""
    run = cluster.ask("submit", definition)["run"]
    early, late = [], []
    for epoch in range(1, epochs):
        await_epoch(cluster, run, epoch)
        if FIRST_EPOCHS <= epoch < FIRST_EPOCHS + SEEN_EPOCHS:
            early.append(measure(cluster))
        if epoch >= epochs - SEEN_EPOCHS:
            late.append(measure(cluster))
        if faults and epoch < epochs - 1:
            daemon, kind, more = faults[epoch % len(faults)]
            assert cluster.harm(daemon, kind, *more), cluster.logs()
    drill = chaos.Drill(cluster, definition, EPOCH_SECONDS)
    record = drill.await_end(run, EPOCH_SECONDS)
    assert record and record["state"] == "finished", record
    return least(early), least(late)


def growth(early, late):
    """By how many percent each figure of each daemon has grown."""
    return {(name, what): 100 * (late[name][what] / value - 1)
            for name, before in early.items()
            for what, value in before.items()}


def main():
    parser = ScriptOptions(__doc__)
    parser.add_argument("--epochs", type=int, default=50)
    parser.add_argument("--percent", type=float, default=1,
                        help="what a figure may grow by, beyond peace")
    given = parser.parse_args()
    if given.epochs < FIRST_EPOCHS + 2 * SEEN_EPOCHS:
        parser.error("--epochs must be at least "
                     f"{FIRST_EPOCHS + 2 * SEEN_EPOCHS}")
    with tempfile.TemporaryDirectory(prefix="graphmill-leaks-") as folder:
        top = pathlib.Path(folder)
        data = chaos.make_data(top)
        definition = top / "leaks.yaml"
        definition.write_text(json.dumps({
            "dataset": name_of(data),
            **merged(chaos.DEFINITION, {
                "train": {"epochs": given.epochs},
                "faults": {"trainer_delay_ms": STEP_MILLISECONDS},
                "placement": {"samplers": []}})}))
        layout = [share for share in chaos.layout_of(False)
                  if share[0] != "s"]
        grown = []
        for name, faults in (("peace", ()), ("faults", FAULTS)):
            with Supervised(top / name, data, layout) as cluster:
                early, late = train(cluster, definition, given.epochs, faults)
            grown.append(growth(early, late))
    peace, faults = grown
    bad = False
    for (name, what), percent in faults.items():
        in_peace = peace[name, what]
        too_much = percent - in_peace > given.percent
        bad = bad or too_much
        print(f"{name:3} {what:12} {early[name][what]:>12} "
              f"{late[name][what]:>12} {percent:+6.2f} %, in peace "
              f"{in_peace:+6.2f} %{'  GROWS' if too_much else ''}")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
