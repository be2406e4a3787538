"""Those who watch a cluster, in the place of browsers, Prometheus and people."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import socket
import sys
import threading
import time

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from clusters import PATIENCE_SECONDS
from over_http import told_at
from support import program
from terminals import Terminal

CROWD_PAGES = 20
CROWD_SCRAPES = 250  # In each second,
CROWD_SCRAPERS = 8  # of so many, of whom each asks when it has its answer.


class Asker:
    """Asks one address, and keeps the connection, as browsers and Prometheus
    do, and takes what is packed, as they do. It does as little as it can: what it
    takes of the processors is counted as if the run had become slower by it."""

    LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
    LAST = re.compile(rb"\r\nconnection: *close", re.IGNORECASE)

    def __init__(self, address):
        self.address = address
        self.socket = None

    def read(self, path):
        if self.socket is None:
            host, _, port = self.address.rpartition(":")
            self.socket = socket.create_connection((host, int(port)),
                                                   PATIENCE_SECONDS)
        self.socket.sendall(f"GET {path} HTTP/1.1\r\n"
                            f"Host: {self.address}\r\n"
                            "Accept-Encoding: gzip\r\n\r\n".encode())
        answer = b""
        while (end := answer.find(b"\r\n\r\n")) < 0:
            answer += self.more()
        head, body = answer[:end], answer[end + 4:]
        missing = int(self.LENGTH.search(head)[1]) - len(body)
        while missing > 0:
            missing -= len(self.more())
        if self.LAST.search(head):
            self.close()
        # In the moment in which a run begins there is nothing to tell of it.
        if int(head[9:12]) not in (200, 404, 503):
            raise ValueError(f"{path}: {head.decode()}")

    def more(self):
        got = self.socket.recv(1 << 16)
        if not got:
            raise ValueError(f"{self.address} has closed the connection")
        return got

    def close(self):
        if self.socket is not None:
            self.socket.close()
            self.socket = None


def give_way():
    """The calling thread goes on in time that no other process wants."""
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


class Watchers:
    """Threads that watch a cluster until they are left. They open what they
    look at when they begin, and scrape once they are told to; then they give
    way to all others."""

    def __init__(self, cluster):
        self.coordinator = told_at(cluster.daemons[0], "the cluster")
        self.daemons = [told_at(daemon, "itself") for daemon in cluster.daemons]
        self.cluster = cluster
        self.scraping = threading.Event()
        self.over = threading.Event()
        self.lock = threading.Lock()
        self.opened = threading.Semaphore(0)
        self.streams = []
        self.ticks = 0
        self.scrapes = 0
        self.failed = []
        self.threads = []

    def begin(self, work):
        def watched():
            try:
                work()
            except (OSError, http.client.HTTPException, ValueError) as reason:
                if not self.over.is_set():
                    self.failed.append(f"{work.__name__}: {reason!r}")
        self.threads.append(threading.Thread(target=watched))
        self.threads[-1].start()

    def wait_for_pages(self, count):
        for _ in range(count):
            if not self.opened.acquire(timeout=PATIENCE_SECONDS):
                self.failed.append("a page has not opened")

    def end(self):
        self.over.set()
        self.scraping.set()
        for stream in self.streams:
            with contextlib.suppress(OSError):
                stream.shutdown(socket.SHUT_RDWR)  # It waits for a tick.
        for thread in self.threads:
            with contextlib.suppress(OSError):  # It is over, or may not hurry.
                os.sched_setscheduler(thread.native_id, os.SCHED_OTHER,
                                      os.sched_param(0))
            thread.join()

    def page(self):
        with contextlib.closing(Asker(self.coordinator)) as asker:
            for path in "/", "/api/status", "/api/history", "/api/events":
                asker.read(path)
            while not self.over.is_set():
                connection = http.client.HTTPConnection(
                    self.coordinator, timeout=PATIENCE_SECONDS)
                with contextlib.closing(connection):
                    connection.request("GET", "/api/stream")
                    self.streams.append(connection.sock)
                    self.listen(connection.getresponse(), asker)

    def listen(self, stream, asker):
        if stream.status == 503:  # The pages of the run before go away first.
            self.over.wait(0.2)
            return
        if stream.status != 200:
            raise ValueError(f"/api/stream: {stream.status}")
        self.opened.release()
        give_way()
        while not self.over.is_set():
            line = stream.readline()
            if not line:
                raise ValueError("the stream has ended")
            if line.startswith(b"data: "):
                self.tick(json.loads(line.removeprefix(b"data: ")), asker)

    def tick(self, told, asker):
        with self.lock:
            self.ticks += 1
        running = told["status"] and told["status"]["running"]
        if running:
            asker.read(f"/api/runs/{running}")

    def scrape(self, asker):
        asker.read("/metrics")
        with self.lock:
            self.scrapes += 1

    def scrape_each_second(self):
        askers = [Asker(each) for each in (self.coordinator, *self.daemons)]
        give_way()
        self.scraping.wait()
        while not self.over.is_set():
            for asker in askers:
                self.scrape(asker)
            self.over.wait(1)
        for asker in askers:
            asker.close()

    def scrape_at_once(self):
        """Its share of each second's scrapes, as fast as it is answered."""
        with contextlib.closing(Asker(self.coordinator)) as asker:
            give_way()
            self.scraping.wait()
            begin = time.monotonic()
            done = 0
            while not self.over.is_set():
                self.scrape(asker)
                done += CROWD_SCRAPERS
                ahead = done // CROWD_SCRAPES + begin - time.monotonic()
                if ahead > 0:
                    self.over.wait(ahead)


@contextlib.contextmanager
def usual(cluster):
    watchers = Watchers(cluster)
    terminal = Terminal()
    top = terminal.start(["chrt", "--idle", "0", program(), "top", "--cluster",
                          cluster.coordinator],
                         env={**os.environ, "TERM": "vt100"})
    try:
        watchers.begin(watchers.page)
        watchers.begin(watchers.scrape_each_second)
        watchers.wait_for_pages(1)
        yield watchers
        if top.poll() is not None:
            watchers.failed.append(f"top: {terminal.output!r}")
    finally:
        watchers.end()
        top.kill()
        top.wait()
        terminal.close()


@contextlib.contextmanager
def crowd(cluster):
    watchers = Watchers(cluster)
    try:
        for _ in range(CROWD_PAGES):
            watchers.begin(watchers.page)
        for _ in range(CROWD_SCRAPERS):
            watchers.begin(watchers.scrape_at_once)
        watchers.wait_for_pages(CROWD_PAGES)
        yield watchers
    finally:
        watchers.end()


@contextlib.contextmanager
def nobody(_):
    yield None
