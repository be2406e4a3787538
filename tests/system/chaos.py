#!/usr/bin/python3
"""Kills daemons at chosen moments of runs, by seeded plans, and says in a table
whether the runs went on.

    python3 tests/system/chaos.py build/actors/graphmill [--plans 100]
        [--seed 1] [--json]

A plan is a kind of daemon (a row) and a moment of a run (a column). A daemon that
is at that moment, the witness, is stopped there by `graphmill chaos`; meanwhile
the daemon of the plan gets SIGKILL, and then the witness goes on. Whoever is dead
is started again, as systemd would do it; a coordinator that has a stand-in waits
for its turn then, as the next stand-in. A plan passes if the run finishes within
--limit seconds, with the digest of the undisturbed run, and with each training
seed exactly once in each epoch. If the moment did not come, nobody was killed:
such a plan is "not reached", and has not passed; it has failed if its run has not
ended well. Each cell of the table has passed/plans, of those whose moment came, and
the longest time, in seconds, from the kill to the next training step, in which the
witness still stands still for up to 0.6 s, and what is left of start-up or
evaluation is done; then how
many were not reached; "-" where no plan was made. Below it stands who was slower,
in the midst of training, than what is promised: with a replica 1 s, a trainer or a
coordinator that is started again 3 s, a stand-in 10 s. Ends with 1 if a plan
failed, or if more than a fifth was not reached.
"""

import collections
import json
import pathlib
import random
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "support"))
from runs import name_of, partitioned, small_rmat
from supervised import RESTART_SECONDS, Supervised
from support import ScriptOptions

# Row: who is killed, and whether it is a cluster with replicas of the parts, and
# with a stand-in for the coordinator.
KINDS = {
    "sampler": ("s", False, False),
    "owner": ("o1", False, False),
    "owner, replica": ("o1", True, False),
    "trainer": ("t1", False, False),
    "coordinator": ("c", False, False),
    "coordinator, stand-in": ("c", False, True),
}

# Column: who is stopped at the moment; "c" is whoever leads.
WITNESSES = {
    "start_up": "t0",
    "filling_caches": "t0",
    "mid_epoch": "t0",
    "exchange": "t0",
    "checkpoint": "c",
    "epoch_edge": "t0",
    "evaluation": "t0",
    "drain": "t0",
}

# These come once in a run, before any step: they are armed before it.
EARLY = ("start_up", "filling_caches")

STOP_MILLISECONDS = 600
# Of a witness that nobody was in time to see stopped.
LONG_STOP_MILLISECONDS = 4000

# How soon training steps are to come again after the loss in the midst of
# training, in seconds; a coordinator that is started again has to come back first.
SOON = {"owner, replica": 1, "trainer": 3, "coordinator": 3,
        "coordinator, stand-in": 10}
IN_THE_MIDST = ("mid_epoch", "exchange", "checkpoint", "epoch_edge")

# What came of a plan.
PASSED, FAILED, NOT_REACHED = "passed", "failed", "not reached"

# More plans than that, of all, must not miss their moments.
MOST_NOT_REACHED = 0.2

DEFINITION = {
    "seed": 7,
    "sampler": {"fanouts": [3, 2]},
    "model": {"kind": "sage", "hidden": 8, "dropout": 0.3},
    "train": {"batch_size": 16, "epochs": 5, "record_steps": True},
    "evaluate": {"batch_size": 64},
    "trainer": {"replicas": 2},
    "fetch": {"cache": "64 KiB"},
    "placement": {"trainers": ["t0", "t1"], "samplers": ["s"], "owners": 2},
    "checkpoint": {"every_steps": 5},
    "faults": {"trainer_delay_ms": 120},
}


def layout_of(replica):
    """The daemons: name, parts, options."""
    only_data = ("--slots", "0")
    out = [("c", "none", *only_data), ("o0", "0", *only_data),
           ("o1", "1", *only_data), ("t0", "none", "--slots", "1"),
           ("t1", "none", "--slots", "1"), ("s", "none", *only_data)]
    if replica:
        out.append(("o2", "0,1", *only_data))
    return out


class Plan:
    """What is killed, when; `pause` is how long after the first step the moment
    is waited for, of moments that come often. `early`: it is waited for before
    there is a run, and the witness stops for long, so that it cannot be
    missed."""

    def __init__(self, kind, moment, pause, early=False):
        self.kind, self.moment, self.pause = kind, moment, pause
        self.stop = LONG_STOP_MILLISECONDS if early else STOP_MILLISECONDS
        self.early = early or moment in EARLY
        self.target, self.replica, self.stand_in = KINDS[kind]


def make_plans(count, seed):
    """Every cell once, in an order of the seed, then every cell again."""
    draws = random.Random(seed)
    cells = [(kind, moment) for kind in KINDS for moment in WITNESSES]
    out = []
    while len(out) < count:
        draws.shuffle(cells)
        out += [Plan(kind, moment, draws.uniform(0, 0.5))
                for kind, moment in cells]
    return out[:count]


def seeds_once(steps):
    """Whether each training seed stands exactly once in each epoch, and each
    epoch has the same ones."""
    epochs = collections.defaultdict(list)
    for line in steps:
        if line["phase"] == "train":
            epochs[line["epoch"]] += line["seeds"]
    wanted = set(next(iter(epochs.values()), []))
    return (len(epochs) == DEFINITION["train"]["epochs"] and bool(wanted)
            and all(len(found) == len(set(found)) and set(found) == wanted
                    for found in epochs.values()))


def trained(cluster, run):
    """The training steps on record, as (epoch, step, rank)."""
    return {(line["epoch"], line["step"], line["rank"])
            for line in cluster.lines(run, "steps.jsonl")
            if line["phase"] == "train"}


class Drill:
    """Carries out plans on one cluster."""

    def __init__(self, cluster, definition, limit):
        self.cluster, self.definition, self.limit = cluster, definition, limit
        self.digest = None

    def submit(self):
        """Returns the id of a new run."""
        found = []

        def taken():
            answer = self.cluster.answer("submit", self.definition)
            found.extend([answer["run"]] if answer else [])
            return found
        if not self.cluster.wait_until(taken, "run", self.limit):
            raise RuntimeError("no run is taken\n" + self.cluster.logs())
        return found[0]

    def await_end(self, run, seconds):
        """The record of a run that is over; None if it is not in time."""
        last = []

        def over():
            record = self.cluster.record(run)
            if record and record["state"] in ("finished", "failed",
                                              "cancelled"):
                last.append(record)
            return last
        self.cluster.wait_until(over, "end of the run", seconds)
        return last[0] if last else None

    def undisturbed(self):
        """Trains once in peace, for the digest that all others must have."""
        record = self.await_end(self.submit(), self.limit)
        assert record and record["state"] == "finished", record
        self.digest = record["summary"]["digest"]

    def named(self, name):
        """The name of a daemon; the coordinator may be the stand-in by now."""
        return self.cluster.leader() if name == "c" else name

    def arm(self, plan, witness):
        return self.cluster.harm(witness, "stop", "--at", plan.moment,
                                 "--lasts", plan.stop)

    def begin(self, plan):
        """Submits a run and has the witness stop at the moment; returns the run,
        the witness, and whether the moment came."""
        cluster = self.cluster
        witness = self.named(WITNESSES[plan.moment])
        armed = plan.early and self.arm(plan, witness)
        run = self.submit()
        if not plan.early:
            cluster.wait_until(lambda: trained(cluster, run), "first step",
                               self.limit)
            time.sleep(plan.pause)
            armed = self.arm(plan, witness)
        came = armed and cluster.wait_until(
            lambda: cluster.is_stopped(witness) or self.has_ended(run),
            "moment", self.limit / 2)
        return run, witness, bool(came and cluster.is_stopped(witness))

    def has_ended(self, run):
        return (self.cluster.folder / "runs" / run / "summary.json").exists()

    def carry_out(self, plan):
        """Returns what came of it, as a dictionary."""
        cluster = self.cluster
        out = {"kind": plan.kind, "moment": plan.moment, "outcome": FAILED}
        if not cluster.wait_until(cluster.all_there, "daemons", self.limit):
            return {**out, "why": "the cluster did not become whole before"}
        began = time.monotonic()
        target = self.named(plan.target)
        run, witness, came = self.begin(plan)
        out["run"] = run
        before = trained(cluster, run)
        killed = time.monotonic()
        if came:
            cluster.kill(target)
            # One that was killed after its last step has no further one.
            cluster.wait_until(
                lambda: trained(cluster, run) - before or self.has_ended(run),
                "next step", self.limit / 2)
            out["seconds"] = time.monotonic() - killed
        left = self.limit - (time.monotonic() - began)
        wrong = self.what_is_wrong(run, self.await_end(run, max(left, 1)))
        if wrong:
            out["why"] = wrong
        if not came:
            self.disarm(witness)
        if wrong:
            return out
        return {**out, "outcome": PASSED if came else NOT_REACHED}

    def what_is_wrong(self, run, record):
        """A sentence about a run that is not as the undisturbed one; else
        None."""
        if record is None:
            return f"it hangs after {self.limit} s"
        if record["state"] != "finished":
            return f"{record['state']}: {record['message']}"
        if record["summary"]["digest"] != self.digest:
            return "it has another digest"
        if not seeds_once(self.cluster.lines(run, "steps.jsonl")):
            return "seeds were lost, or came twice"
        return None

    def disarm(self, witness):
        """Starts a daemon anew that waits for a moment still: it would stop in
        a later run."""
        daemon = self.cluster.daemon(witness)
        before = daemon.process
        self.cluster.kill(witness)
        self.cluster.wait_until(
            lambda: daemon.process is not before
            and (daemon.ready.exists() or witness in self.cluster.leaders),
            "successor of the witness", self.limit)


def make_data(top):
    return partitioned(
        small_rmat(top / "rmat", scale=8, edges=1500, train=0.4,
                   validation=0.1, test=0.1), 2, "random")


def carry_out_all(plans, top, limit, tell, again=False):
    """Carries plans out, those of one cluster after each other; if a moment did
    not come, `again`, so that it is not missed."""
    data = make_data(top)
    results = []
    for name, replica, stand_in in (("plain", False, False),
                                    ("replicas", True, False),
                                    ("stand-in", False, True)):
        own = [plan for plan in plans
               if (plan.replica, plan.stand_in) == (replica, stand_in)]
        if not own:
            continue
        definition = top / f"{name}.yaml"
        definition.write_text(
            json.dumps({"dataset": name_of(data), **DEFINITION}))
        with Supervised(top / name, data, layout_of(replica),
                        stand_in) as cluster:
            drill = Drill(cluster, definition, limit)
            drill.undisturbed()
            for plan in own:
                result = drill.carry_out(plan)
                if again and result["outcome"] == NOT_REACHED:
                    tell(result)
                    result = drill.carry_out(
                        Plan(plan.kind, plan.moment, plan.pause, early=True))
                results.append(result)
                tell(results[-1])
    return results


def count(results, outcome):
    return sum(one["outcome"] == outcome for one in results)


def all_is_well(results):
    """Whether no plan failed, and enough of them came to their moments."""
    return (count(results, FAILED) == 0 and count(results, NOT_REACHED)
            <= MOST_NOT_REACHED * len(results))


def cell_of(results):
    """What the table says of the plans of one kind and moment."""
    missed = count(results, NOT_REACHED)
    reached = len(results) - missed
    said = []
    if reached:
        slowest = max(one.get("seconds", 0) for one in results)
        said.append(f"{count(results, PASSED)}/{reached} {slowest:.1f}")
    if missed:
        said.append(NOT_REACHED if missed == 1 else f"{missed} {NOT_REACHED}")
    return ", ".join(said) or "-"


def table_of(results):
    """The table as lines of text."""
    cells = collections.defaultdict(list)
    for one in results:
        cells[one["kind"], one["moment"]].append(one)
    rows = [["", *WITNESSES]]
    for kind in KINDS:
        rows.append([kind] + [cell_of(cells[kind, moment])
                              for moment in WITNESSES])
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width
                               in zip(row, widths)).rstrip() for row in rows)


def late(results):
    """A line for each plan that was slower than promised, but for the time in
    which the witness stood still and the dead one was not started again."""
    spared = STOP_MILLISECONDS / 1000 + RESTART_SECONDS
    return [f"late: {one['kind']} at {one['moment']}: {one['seconds']:.1f} s, "
            f"where {SOON[one['kind']]} s and {spared:.1f} s are allowed"
            for one in results
            if one["kind"] in SOON and one["moment"] in IN_THE_MIDST
            and one.get("seconds", 0) > SOON[one["kind"]] + spared]


def main():
    parser = ScriptOptions(__doc__)
    parser.add_argument("--plans", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=60,
                        help="seconds for one run")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    plans = make_plans(given.plans, given.seed)

    def tell(one):
        why = f": {one['why']}" if "why" in one else ""
        print(f"{one['kind']} at {one['moment']}: {one['outcome']}{why}",
              file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(prefix="graphmill-chaos-") as folder:
        results = carry_out_all(plans, pathlib.Path(folder), given.limit, tell)
    if given.json:
        print(json.dumps(results))
    else:
        print("\n".join([table_of(results), *late(results)]))
    return 0 if all_is_well(results) else 1


if __name__ == "__main__":
    raise SystemExit(main())
