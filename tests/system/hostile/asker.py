"""Another client of a cluster that is attacked, and a run that is on there."""

import threading
import time

from runs import SMALL, merged
from support import TROUBLED


class Asker:
    """Asks for the state of a cluster again and again while the test does
    something else, and notes how long the slowest answer took, with the start of
    its process."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.over = threading.Event()
        self.answered, self.slowest, self.failed = 0, 0, []

    def __enter__(self):
        self.thread = threading.Thread(target=self.ask)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def ask(self):
        while not self.over.is_set():
            start = time.monotonic()
            done = self.cluster.call("status")
            self.slowest = max(self.slowest, time.monotonic() - start)
            self.answered += 1
            if done.returncode not in (0, TROUBLED):
                self.failed.append(done.stderr)
            self.over.wait(0.2)

    def said(self):
        return f"slowest of {self.answered} statuses: {self.slowest:.2f} s"


class Bystanders:
    """Those who are not to notice an attack, for the time of a block: a run
    that goes on, and a client that asks. The run must end with the digest of
    one that nobody has disturbed, and each question be answered."""

    # Some seconds, with evaluation at the end alone.
    DEFINITION = merged(SMALL, {"train": {"epochs": 30},
                                "evaluate": {"every": 30}})
    SLOWLY = ["--set", "faults.trainer_delay_ms=40"]

    def __init__(self, test, cluster, data):
        self.test, self.cluster, self.data = test, cluster, data
        self.asker = Asker(cluster)

    def __enter__(self):
        self.file = self.test.write(self.DEFINITION, self.data, "-bystander")
        self.run = self.cluster.ask("submit", self.file, *self.SLOWLY)["run"]
        self.cluster.wait_until(
            lambda: self.cluster.ask("runs", self.run)["runs"][0]["state"]
            != "queued", "run beside the attack")
        self.asker.__enter__()
        return self

    def __exit__(self, failed, *_):
        self.asker.__exit__()
        if failed:
            return
        summary = self.cluster.ask("watch", self.run, "--quiet")
        alone = self.test.ask("train", self.file, "--data", self.data,
                              "--runs", self.test.runs, "--quiet")
        self.test.assertEqual(summary["digest"], alone["digest"],
                              self.cluster.logs())
        self.test.assertEqual(self.asker.failed, [])
        print(f"{self.test.id().split('.')[-1]}: {self.asker.said()}")
