#!/usr/bin/python3
"""Says whether a daemon that was stopped for long does harm when it wakes up.

    python3 tests/system/stops.py build/actors/graphmill [--seconds 1 10 60]

In the middle of a run a trainer's daemon is stopped for so long by `graphmill
chaos`. Where the cluster takes it for lost meanwhile, another one is started under
its name at another address, as a supervisor on another machine would do it, and
runs follow each other until one was on when the old daemon woke up, and one has
begun after that. Each run must finish with the digest of the undisturbed run and
with each training seed once in each epoch; the old daemon must be awake again by
the end, or have ended by itself; and the cluster must have one daemon of the name,
the new one, which is ready. Ends with 1 if not.
"""

import json
import pathlib
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "support"))
sys.path.insert(0, str(HERE))
import chaos
from runs import merged, name_of
from supervised import Supervised, is_stopped
from support import ScriptOptions

LIMIT_SECONDS = 120
TARGET = "t1"


def ends_badly(drill, run, seconds):
    """What is wrong with a run at its end, or None."""
    return drill.what_is_wrong(run, drill.await_end(run, seconds))


def train_past_awakening(drill, old, seconds):
    """Trains until the old daemon is awake, and once more; returns what went
    wrong, or None."""
    deadline = time.monotonic() + seconds
    awake = False
    while not awake:
        awake = not is_stopped(old)
        if not awake and time.monotonic() > deadline:
            return "it did not wake up"
        wrong = ends_badly(drill, drill.submit(), LIMIT_SECONDS)
        if wrong:
            return wrong
    return None


def names_only(cluster, daemon):
    """Whether the daemons of its name are this one alone, ready."""
    now = cluster.answer("status") or {"daemons": []}
    return [(one["address"], one["state"]) for one in now["daemons"]
            if one["name"] == daemon.name] == [(daemon.address(), "ready")]


def fate_of(old, replaced):
    code = old.process.poll()
    if code is not None:
        return f"has ended with {code}, for its name was taken"
    return "waits for its name" if replaced else "has gone on"


def stop(drill, seconds):
    """Returns what went wrong, or nothing, and what became of the daemon."""
    cluster = drill.cluster
    run = drill.submit()
    cluster.wait_until(lambda: chaos.trained(cluster, run), "first step",
                       LIMIT_SECONDS)
    old = cluster.daemon(TARGET)
    if not cluster.harm(TARGET, "stop", "--lasts", round(1000 * seconds)):
        return "nobody took the order to stop it", ""
    if not cluster.wait_until(lambda: cluster.is_stopped(TARGET), "stop", 30):
        return "it was not stopped", ""
    cluster.wait_until(
        lambda: cluster.states().get(TARGET) == "lost"
        or not cluster.is_stopped(TARGET), "loss or end of the stop",
        seconds + 30)
    replaced = cluster.states().get(TARGET) == "lost"
    if replaced:
        cluster.replace(TARGET, "none", "--slots", "1")
    wrong = ends_badly(drill, run, seconds + LIMIT_SECONDS)
    if not wrong and replaced:
        wrong = train_past_awakening(drill, old, seconds + LIMIT_SECONDS)
    awake = cluster.wait_until(lambda: not is_stopped(old), "awakening",
                               seconds + 30)
    whole = cluster.wait_until(
        lambda: cluster.all_there()
        and names_only(cluster, cluster.daemon(TARGET)), "daemons",
        LIMIT_SECONDS)
    if not wrong and not awake:
        wrong = "it did not wake up"
    if not wrong and not whole:
        wrong = f"the cluster is not whole: {cluster.answer('status')}"
    return wrong, fate_of(old, replaced)


def main():
    parser = ScriptOptions(__doc__)
    parser.add_argument("--seconds", type=float, nargs="+",
                        default=[1, 10, 60])
    given = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory(prefix="graphmill-stops-") as folder:
        top = pathlib.Path(folder)
        data = chaos.make_data(top)
        definition = top / "stops.yaml"
        definition.write_text(json.dumps({
            "dataset": name_of(data),
            **merged(chaos.DEFINITION, {"placement": {"samplers": []}})}))
        layout = [share for share in chaos.layout_of(False)
                  if share[0] != "s"]
        with Supervised(top / "cluster", data, layout) as cluster:
            drill = chaos.Drill(cluster, definition, LIMIT_SECONDS)
            drill.undisturbed()
            for seconds in given.seconds:
                wrong, fate = stop(drill, seconds)
                bad += wrong is not None
                print(f"stopped for {seconds} s: "
                      + (wrong or f"no harm; it {fate}"), flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
