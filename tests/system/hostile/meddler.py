"""Somebody on the path between two daemons, who sees and changes what they say."""

import random
import socket
import threading
import time

PIECE = 1 << 16
# Where ZMTP's greeting names the mechanism, and how.
MECHANISM = 12
NO_MECHANISM = b"NULL".ljust(20, b"\0")
# Bytes of a direction that are recorded.
RECORDED = 1 << 23
DELAY_SECONDS = 0.02
# A piece that is no beat, but a run's deployment or more.
LARGE = 1000


class Direction:
    """One way of a connection, copied by a thread of its own."""

    def __init__(self, number, seed, stripped):
        self.random = random.Random(f"{seed} {number}")
        self.stripped = stripped
        self.seen = bytearray()
        self.at = 0


class Meddler:
    """Forwards connections to a port on loopback. What it does to them is its
    `mode`, set by the test's thread, for as often as `chances` says; `done`
    counts how often it has."""

    # Of a hundred pieces, in how many something happens, in each mode.
    PERCENT = {"flip": 5, "cut": 3, "swallow": 3, "lose": 100, "repeat": 5,
               "delay": 50, "strip": 0}

    def __init__(self, seed, target=None):
        self.seed = seed
        self.target = target
        self.directions = []
        self.sockets = []
        self.lock = threading.Lock()
        self.mode, self.chances, self.done = None, 0, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def begin(self, mode, chances):
        with self.lock:
            self.mode, self.chances, self.done = mode, chances, 0

    def end(self):
        """Lets everything pass from now on; returns what it has done."""
        with self.lock:
            self.mode = None
            return self.done

    def close(self):
        self.listener.close()
        self.cut_all()

    def cut_all(self):
        with self.lock:
            ended, self.sockets = self.sockets, []
        for one in ended:
            hang_up(one)

    def accept(self):
        while True:
            try:
                caller, _ = self.listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                caller.close()  # Nobody listens there yet.
                continue
            stripped = self.turn("strip")
            with self.lock:
                self.sockets += [caller, server]
                made = [Direction(len(self.directions) + i, self.seed, stripped)
                        for i in range(2)]
                self.directions += made
            for it, source, sink in ((made[0], caller, server),
                                     (made[1], server, caller)):
                threading.Thread(target=self.forward, daemon=True,
                                 args=(it, source, sink)).start()

    def turn(self, mode, draw=None):
        """Whether something is to happen now."""
        with self.lock:
            if (self.mode != mode or self.done >= self.chances
                    or (draw and draw.randrange(100) >= self.PERCENT[mode])):
                return False
            self.done += 1
            return True

    def forward(self, it, source, sink):
        try:
            while piece := source.recv(PIECE):
                if len(it.seen) < RECORDED:
                    it.seen += piece
                if it.stripped:
                    piece = without_mechanism(piece, it.at)
                it.at += len(piece)
                piece = self.changed(piece, it.random)
                if piece is None:
                    break
                sink.sendall(piece)
        except OSError:
            pass
        hang_up(source)
        hang_up(sink)

    def changed(self, piece, draw):
        """What is forwarded in place of a piece; None ends the connection."""
        mode = self.mode
        if (mode is None or mode == "lose" and len(piece) < LARGE
                or not self.turn(mode, draw)):
            return piece
        if mode == "flip":
            changed = bytearray(piece)
            changed[draw.randrange(len(piece))] ^= 1 << draw.randrange(8)
            return bytes(changed)
        if mode == "cut":
            return None
        if mode in ("swallow", "lose"):
            return b""
        if mode == "repeat":
            return piece * 2
        time.sleep(DELAY_SECONDS)
        return piece

    def recorded(self):
        """What was said, by the caller and by the server of each connection in
        turn."""
        return [bytes(it.seen) for it in list(self.directions)]


def hang_up(one):
    try:
        one.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    one.close()


def without_mechanism(piece, at):
    """A piece that begins `at` bytes after the start, with a greeting that
    promises no encryption."""
    changed = bytearray(piece)
    for i in range(len(piece)):
        if 0 <= at + i - MECHANISM < len(NO_MECHANISM):
            changed[i] = NO_MECHANISM[at + i - MECHANISM]
    return bytes(changed)
