"""Whoever has another key than a cluster is told so within seconds, and so is
the cluster; a run that is on does not notice."""

import pathlib
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from asker import Bystanders
from clusters import ClusterWorkplace, Daemon
from runs import user_key
from support import graphmill, program

# Far below the two minutes for which a daemon looks for its coordinator.
SECONDS = 60


class WrongKey(ClusterWorkplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.own = user_key()
        cls.key = cls.top / "other.key"
        assert graphmill("keygen", cls.key).returncode == 0

    def cluster(self, shares, *more):
        """Nobody waits for its daemons."""
        made = super().cluster([], *more)
        for share in shares:
            made.add(share)
        return made

    def daemon_refused(self, cluster, *more):
        """What a daemon says that is not let in."""
        folder = self.top / f"{self.own_name}-refused"
        folder.mkdir(exist_ok=True)
        daemon = Daemon(folder, "stranger", self.parts, "1", *more,
                        join=cluster.coordinator)
        self.addCleanup(daemon.end)
        self.assertEqual(daemon.process.wait(SECONDS), 1)
        return daemon.log.read_text()

    def client_refused(self, cluster, *more):
        done = graphmill("status", "--cluster", cluster.coordinator, *more)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(cluster.coordinator, done.stderr)
        return done.stderr

    def await_log(self, cluster, text):
        cluster.wait_until(lambda: text in cluster.logs(), f"`{text}`")

    def test_another_key(self):
        cluster = self.cluster(["0-1"])
        cluster.await_daemons(1)
        with Bystanders(self, cluster, self.parts):
            for said in (self.daemon_refused(cluster, "--key", self.key),
                         self.client_refused(cluster, "--key", self.key)):
                self.assertIn(str(self.key), said)
                self.assertIn(cluster.coordinator, said)
                self.assertIn("copy the key file", said)
        self.await_log(cluster, "127.0.0.1: it has another key")
        self.assertIn(f"admits holders of the key {self.own}",
                      cluster.logs())
        cluster.await_daemons(1)

    def test_no_key(self):
        cluster = self.cluster(["0-1"])
        cluster.await_daemons(1)
        with Bystanders(self, cluster, self.parts):
            for said in (self.daemon_refused(cluster, "--insecure"),
                         self.client_refused(cluster, "--insecure")):
                self.assertIn("--key", said)
        cluster.await_daemons(1)

    def test_a_key_where_there_is_none(self):
        cluster = self.cluster(["0-1"], "--insecure")
        cluster.daemons[0].address()
        self.assertIn("insecure: whoever can connect", cluster.logs())
        cluster.await_daemons(1)
        with Bystanders(self, cluster, self.parts):
            for said in (self.daemon_refused(cluster),
                         self.client_refused(cluster)):
                self.assertIn("--insecure", said)
                self.assertIn(str(self.own), said)
        done = graphmill("status", "--insecure", "--cluster",
                         cluster.coordinator)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_started_again_with_another_key(self):
        """The others go on trying, and say what is wrong."""
        cluster = self.cluster(["0", "1"])
        cluster.await_daemons(2)
        first, second = cluster.daemons
        address = first.address()
        first.kill()
        again = Daemon(cluster.folder, "d0", self.parts, "0", "--key",
                       self.key, listen=address)
        self.addCleanup(again.end)
        again.address()
        cluster.wait_until(
            lambda: f"{address} does not let us in" in
            second.log.read_text(), "complaint")
        self.assertIn(str(self.own), second.log.read_text())
        self.assertIsNone(second.process.poll())

    def test_beyond_loopback(self):
        """A user's own key keeps others out there, too."""
        cluster = self.cluster([])
        cluster.add("0-1", listen="tcp://0.0.0.0:0")
        cluster.await_daemons(1)
        with Bystanders(self, cluster, self.parts):
            self.client_refused(cluster, "--key", self.key)
            self.client_refused(cluster, "--insecure")


if __name__ == "__main__":
    program()
    unittest.main(verbosity=2)
