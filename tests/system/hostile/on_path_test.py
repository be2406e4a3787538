"""Somebody on the path between two daemons with a key reads nothing, and changes
nothing but whether a run ends."""

import contextlib
import itertools
import pathlib
import re
import socket
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from asker import Asker
from clusters import Cluster, free_port
from meddler import Meddler
from runs import SMALL, merged, partitioned, small_rmat
from support import graphmill, np, program

SEED = 1109
# Two trainers, so that gradients cross, too.
DEFINITION = merged(SMALL, {"train": {"epochs": 15},
                            "trainer": {"replicas": 2},
                            "evaluate": {"every": 15},
                            "recovery": {"wait": 0}})
# What a run says that blames the connection.
BLAMED = re.compile(r"\blost\b|cannot reach|the connection|silent for|"
                    r"no handshake|nobody answers|does not let us in|"
                    r"it has another key than our key|it uses no key")
# Goes on for some seconds.
SLOWLY = ["--set", "faults.trainer_delay_ms=100"]
# All that a server says to a caller that it does not know: its greeting, and
# CURVE's answer of 168 with up to 9 of framing.
ZMTP_GREETING = 64
GREETING = ZMTP_GREETING + 168 + 9
# Of what a caller says, CURVE's first step with its framing.
HELLO = 202


class PathCluster(Cluster):
    """Two daemons that reach each other only by a meddler for each, at the port:
    folders of local sockets differ. Clients go there directly."""

    def __init__(self, folder, data, *more):
        self.meddlers = []
        super().__init__(folder, data, [], *more)
        for name, share in (("first-of-two", "0"), ("second-of-two", "1")):
            meddler = Meddler(SEED + len(self.meddlers), free_port())
            self.meddlers.append(meddler)
            sockets = self.folder / f"sockets-{name}"
            sockets.mkdir(mode=0o700)
            self.add(share, "--advertise", f"127.0.0.1:{meddler.port}",
                     "--lost-after", 5,
                     name=name, listen=f"tcp://127.0.0.1:{meddler.target}",
                     within=["env", f"XDG_RUNTIME_DIR={sockets}"])
        self.await_daemons(2)

    def __exit__(self, *_):
        super().__exit__()
        for meddler in self.meddlers:
            meddler.close()

    def call(self, command, *arguments):
        insecure = [more for more in self.more if more == "--insecure"]
        return graphmill(
            command, *arguments, "--json", *insecure,
            "--cluster", f"tcp://127.0.0.1:{self.meddlers[0].target}")

    def recorded(self):
        return [said for meddler in self.meddlers
                for said in meddler.recorded()]


class OnPath(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        print(f"seed {SEED}")
        cls.data = partitioned(small_rmat(cls.top / "rmat"), 2, "random")
        cls.cluster = PathCluster(cls.top / "cluster", cls.data)
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.sound = None

    def setUp(self):
        self.file = self.write(DEFINITION, self.data)
        self.cluster.await_daemons(2)
        if OnPath.sound is None:
            OnPath.sound = self.cluster.run(self.file)["digest"]

    def attacked(self, mode, chances):
        """A run whose connections are changed on the way. Says how often, and
        whether the run was stopped by that."""
        meddlers = self.cluster.meddlers
        with Asker(self.cluster) as asker:
            for meddler in meddlers:
                meddler.begin(mode, chances)
                if mode == "strip":
                    meddler.cut_all()
            done = self.cluster.call("submit", self.file, "--watch",
                                     "--quiet")
            times = sum(meddler.end() for meddler in meddlers)
        self.assertGreater(times, 0)
        self.check_end(done)
        print(f"{mode}: {times} times, the run "
              f"{'has ended' if done.returncode == 0 else 'has failed'}; "
              f"{asker.said()}")
        self.assertEqual(asker.failed, [])
        self.check_well()
        return done.returncode == 0

    def check_end(self, done):
        """The digest of the sound run, or a sentence about a connection."""
        if done.returncode == 0:
            self.assertIn(f'"{self.sound}"', done.stdout.splitlines()[-1])
        else:
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertRegex(done.stderr, BLAMED)

    def check_well(self):
        """Both daemons live, find each other again, and train as before."""
        def trains():
            done = self.cluster.call("submit", self.file, "--watch",
                                     "--quiet")
            self.check_end(done)
            return done.returncode == 0
        for daemon in self.cluster.daemons:
            self.assertIsNone(daemon.process.poll(), self.cluster.logs())
        # What was cut off may be noticed only by its silence, after seconds.
        self.cluster.await_daemons(2)
        self.cluster.wait_until(trains, "run that ends")

    def test_bits_are_flipped(self):
        self.attacked("flip", 2)

    def test_connections_are_cut(self):
        self.attacked("cut", 3)

    def test_bytes_are_swallowed(self):
        """Once for each daemon: where a frame never ends, an answer is given up
        after half a minute."""
        self.attacked("swallow", 1)

    def test_a_deployment_is_lost(self):
        """A whole message, so that its connection lasts: it is sent again."""
        self.assertTrue(self.attacked("lose", 1))

    def test_bytes_come_twice(self):
        self.attacked("repeat", 1)

    def test_bytes_are_late(self):
        """Nothing is changed, so the run ends as ever."""
        self.assertTrue(self.attacked("delay", 40))

    def test_greetings_promise_no_encryption(self):
        """Nobody falls back to messages in the clear: both ends hang up on a
        greeting without CURVE."""
        self.attacked("strip", 4)
        said = [bytes(it.seen) for meddler in self.cluster.meddlers
                for it in meddler.directions if it.stripped]
        self.assertTrue(said)
        self.assertLessEqual(max(map(len, said)), ZMTP_GREETING)

    def test_what_was_said_is_said_again(self):
        """Connections of an earlier run, played to both daemons while another
        run is on, get no further than any stranger's."""
        tapes = [(meddler.target, said) for meddler in self.cluster.meddlers
                 for said in meddler.recorded()[:16:2]]
        self.assertGreater(max(len(said) for _, said in tapes), 10000)
        run = self.cluster.ask("submit", self.file, *SLOWLY)["run"]
        with Asker(self.cluster) as asker:
            got = [played(port, said) for port, said in tapes]
            summary = self.cluster.ask("watch", run, "--quiet")
        print(f"played again: {len(got)} connections, of which none was told "
              f"more than {max(got)} bytes; {asker.said()}")
        self.assertLessEqual(max(got), GREETING)
        self.assertEqual(summary["digest"], self.sound)
        self.assertEqual(asker.failed, [])
        self.check_well()

    def test_nothing_is_readable(self):
        """Of names and values, which are all there without a key."""
        features = np.load(self.data / "part-1/nodes/node/features.npy")
        rows = [row.tobytes() for row in features]
        words = [b"second-of-two", b"tcp://127.0.0.1",
                 runs.name_of(self.data).encode(), self.file.stem.encode()]

        def seen_by(cluster):
            summary = cluster.run(self.file)
            self.assertEqual(summary["digest"], self.sound)
            seen = b"\n".join(cluster.recorded())
            return ([word for word in words if word in seen],
                    sum(row in seen for row in rows), seen)
        named, read, seen = seen_by(self.cluster)
        self.assertIn(b"CURVE", seen[:ZMTP_GREETING])
        self.assertEqual((named, read), ([], 0))
        with PathCluster(self.top / "clear", self.data,
                         "--insecure") as clear:
            named, read, seen = seen_by(clear)
        self.assertEqual(named, words)
        self.assertGreater(read, 0)


def played(port, said):
    """Plays what a caller has said, waiting for answers as it did; returns how
    many bytes were answered."""
    got = 0
    with socket.create_connection(("127.0.0.1", port), 5) as it:
        steps = [0, ZMTP_GREETING, ZMTP_GREETING + HELLO, len(said)]
        with contextlib.suppress(ConnectionError):
            for begin, end in itertools.pairwise(steps):
                it.settimeout(60)
                it.sendall(said[begin:end])
                it.settimeout(0.3)
                with contextlib.suppress(TimeoutError):
                    while piece := it.recv(1 << 16):
                        got += len(piece)
    return got


if __name__ == "__main__":
    program()
    unittest.main(verbosity=2)
