"""Clusters in which everybody has a key of their own."""

import os

import runs
from runs import partitioned, small_rmat
from support import graphmill


class MembersWorkplace(runs.Workplace):
    """Has keys for the coordinator d0, the daemon d1 and the client alice, by
    whom `Cluster` asks, and a folder and a members file for each test."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = partitioned(small_rmat(cls.top / "rmat"), 2, "random")

    def setUp(self):
        self.folder = self.top / self.own_name
        self.folder.mkdir()
        self.members = self.folder / "members"
        self.keygen("--coordinator", "d0")
        self.keygen("--daemon", "d1")
        os.environ["GRAPHMILL_KEY"] = str(self.keygen("--client", "alice"))
        self.addCleanup(os.environ.pop, "GRAPHMILL_KEY")

    def key(self, name):
        return self.folder / f"{name}.key"

    def keygen(self, role, name, *more, file=None):
        """Makes a key; returns its file."""
        file = file or self.key(name)
        done = graphmill("keygen", role, name, *more, "--members",
                         self.members, file)
        self.assertEqual(done.returncode, 0, done.stderr)
        return file
