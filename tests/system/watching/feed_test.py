"""A loader in Python on a cluster is told of like a run of training: by `top`, the
page of metrics, the data of the web page, `trace`, and the audit log."""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import trace_test
from clusters import PATIENCE_SECONDS, ClusterWorkplace
from metrics_test import values
from over_http import get, told_at
from support import ROOT, program

sys.path.insert(0, str(ROOT / "actors/python"))
os.environ["GRAPHMILL_BIN"] = str(pathlib.Path(program()).parent)
import graphmill  # noqa: E402

EPOCHS = 2
# What makes batches at the loader's daemon: each of them has had all batches.
STAGES = ("sampler", "fetcher", "batcher", "trainer", "dispatcher")


class Feed(ClusterWorkplace):
    def test_a_loader_is_told_of(self):
        self.running = self.cluster(["0", "1"], "--http", "127.0.0.1:0")
        self.at = told_at(self.running.daemons[0], "the cluster")
        with graphmill.Loader(
                self.running.coordinator, [4, 3], batch_size=9, as_="numpy",
                data=self.parts, timeout=float(PATIENCE_SECONDS)) as loader:
            keys = [batch.key for _ in range(EPOCHS) for batch in loader]
            self.steps = len(loader)
            status = self.running.status()
            self.run_id = status["running"]
            self.taker, = {one["name"] for one in status["daemons"]} - {
                "d0", "d1"}
            self.assertRegex(self.taker, r"/feed-.*-\d+$")
            self.assertEqual(len(keys), EPOCHS * self.steps)
            self.check_page(len(keys))
            self.check_metrics(len(keys))
            self.check_trace(keys)
            told = self.started_top()
            self.check_steps(loader)
        self.check_end(told)
        self.check_audit()

    def read(self, path):
        status, text = get(self.at, path)
        self.assertEqual(status, 200, text)
        return json.loads(text)

    def items(self):
        """How much the loader's actors have done, by kind, as far as the page
        knows: nothing of a run that has just begun."""
        status, text = get(self.at, f"/api/runs/{self.run_id}")
        daemons = json.loads(text)["daemons"] if status == 200 else []
        return {actor["kind"]: actor["items"] for daemon in daemons
                if daemon["daemon"] == self.taker
                for actor in daemon["actors"] if actor["kind"] in STAGES}

    def check_page(self, batches):
        self.running.wait_until(
            lambda: self.items() == dict.fromkeys(STAGES, batches),
            f"{batches} batches of each of {STAGES}")
        told = self.read(f"/api/runs/{self.run_id}")
        self.assertEqual((told["feeds"], told["state"], told["trainers"]),
                         (True, "running", 1))
        self.assertEqual(self.read("/api/runs")["runs"][0]["run"], self.run_id)
        self.assertIn(self.run_id, self.read("/api/history")["runs"])

    def metric(self, name):
        return values(get(self.at, "/metrics")[1], name)

    def check_metrics(self, batches):
        of = f'daemon="{self.taker}",actor='

        def items():
            return self.metric("graphmill_actor_items_total")
        self.running.wait_until(
            lambda: items().get(f'{of}"trainer",rank="0"') == batches,
            "metrics of batches that were taken")
        for stage in STAGES:
            name = of + f'"{stage}"' + ',rank="0"' * (stage == "trainer")
            self.assertEqual(items()[name], batches, stage)
        name = self.run_id.rsplit("-", 2)[0]
        self.assertEqual(self.metric("graphmill_run_info"),
                         {f'run="{self.run_id}",name="{name}"': 1})
        self.assertEqual(self.metric("graphmill_run_feeds"), {"": 1})
        self.assertEqual(self.metric("graphmill_runs_running"), {"": 1})
        for kind in "slots", "parts":
            self.assertEqual(self.metric(f"graphmill_daemon_{kind}")[
                f'daemon="{self.taker}"'], 0)

    def check_trace(self, keys):
        """Every batch goes from its sampler to the loop, at the loader's daemon."""
        out = self.top / "feed.json"
        told = self.running.ask("trace", self.run_id, *trace_test.ALL,
                                "--out", out)
        self.assertEqual((told["run"], told["daemons"], told["missing"]),
                         (self.run_id, 3, []))
        trace = trace_test.TraceFile(out)
        trace_test.Traces.check(self, trace)
        self.assertEqual(set(trace.processes.values()),
                         {"d0", "d1", self.taker})
        batches, taken = [], 0
        for way in trace.ways("batch"):
            stages = [trace.kind(span) for span in way]
            self.assertEqual(stages[:3], ["sampler", "fetcher", "batcher"])
            # One that is handed out while the loop has another has no span there.
            self.assertIn(stages[3:], (["trainer"], []))
            taken += len(stages[3:])
            self.assertEqual({trace.daemon(span) for span in way},
                             {self.taker})
            at, = set(map(trace_test.batch_of, way))
            batches.append(at)
        self.assertGreater(taken, 0)
        # Viewers count from 1.
        self.assertEqual(sorted(batches), [
            ("train", key.epoch + 1, key.step + 1, 0) for key in keys])

    def check_steps(self, loader):
        """A trace of the next steps ends with them, while the loop goes on."""
        with concurrent.futures.ThreadPoolExecutor(1) as thread:
            asked = thread.submit(
                self.running.ask, "trace", self.run_id, "--steps", 3, "--out",
                self.top / "steps.json")
            while not asked.done():
                for _ in loader:
                    pass
            self.assertEqual(asked.result()["steps"], 3)

    def started_top(self):
        """Starts `top` without a terminal, which tells of the run until it ends.
        Returns it and the file it tells in."""
        file = self.top / "top.txt"
        with file.open("w") as out:
            process = subprocess.Popen(
                [program(), "top", self.run_id, "--cluster",
                 self.running.coordinator], stdout=out, stderr=out)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        last = rf"trainer 0 +starved .* train {EPOCHS}/{self.steps}\n"
        self.running.wait_until(
            lambda: any(found.startswith(f"{self.taker}:")
                        and re.search(last, found)
                        for found in file.read_text().split("\ndaemon ")),
            "trainer of the loader's daemon in `top`")
        self.assertIn(f"run       {self.run_id}\n", file.read_text())
        self.assertIn("\nattempt   1, with 1 trainer\n", file.read_text())
        return process, file

    def check_end(self, told):
        process, file = told
        self.assertEqual(process.wait(PATIENCE_SECONDS), 0, file.read_text())
        self.assertIn(f"run       {self.run_id}\nstate     finished",
                      file.read_text())
        self.assertNotRegex(file.read_text(), "weights digest|0 steps")
        self.assertEqual(
            self.running.await_state(self.run_id, "finished")["message"], "")
        over = {f'state="{state}"': float(state == "finished")
                for state in ("finished", "failed", "cancelled")}
        self.running.wait_until(
            lambda: self.metric("graphmill_runs_over_total") == over,
            "run that is over in the metrics")
        self.assertEqual(self.metric("graphmill_run_feeds"), {})
        self.running.wait_until(
            lambda: sorted(self.events()) == [
                ("ended", self.run_id), ("joined", self.taker),
                ("left", self.taker), ("queued", self.run_id),
                ("started", self.run_id)], "events of the loader")
        # How its actors were can still be seen.
        path = f"/api/actors?run={self.run_id}&daemon={self.taker}"
        self.running.wait_until(
            lambda: {actor["kind"] for actor in self.read(path)["actors"]}
            >= set(STAGES), "past of the loader's actors")

    def events(self):
        """Those of the run and of its daemon."""
        return [(one["kind"], one["run"] or one["who"])
                for one in self.read("/api/events")["events"]
                if one["run"] == self.run_id or one["who"] == self.taker]

    def check_audit(self):
        """Who has asked for batches is noted, with the run that makes them."""
        file = self.running.folder / "runs" / "audit.jsonl"

        def noted():
            lines = map(json.loads, file.read_text().splitlines())
            return [(line["what"], line.get("object"), line["result"])
                    for line in lines
                    if (line["who"], line["host"]) == (self.taker, "127.0.0.1")
                    and line["what"] != "join"]
        self.running.wait_until(
            lambda: [line[0] for line in noted()] == ["feed", "leave"],
            "lines of the audit log")
        self.assertEqual(noted()[0], ("feed", self.run_id, "ok"))


if __name__ == "__main__":
    program()
    unittest.main()
