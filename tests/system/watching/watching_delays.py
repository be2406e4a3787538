#!/usr/bin/python3
"""How soon those who tell of a run tell the same, and the truth.

    python3 tests/system/watching/watching_delays.py build/actors/graphmill
        [--seconds 20]

Three daemons carry out a run whose part 1 is slow. `status`, the lines of `top`,
the page's document and /metrics are asked again and again, all at once: prints how
long it took, from the run's first step on, until each of them named the slow part,
and afterwards the longest time for which they did not agree on the state of every
actor. Then the daemon of part 2 is killed: prints how long it took until each of
them, and the screen of `top`, showed it as lost, and what events tell of its
recovery. What is asked: 2 s, and 3 s. Times have an error of some tenths of a
second, for a round of questions takes that long; on a machine that has much else to
do they are longer. Ends with 1 if somebody never tells it.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from clusters import Cluster
from over_http import get, told_at
from runs import PATIENCE_SECONDS, SMALL, merged, name_of, partitioned, small_rmat
from support import program
from told_states import states, states_in_lines, states_in_metrics
from top_captures import Captured

SLOW = merged(SMALL, {
    "train": {"epochs": 100000, "batch_size": 6},
    "evaluate": {"every": 1000},
    "placement": {"trainers": ["d0"]},
    "faults": {"sampling_service_delay_ms": 500, "daemons": ["d1"]},
})
LIMIT = 'sampling service of part 1 at daemon "d1"'
WHO = "d1", "sampling service 1"
LOST = re.compile(r'^graphmill_daemon_state{(?=.*daemon="d2")(?=.*state="lost")'
                  r".*} 1$", re.MULTILINE)


class Told:
    """What each of those tells of a run who are asked in a round."""

    def __init__(self, cluster, run, lines):
        self.cluster, self.run, self.lines = cluster, run, lines
        self.at = told_at(cluster.daemons[0], "the cluster")

    def ask(self):
        """States of all actors, and the sentence of the verdict, by who tells
        it; /metrics has no sentence, but shares of time."""
        done = self.cluster.call("status", self.run)
        status = json.loads(done.stdout.splitlines()[-1])
        code, text = get(self.at, f"/api/runs/{self.run}")
        page = json.loads(text) if code == 200 else {}
        found, busy = states_in_metrics(get(self.at, "/metrics")[1])
        lines, sentence = states_in_lines(self.lines.read_text())
        busiest = {who for who, share in busy.items() if share > 0.5}
        return {"status": self.of_document(status),
                "page": self.of_document(page),
                "metrics": (found, busiest == {WHO}),
                "top": (lines, LIMIT in sentence)}

    @staticmethod
    def of_document(told):
        if not told.get("daemons"):
            return {}, False
        return states(told), told["verdict"]["limit"] == LIMIT

    def losses(self, screen):
        """Who tells that d2 is lost."""
        listed = json.loads(get(self.at, "/api/status")[1])["daemons"]
        return {"status": self.cluster.states().get("d2") == "lost",
                "page": any(one["name"] == "d2" and one["state"] == "lost"
                            for one in listed),
                "metrics": bool(LOST.search(get(self.at, "/metrics")[1])),
                "top": bool(re.search(r"\nd2 +lost", screen.text()))}


def until_all(since, look, tell):
    """Prints when each of those of `look` has told it first, in seconds."""
    first = {}
    while time.monotonic() < since + PATIENCE_SECONDS:
        for who, has_told in look().items():
            if has_told and who not in first:
                first[who] = time.monotonic() - since
        if len(first) == 4:
            break
    print(f"{tell}: " + ", ".join(
        f"{who} {first[who]:.1f} s" if who in first else f"{who} never"
        for who in ("status", "page", "metrics", "top")), flush=True)
    return len(first) == 4


def watch_agreement(told, seconds):
    """Prints for how long at most not all told the same, and how often."""
    rounds, differing, longest, since = 0, 0, 0.0, None
    end = time.monotonic() + seconds
    while time.monotonic() < end or since is not None:
        seen = [found for found, _ in told.ask().values()]
        now = time.monotonic()
        rounds += 1
        if all(one == seen[0] for one in seen):
            since = None
        else:
            differing += 1
            since = since or now
            longest = max(longest, now - since)
            if now > end + PATIENCE_SECONDS:
                break
    print(f"states of {len(seen[0])} actors: {differing} of {rounds} rounds "
          f"differ, for {longest:.1f} s at the most; asked: 2 s", flush=True)
    return since is None


def lose_a_daemon(cluster, told):
    screen = Captured(cluster, 50, 160)
    try:
        cluster.wait_until(lambda: re.search(r"\nd2 +ready", screen.text()),
                           "d2 on the screen of top")
        cluster.daemons[2].kill()
        good = until_all(time.monotonic(), lambda: told.losses(screen),
                         "a daemon that was killed is lost (asked: 3 s)")
    finally:
        screen.end()
    cluster.add("2", name="d2")

    def kinds():
        done = cluster.call("events", told.run)
        return [json.loads(line)["kind"] for line in done.stdout.splitlines()]
    cluster.wait_until(lambda: "recovered" in kinds(), "recovery")
    print("events of the run: " + ", ".join(kinds()), flush=True)
    return good


def measure(cluster, top, seconds):
    file = top / "slow.yaml"
    file.write_text(json.dumps({"dataset": name_of(cluster.data), **SLOW}))
    run = cluster.ask("submit", file)["run"]
    lines = top / "top.txt"
    with lines.open("w") as out:
        printer = subprocess.Popen(
            [program(), "top", run, "--cluster", cluster.coordinator],
            stdout=out, stderr=out)
    try:
        told = Told(cluster, run, lines)
        cluster.wait_until(lambda: told.ask()["status"][0], "actors")
        good = until_all(
            time.monotonic(),
            lambda: {who: named for who, (_, named) in told.ask().items()},
            "the slow part is named")
        good = watch_agreement(told, seconds) and good
        return lose_a_daemon(cluster, told) and good
    finally:
        cluster.ask("cancel", run)
        printer.wait(PATIENCE_SECONDS)


def main():
    program()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=int, default=20,
                        help="of looking whether all agree")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="graphmill-delays-") as folder:
        top = pathlib.Path(folder)
        parts = partitioned(
            small_rmat(top / "rmat", scale=12, edges=24000, features=128), 3,
            "random")
        with Cluster(top / "cluster", parts, ["0", "1", "2"],
                     "--http", "127.0.0.1:0") as cluster:
            return 0 if measure(cluster, top, given.seconds) else 1


if __name__ == "__main__":
    raise SystemExit(main())
