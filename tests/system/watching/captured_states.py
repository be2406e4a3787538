"""A real cluster, brought into each of the states that its user must tell
apart, to be captured in it."""

import json
import os
import signal

from runs import SMALL, merged, name_of

STATES = ("idle", "training", "starved", "finished", "lost", "recovering",
          "failed")
LONG = merged(SMALL, {"train": {"epochs": 100000}, "checkpoint": {"keep": 0},
                      "trainer": {"replicas": 2}})
SLOW = merged(LONG, {"faults": {"reply_delay_ms": 40}})
FRAGILE = merged(LONG, {"recovery": {"wait": 0}})


def submit(cluster, top, definition):
    file = top / "definition.yaml"
    file.write_text(json.dumps({"dataset": name_of(cluster.data), **definition}))
    return cluster.ask("submit", file)["run"]


def end(cluster, run):
    cluster.ask("cancel", run)
    cluster.wait_until(
        lambda: cluster.ask("runs", run)["runs"][0]["state"] == "cancelled",
        "end of a run")


def begin_and_lose(cluster, top, definition, how):
    """The last daemon, by a signal, while the run is on; returns the run's id."""
    run = submit(cluster, top, definition)
    cluster.wait_until(
        lambda: cluster.ask("status", run)["state"] == "running", "run")
    os.kill(cluster.daemons[-1].process.pid, how)
    return run


def in_each_state(cluster, top, capture):
    """Calls `capture(state)` for each of STATES, while or soon before the cluster
    is in it.

    @param cluster A fresh one, of which each daemon serves the part of its number.
    @param top A folder for definitions."""
    count = len(cluster.daemons)
    capture("idle")
    run = submit(cluster, top, LONG)
    capture("training")
    end(cluster, run)
    run = submit(cluster, top, SLOW)
    capture("starved")
    end(cluster, run)
    submit(cluster, top, SMALL)
    capture("finished")
    run = begin_and_lose(cluster, top, LONG, signal.SIGSTOP)
    capture("lost")
    cluster.daemons[-1].kill()
    capture("recovering")
    cluster.add(str(count - 1), name=f"d{count - 1}")
    cluster.await_daemons(count)
    end(cluster, run)
    begin_and_lose(cluster, top, FRAGILE, signal.SIGKILL)
    capture("failed")
