#!/usr/bin/python3
"""How soon those who tell of a run tell the same, and the truth.

    python3 tests/system/watching/watching_delays.py build/actors/graphmill
        [--seconds 20]

Three daemons carry out a run whose part 1 is slow. `status`, the lines of `top`,
the page's document and /metrics are asked again and again, all at once: prints how
long it took, from the run's first step on, until each of them named the slow part.
Of another one, whose actors change all the time, it prints how long ago it was, at the
most, that the coordinator knew what each of them told as the state of every actor. Then the daemon of part 2 is killed: prints how long it took until each of
them, and the screen of `top`, showed it as lost, and what events tell of its
recovery. What is asked: 2 s, and 3 s. Times have an error of some tenths of a
second, for a round of questions takes that long; on a machine that has much else to
do they are longer. Ends with 1 if somebody never tells it.
"""

import argparse
import contextlib
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
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
# Nobody waits long for anybody: states change all the time.
CHANGING = merged(SLOW, {"faults": {"sampling_service_delay_ms": 0}})
LIMIT = 'sampling service of part 1 at daemon "d1"'
ASKED_SECONDS = 2
WHO = "d1", "sampling service 1"
LOST = re.compile(r'^graphmill_daemon_state{(?=.*daemon="d2")(?=.*state="lost")'
                  r".*} 1$", re.MULTILINE)


class Told:
    """What each of those tells of a run who are asked in a round."""

    def __init__(self, cluster, run, lines):
        self.cluster, self.run, self.lines = cluster, run, lines
        self.at = told_at(cluster.daemons[0], "the cluster")

    def ask(self):
        """By who tells it: states of all actors, whether it names the slow
        part, and when it was asked and had answered."""
        out = {}
        for who in "status", "page", "metrics", "top":
            asked = time.monotonic()
            out[who] = (*getattr(self, who)(), asked, time.monotonic())
        return out

    def status(self):
        done = self.cluster.call("status", self.run)
        return self.of_document(json.loads(done.stdout.splitlines()[-1]))

    def page(self):
        code, text = get(self.at, f"/api/runs/{self.run}")
        return self.of_document(json.loads(text) if code == 200 else {})

    def metrics(self):
        """Which has no sentence, but shares of time."""
        found, busy = states_in_metrics(get(self.at, "/metrics")[1])
        return found, {who for who, share in busy.items()
                       if share > 0.5} == {WHO}

    def top(self):
        lines, sentence = states_in_lines(self.lines.read_text())
        return lines, LIMIT in sentence

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


class Known(threading.Thread):
    """What the coordinator knew of the states of each daemon's actors, and from
    when to when, as its own document tells it many times a second. Reports of
    daemons come once a second, each at its own moment."""

    def __init__(self, told):
        super().__init__()
        self.told = told
        self.over = threading.Event()
        self.spans = {}  # By daemon: [[states, first seen, last seen]].
        self.failed = None

    def run(self):
        try:
            while not self.over.wait(0.05):
                code, text = get(self.told.at, f"/api/runs/{self.told.run}")
                if code == 200:
                    self.take(states(json.loads(text)), time.monotonic())
        except (OSError, ValueError) as reason:
            self.failed = reason

    def take(self, found, now):
        for daemon, own in by_daemon(found).items():
            spans = self.spans.setdefault(daemon, [])
            if spans and spans[-1][0] == own:
                spans[-1][2] = now
            else:
                spans.append([own, now, now])

    def age(self, found, asked, answered):
        """For how long what somebody has told had been over when it was told:
        0 if it was so between question and answer; infinite: it never was."""
        return max(self.age_of(daemon, own, asked, answered)
                   for daemon, own in by_daemon(found).items())

    def age_of(self, daemon, own, asked, answered):
        def latest(is_told):
            # A question takes its time, and so does the next look.
            return min((max(asked - last, 0.0)
                        for was, first, last in self.spans.get(daemon, [])
                        if first <= answered + 1 and is_told(was)),
                       default=math.inf)
        together = latest(lambda was: was == own)
        if together < math.inf:
            return together
        # Of two reports in a moment the looks see one: then each by itself.
        return max(latest(lambda was, who=who: was.get(who) == own[who])
                   for who in own)


def by_daemon(found):
    out = {}
    for (daemon, title), state in found.items():
        out.setdefault(daemon, {})[title] = state
    return out


def watch_agreement(told, seconds):
    """Prints how old the states were, at the most, that each has told."""
    known = Known(told)
    known.start()
    rounds = []
    try:
        time.sleep(3)  # What is told first may be from before.
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            rounds.append(told.ask())
        time.sleep(1)
    finally:
        known.over.set()
        known.join()
    if known.failed:
        raise known.failed
    actors = max(len(found) for found, *_ in rounds[-1].values())
    changes = sum(len(spans) - 1 for spans in known.spans.values())
    print(f"states of {actors} actors, of which reports changed some {changes} "
          f"times, {len(rounds)} rounds; behind what the coordinator knew, at "
          f"the most (asked: {ASKED_SECONDS} s):", flush=True)
    good = True
    for who in rounds[0]:
        ages = [known.age(found, *when) for found, _, *when in
                (told_by[who] for told_by in rounds) if found]
        good = good and ages and max(ages) <= ASKED_SECONDS
        print(f"  {who}: {max(ages, default=math.nan):.1f} s, "
              f"{sum(age > 0 for age in ages)} of {len(ages)} not of the moment",
              flush=True)
    return good


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


@contextlib.contextmanager
def watched(cluster, top, definition):
    """A run that is on, and who tells of it."""
    file = top / "run.yaml"
    file.write_text(json.dumps({"dataset": name_of(cluster.data), **definition}))
    run = cluster.ask("submit", file)["run"]
    lines = top / "top.txt"
    with lines.open("w") as out:
        printer = subprocess.Popen(
            [program(), "top", run, "--cluster", cluster.coordinator],
            stdout=out, stderr=out)
    try:
        told = Told(cluster, run, lines)
        cluster.wait_until(lambda: told.ask()["status"][0], "actors")
        yield told
    finally:
        cluster.ask("cancel", run)
        printer.wait(PATIENCE_SECONDS)


def measure(cluster, top, seconds):
    with watched(cluster, top, SLOW) as told:
        good = until_all(
            time.monotonic(),
            lambda: {who: named for who, (_, named, *_) in told.ask().items()},
            "the slow part is named")
    with watched(cluster, top, CHANGING) as told:
        good = watch_agreement(told, seconds) and good
        return lose_a_daemon(cluster, told) and good


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
