"""What a coordinator tells of its cluster over HTTP, as JSON and as a stream:
the same as commands tell, what it was like before, and what has happened."""

import http.client
import json
import pathlib
import re
import sys
import time
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from clusters import PATIENCE_SECONDS, ClusterWorkplace
from over_http import get, told_at
from runs import SMALL, merged
from support import ROOT, program

PAGE = ROOT / "actors" / "http" / "page"
# Slow, so that it does not write a checkpoint all the time.
ENDLESS = merged(SMALL, {"train": {"epochs": 100000},
                         "trainer": {"replicas": 2},
                         "placement": {"trainers": ["d0", "d1"]},
                         "faults": {"reply_delay_ms": 40}})


class Stream:
    """An open /api/stream."""

    def __init__(self, address, **headers):
        self.connection = http.client.HTTPConnection(
            address, timeout=PATIENCE_SECONDS)
        self.connection.request("GET", "/api/stream", headers=headers)
        self.answer = self.connection.getresponse()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def tick(self):
        """The id and the data of the next tick."""
        fields = {}
        while True:
            line = self.answer.readline().decode().rstrip("\n")
            if line:
                name, _, value = line.partition(": ")
                fields[name] = value
            else:
                assert fields["event"] == "tick", fields
                return fields["id"], json.loads(fields["data"])

    def tick_with(self, wanted):
        """The data of the first tick of which something is wanted."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            _, data = self.tick()
            found = wanted(data)
            if found:
                return found
            assert time.monotonic() < deadline, data


class Api(ClusterWorkplace):
    def cluster(self):
        made = super().cluster(["0", "1"], "--http", "127.0.0.1:0")
        return made, told_at(made.daemons[0], "the cluster")

    def read(self, at, path):
        status, text = get(at, path)
        self.assertEqual(status, 200, text)
        return json.loads(text)

    def events(self, at, kind):
        return [event for event in self.read(at, "/api/events")["events"]
                if event["kind"] == kind]

    def test_a_cluster_without_a_run(self):
        cluster, at = self.cluster()

        def told():
            """What HTTP may tell: not where data lie."""
            status = cluster.status()
            for daemon in status["daemons"]:
                self.assertTrue(daemon["data"])
                daemon["data"] = ""
            return status
        cluster.wait_until(
            lambda: get(at, "/api/status")[0] == 200
            and self.read(at, "/api/status") == told(),
            "status over HTTP that is that of the command")
        cluster.wait_until(
            lambda: {"d0", "d1"} <= {event["who"] for event
                                     in self.events(at, "joined")},
            "events of both daemons")
        first = self.read(at, "/api/history")["next"]
        cluster.wait_until(
            lambda: self.read(at, "/api/history")["next"] >= first + 2,
            "history that grows")
        later = self.read(at, f"/api/history?since={first}")
        self.assertFalse(later["more"])
        self.assertEqual(later["runs"], {})
        self.assertEqual(set(later["daemons"]), {"d0", "d1"})
        for of in later["daemons"].values():
            self.assertEqual(len(of["rows"]), later["next"] - first)
            row = dict(zip(of["fields"], of["rows"][-1]))
            self.assertEqual(row["time"], later["now"])
            self.assertEqual(row["state"], "ready")
        self.assertEqual(get(at, "/api/history?since=x")[0], 400)
        self.assertEqual(get(at, "/api/runs/none")[0], 404)
        self.assertEqual(get(at, "/api/stream", "POST")[0], 405)
        self.assertEqual(get(at, "/api/none")[0], 404)
        index = (PAGE / "index.html").read_text()
        self.assertEqual(get(at, "/"), (200, index))
        wanted = set(re.findall(r'"/page/([^"]+)"', index))
        self.assertTrue(wanted)
        modules = {path.relative_to(PAGE).as_posix()
                   for path in PAGE.rglob("*.js")}
        self.assertIn("data/store.js", modules)
        for name in wanted | modules | {"index.html"}:
            self.assertEqual(get(at, f"/page/{name}"),
                             (200, (PAGE / name).read_text()))
        for name in ("", "data", "data/", "store.js", "data/page.js",
                     "data/../page.js", "data/../../page.js",
                     "data/..%2fpage.js", "data//store.js", "./data/store.js",
                     "/data/store.js", "data/meson.build", "embed.py"):
            self.assertEqual(get(at, f"/page/{name}")[0], 404, name)
        cluster.daemons[1].kill()
        cluster.wait_until(
            lambda: {event["who"] for event in self.events(at, "lost")}
            == {"d1"}, "event of the loss")

    def test_a_run(self):
        cluster, at = self.cluster()
        with Stream(at) as stream:
            self.assertEqual(stream.answer.getheader("Content-Type"),
                             "text/event-stream")
            begin, _ = stream.tick()
            run = cluster.ask("submit",
                              self.write(ENDLESS, self.parts))["run"]
            of_run = stream.tick_with(
                lambda data: next(
                    (of for name, of in data["history"]["runs"].items()
                     if of["rows"][-1][1] and "trainer" in of["stages"]),
                    None))
            row = dict(zip(of_run["fields"], of_run["rows"][-1]))
            self.assertEqual(row["epochs"], 100000)
            self.assertIn(row["phase"], ("train", "validation", "test"))
        cluster.wait_until(lambda: self.events(at, "checkpoint"),
                           "event of a checkpoint")
        self.assertEqual(
            {event["run"] for event in self.events(at, "checkpoint")}, {run})
        self.assertEqual([event["run"] for event
                          in self.events(at, "started")], [run])
        told = self.read(at, f"/api/runs/{run}")
        self.assertEqual(told["state"], "running")
        shown = cluster.call("status", run).stdout.splitlines()[-1]
        self.assertEqual(set(told), set(json.loads(shown)))
        # Who was away since the begin hears of all that it has missed.
        with Stream(at, **{"Last-Event-ID": begin}) as stream:
            _, data = stream.tick()
            self.assertIn(run, data["history"]["runs"])
            self.assertIn("started", {event["kind"] for event
                                      in data["events"]["events"]})
        cluster.wait_until(
            lambda: {"d0", "d1"} == {
                one["daemon"] for one
                in self.read(at, f"/api/runs/{run}")["daemons"]},
            "figures of both daemons")

        def there(path):
            return ({"sampler", "fetcher", "batcher", "trainer"}
                    <= {actor["kind"]
                        for actor in self.read(at, path)["actors"]})
        paths = [f"/api/actors?run={run}&daemon={daemon}"
                 for daemon in ("d0", "d1")]
        for path in paths:
            cluster.wait_until(lambda: there(path), f"actors at {path}")
        cluster.ask("cancel", run)
        cluster.wait_until(lambda: self.events(at, "ended"),
                           "event of the run's end")
        self.assertTrue(self.events(at, "ended")[0]["text"]
                        .startswith("cancelled"))
        self.assertEqual(self.read(at, f"/api/runs/{run}"),
                         cluster.ask("status", run))
        self.assertEqual(self.read(at, "/api/runs"), cluster.ask("runs"))
        # How its actors were can still be seen.
        for path in paths:
            self.assertTrue(there(path), path)
            past = self.read(at, path)
            for actor in past["actors"]:
                for row in actor["rows"]:
                    at_time = dict(zip(past["fields"], row))
                    self.assertLess(sum(at_time[share] for share in (
                        "busy", "starved", "stalled", "waiting", "down")),
                        1.02, actor)
        cluster.ask("stop", "d1")
        self.assertEqual([event["who"] for event in self.events(at, "left")],
                         ["d1"])


if __name__ == "__main__":
    program()
    unittest.main(verbosity=2)
