"""Another client of a cluster that is attacked."""

import threading
import time


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
            if done.returncode != 0:
                self.failed.append(done.stderr)
            self.over.wait(0.2)

    def said(self):
        return f"slowest of {self.answered} statuses: {self.slowest:.2f} s"
