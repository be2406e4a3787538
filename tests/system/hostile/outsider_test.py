"""Who has no key and comes to the port of a daemon gets nothing, and stops
neither a run nor the answers that others get."""

import contextlib
import itertools
import pathlib
import random
import socket
import sys
import threading
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from asker import Asker
from clusters import Cluster
from runs import SMALL, merged, partitioned, small_rmat
from support import program

SEED = 1110
# Some seconds, with two trainers, so that gradients cross.
DEFINITION = merged(SMALL, {"train": {"epochs": 15},
                            "trainer": {"replicas": 2},
                            "evaluate": {"every": 15}})
SLOWLY = ["--set", "faults.trainer_delay_ms=50"]
# At once, at each daemon; they end when more come.
CONNECTIONS = 100
# Attackers that send a byte at a time, and how long they wait after each.
SLOW_ONES = 20
SLOW_SECONDS = 0.05
# What a server says to a caller without a key: ZMTP's greeting of 64 bytes, and
# CURVE's answer of 168 with up to 9 of framing to whoever knows its public key.
GREETING = 64 + 168 + 9


def greeting(mechanism):
    """That of ZMTP 3.0, 64 bytes."""
    return (b"\xff" + bytes(8) + b"\x7f\x03\x00" + mechanism.ljust(20, b"\0")
            + bytes(32))


def command(name, body):
    said = bytes([len(name)]) + name + body
    return b"\x04" + bytes([len(said)]) + said


READY = command(b"READY", b"\x0bSocket-Type\0\0\0\x06DEALER")


def garbage(draw):
    return draw.randbytes(draw.randrange(1, 4096))


def half_open(draw):
    return (greeting(b"CURVE") + command(b"HELLO", bytes(192)))[
        :draw.choice([0, 1, 10, 11, 33, 63, 64, 70])]


def wrong_mechanism(draw):
    return draw.choice([
        greeting(b"NULL") + READY,
        greeting(b"PLAIN") + command(b"HELLO", b"\x01a\x01b"),
        greeting(b"GSSAPI") + command(b"INITIATE", draw.randbytes(32)),
        # Messages in place of a handshake.
        greeting(b"NULL") + READY + b"\0\x05hello" * 100])


def forged_handshake(draw):
    """CURVE's first step and its third, by somebody without keys."""
    return (greeting(b"CURVE")
            + command(b"HELLO", b"\x01\0" + bytes(72) + draw.randbytes(120))
            + command(b"INITIATE", draw.randbytes(200)))


def forged_preamble(draw):
    """By which Gloo, which once carried gradients, told members of a group
    apart: the number of a pair of ranks, little-endian, in front of data."""
    return (draw.randrange(4).to_bytes(8, "little")
            + draw.choice([b"", bytes(56), draw.randbytes(1024)]))


def long_frame(draw):
    """That claims to be of nearly 2^63 bytes."""
    return (greeting(b"CURVE") + b"\x06" + b"\x7f" + b"\xff" * 7
            + draw.randbytes(2048))


class Attack:
    """Connects to ports again and again, as a thread of its own, and says there
    what `said` draws."""

    def __init__(self, ports, said, slowly, seed):
        self.ports, self.said, self.slowly = ports, said, slowly
        self.random = random.Random(seed)
        self.over = threading.Event()
        self.held = []
        self.connections = self.most = 0

    def __enter__(self):
        self.thread = threading.Thread(target=self.attack)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def attack(self):
        for port in itertools.cycle(self.ports):
            if self.over.is_set():
                break
            if self.connections % (CONNECTIONS * len(self.ports)) == 0:
                self.end()
            # Refused, or hung up on while we speak.
            with contextlib.suppress(OSError):
                self.open(port, self.said(self.random))
            self.connections += 1
            self.over.wait(0.002)
        self.end()

    def open(self, port, said):
        one = socket.create_connection(("127.0.0.1", port), 1)
        self.held.append(one)
        pieces = ([said[i:i + 1] for i in range(min(20, len(said)))]
                  if self.slowly else [said])
        for piece in pieces:
            one.sendall(piece)
            if self.slowly:
                self.over.wait(SLOW_SECONDS)

    def end(self):
        """Ends the connections so far; sees what they were told."""
        for one in self.held:
            got = 0
            with contextlib.suppress(OSError):
                one.setblocking(False)
                while piece := one.recv(1 << 16):
                    got += len(piece)
            self.most = max(self.most, got)
            one.close()
        self.held = []


def listening(process):
    """Ports at which a process listens."""
    own = set()
    for fd in pathlib.Path(f"/proc/{process.pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            own.add(str(fd.readlink()))
    ports = set()
    for table in ("tcp", "tcp6"):
        path = pathlib.Path(f"/proc/{process.pid}/net/{table}")
        for line in path.read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in own:
                ports.add(int(fields[1].split(":")[1], 16))
    return ports


class Outsider(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        print(f"seed {SEED}")
        cls.data = partitioned(small_rmat(cls.top / "rmat"), 2, "random")
        cls.cluster = Cluster(cls.top / "cluster", cls.data, ["0", "1"],
                              "--http", "none")
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.ports = [int(daemon.address().split(":")[-1])
                     for daemon in cls.cluster.daemons]
        cls.sound = None

    def check(self, said, slowly=False):
        """An attack while a run goes on."""
        file = self.write(DEFINITION, self.data)
        if Outsider.sound is None:
            Outsider.sound = self.cluster.run(file)["digest"]
        attacks = [Attack(self.ports, said, slowly, f"{SEED} {i}")
                   for i in range(SLOW_ONES if slowly else 1)]
        with contextlib.ExitStack() as on, Asker(self.cluster) as asker:
            for attack in attacks:
                on.enter_context(attack)
            run = self.cluster.ask("submit", file, *SLOWLY)["run"]
            summary = self.cluster.ask("watch", run, "--quiet")
        connections = sum(attack.connections for attack in attacks)
        told = max(attack.most for attack in attacks)
        print(f"{said.__name__}: {connections} connections, of which none was "
              f"told more than {told} bytes; {asker.said()}")
        self.assertGreater(connections, 0)
        self.assertLessEqual(told, GREETING)
        self.assertEqual(summary["digest"], self.sound, self.cluster.logs())
        self.assertEqual(asker.failed, [])
        self.assertEqual(self.cluster.states(),
                         {"d0": "ready", "d1": "ready"})

    def test_garbage(self):
        self.check(garbage)

    def test_half_open_connections(self):
        self.check(half_open)

    def test_slow_bytes(self):
        self.check(forged_handshake, slowly=True)

    def test_wrong_mechanism(self):
        self.check(wrong_mechanism)

    def test_forged_handshake(self):
        self.check(forged_handshake)

    def test_forged_preamble_of_a_gradient_group(self):
        self.check(forged_preamble)

    def test_frames_that_claim_to_be_long(self):
        self.check(long_frame)

    def test_one_port_a_daemon(self):
        """While ranks join and train, nothing else listens."""
        file = self.write(DEFINITION, self.data)
        run = self.cluster.ask("submit", file, *SLOWLY)["run"]
        summary = self.cluster.folder / "runs" / run / "summary.json"
        seen, looks = [set(), set()], []

        def is_over():
            looks.append(summary.exists())
            for daemon, ports in zip(self.cluster.daemons, seen):
                ports |= listening(daemon.process)
            return looks[-1]
        self.cluster.wait_until(is_over, "end of the run")
        self.assertGreater(len(looks), 3)
        self.assertEqual(seen, [{port} for port in self.ports])


if __name__ == "__main__":
    program()
    unittest.main(verbosity=2)
