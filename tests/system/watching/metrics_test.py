"""What a cluster tells over HTTP while a run is on, and that nobody who asks in
a hostile way keeps others from being answered, or the run from its end."""

import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from clusters import PATIENCE_SECONDS, ClusterWorkplace
from over_http import get, told_at
from runs import SMALL, merged
from support import ROOT, program

MONITORING = ROOT / "examples" / "monitoring"
ENDLESS = merged(SMALL, {"train": {"epochs": 100000},
                         "faults": {"reply_delay_ms": 40}})
OVER_HTTP = ["--http", "127.0.0.1:0", "--metrics", "127.0.0.1:0"]
NAME = re.compile(r"\bgraphmill_\w+")
CONNECTIONS = 300


def names(text):
    """Of the metrics of a page."""
    return {line.split()[2] for line in text.splitlines()
            if line.startswith("# TYPE ")}


def values(text, name):
    """Of a metric of a page, by labels."""
    found = re.findall(rf"^{name}(?:{{(.*)}})? (\S+)$", text, re.MULTILINE)
    return {labels: float(value) for labels, value in found}


def names_in_examples():
    return {name for file in MONITORING.iterdir()
            if file.suffix in (".json", ".yaml")
            for name in NAME.findall(file.read_text())}


class Attack:
    """Threads that say things to an address, until it is left."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.to = host, int(port)
        self.over = threading.Event()
        self.said = 0
        self.threads = [threading.Thread(target=self.attack, args=[how])
                        for how in (self.garbage, self.long_head, self.slowly,
                                    self.many, self.other_host)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join(PATIENCE_SECONDS)

    def attack(self, how):
        while not self.over.is_set():
            try:
                how()
                self.said += 1
            except OSError:
                pass  # The server may close whatever it likes.
            self.over.wait(0.01)

    def connect(self):
        return socket.create_connection(self.to, timeout=5)

    def say(self, data):
        with self.connect() as one:
            one.sendall(data)
            one.recv(1 << 16)

    def garbage(self):
        self.say(bytes(range(256)) * 64)

    def long_head(self):
        self.say(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n"
                 + b"X-Long: " + b"x" * (1 << 20))

    def slowly(self):
        with self.connect() as one:
            for byte in b"GET /metrics HTTP/1.1\r\n":
                one.sendall(bytes([byte]))
                if self.over.wait(0.05):
                    return

    def many(self):
        held = []
        try:
            for _ in range(CONNECTIONS):
                held.append(self.connect())
                held[-1].sendall(b"GET /")
            self.over.wait(0.5)
        finally:
            for one in held:
                one.close()

    def other_host(self):
        self.say(b"GET /metrics HTTP/1.1\r\nHost: rebound.example.org\r\n\r\n")


class Metrics(ClusterWorkplace):
    def refused(self, *more):
        """What a daemon says that does not start."""
        done = subprocess.run(
            [program(), "node", "--data", self.parts, "--listen",
             "tcp://127.0.0.1:0", "--runs", self.top / "refused", *more],
            text=True, capture_output=True, timeout=PATIENCE_SECONDS)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def check_promtool(self, text):
        if not shutil.which("promtool"):
            print("  skipped: promtool is not installed")
            return
        for arguments, said in ((["check", "metrics"], text),
                                (["check", "rules",
                                  str(MONITORING / "alerts.yaml")], "")):
            done = subprocess.run(["promtool", *arguments], input=said,
                                  text=True, capture_output=True,
                                  timeout=PATIENCE_SECONDS)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_run_is_told_of(self):
        cluster = self.cluster(["0", "1"], *OVER_HTTP)
        at = told_at(cluster.daemons[0], "the cluster")
        own = told_at(cluster.daemons[1], "itself")
        left_out = "--http 127.0.0.1:0 is ignored"
        self.assertIn(left_out, cluster.daemons[1].log.read_text())
        self.assertNotIn(left_out, cluster.daemons[0].log.read_text())
        cluster.wait_until(lambda: get(at, "/readyz") == (200, "ready\n"),
                           "coordinator that takes runs")
        self.assertEqual(get(at, "/healthz"), (200, "serving\n"))
        self.assertNotIn("graphmill_run_info", get(at, "/metrics")[1])
        run = cluster.ask("submit", self.write(ENDLESS, self.parts))["run"]
        wanted = names_in_examples()
        self.assertGreater(len(wanted), 10)

        def told():
            return get(at, "/metrics")[1], get(own, "/metrics")[1]
        cluster.wait_until(
            lambda: wanted <= set().union(*map(names, told())),
            "page with all metrics that the examples name")
        cluster.wait_until(
            lambda: len({labels.split(",")[0] for labels in values(
                told()[0], "graphmill_actor_items_total")}) == 2,
            "actors of both daemons")
        text, of_daemon = told()
        self.assertIn(f'graphmill_run_info{{run="{run}",', text)
        self.assertEqual(values(text, "graphmill_runs_running"), {"": 1})
        self.assertEqual(values(text, "graphmill_run_epochs"), {"": 100000})
        self.assertEqual(
            values(text, "graphmill_daemons")['state="ready"'], 2)
        self.assertEqual(
            sum(values(text, "graphmill_run_phase").values()), 1)
        for daemon in ("d0", "d1"):
            self.assertGreater(values(text, "graphmill_daemon_memory_bytes")[
                f'daemon="{daemon}"'], 0)
        for shares in values(text, "graphmill_actor_time_ratio").values():
            self.assertLessEqual(0, shares)
        self.assertIn('graphmill_process_info{daemon="d1"} 1', of_daemon)
        self.assertNotIn("graphmill_daemons{", of_daemon)
        # No paths, and no key.
        for secret in (str(self.top), "runs/", "secret"):
            self.assertNotIn(secret, text + of_daemon)
        self.check_promtool(text)
        cluster.ask("cancel", run)
        cluster.wait_until(
            lambda: values(get(at, "/metrics")[1], "graphmill_runs_over_total")
            ['state="cancelled"'] == 1, "run that is over")
        self.assertNotIn("graphmill_run_info", get(at, "/metrics")[1])
        cluster.daemons[0].kill()
        cluster.wait_until(lambda: get(own, "/readyz")[0] == 503,
                           "daemon that misses its coordinator")
        self.assertEqual(get(own, "/healthz")[0], 200)

    def test_daemons_without_a_run(self):
        """What they take is told of: to who asks, in the page of metrics, and
        second by second."""
        cluster = self.cluster(["0", "1"], *OVER_HTTP)
        def loads():
            return [daemon["load"]
                    for daemon in cluster.status()["daemons"]]
        cluster.wait_until(lambda: len(loads()) == 2 and all(loads()),
                           "what both daemons take")
        for load in loads():
            self.assertGreater(load["memory_bytes"], 1 << 20)
            self.assertGreater(load["threads"], 1)
            self.assertGreater(load["descriptors"], 1)
        at = told_at(cluster.daemons[0], "the cluster")
        cluster.wait_until(
            lambda: len(values(get(at, "/metrics")[1],
                               "graphmill_daemon_memory_bytes")) == 2,
            "metrics of both daemons")
        cluster.wait_until(
            lambda: all(daemon["rows"][-1][2] for daemon in json.loads(
                get(at, "/api/history")[1])["daemons"].values()),
            "memory of both daemons in the last second")
        # One that is gone takes nothing.
        cluster.daemons[1].kill()
        cluster.wait_until(lambda: [bool(load) for load in loads()]
                           == [True, False], "daemon that is gone")

    def test_hostile_requests(self):
        cluster = self.cluster(["0", "1"], *OVER_HTTP)
        at = told_at(cluster.daemons[0], "the cluster")
        definition = self.write(SMALL, self.parts)
        sound = cluster.run(definition)["digest"]
        self.assertEqual(get(at, "/page/../metrics")[0], 404)
        self.assertEqual(get(at, "/page/data/../../metrics")[0], 404)
        self.assertEqual(get(at, "/runs/../../etc/passwd")[0], 404)
        self.assertEqual(get(at, "/metrics", "POST")[0], 405)
        self.assertEqual(get(at, "/metrics", Host="rebound.example.org")[0],
                         421)

        def crowded_out():
            return values(get(at, "/metrics")[1],
                          "graphmill_http_crowded_out_total")[""]
        with Attack(at) as attack:
            cluster.wait_until(lambda: attack.said > 0, "attack")
            cluster.wait_until(lambda: crowded_out() > 0,
                               "count of connections")
            digests = [cluster.run(definition)["digest"] for _ in range(2)]
            slowest = 0
            for _ in range(10):
                start = time.monotonic()
                status, text = get(at, "/metrics")
                slowest = max(slowest, time.monotonic() - start)
                self.assertEqual(status, 200)
                self.assertIn("graphmill_coordinator_ready 1", text)
        print(f"  {attack.said} attacks; the slowest of 10 answers meanwhile "
              f"took {slowest:.2f} s")
        self.assertEqual(digests, [sound, sound])
        self.assertEqual(cluster.states(), {"d0": "ready", "d1": "ready"})

    def test_who_may_ask(self):
        token = self.top / "token"
        token.write_text("not-easy-to-guess-4711\n")
        token.chmod(0o644)
        self.assertIn("others can read the token file",
                      self.refused("--http-token-file", token))
        token.chmod(0o600)
        self.assertIn("others can reach", self.refused("--http", "0.0.0.0:0"))
        self.assertIn("no address for HTTP", self.refused("--metrics", "here"))
        cluster = self.cluster(["0", "1"], "--http", "0.0.0.0:0",
                               "--http-token-file", token)
        port = told_at(cluster.daemons[0], "the cluster").rsplit(":", 1)[1]
        at = f"127.0.0.1:{port}"
        self.assertEqual(get(at, "/metrics")[0], 401)
        self.assertEqual(
            get(at, "/healthz", Authorization="Bearer wrong")[0], 401)
        shown = {"Authorization": "Bearer not-easy-to-guess-4711"}
        self.assertEqual(get(at, "/healthz", **shown)[0], 200)
        self.assertNotIn("4711", cluster.logs())

    def test_a_port_that_is_taken(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            address = f"127.0.0.1:{other.getsockname()[1]}"
            cluster = self.cluster(["0", "1"], "--http", address)
            cluster.wait_until(lambda: "it goes on without" in cluster.logs(),
                               "warning")
            self.assertEqual(cluster.logs().count("it goes on without"), 1)
            self.assertIn(f"cannot listen for HTTP at {address}",
                          cluster.logs())
            self.assertEqual(cluster.states(), {"d0": "ready", "d1": "ready"})


if __name__ == "__main__":
    program()
    unittest.main(verbosity=2)
