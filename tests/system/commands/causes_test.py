"""A command that cannot work says the cause first, all causes at once, and soon:
too few open files, variables of a launcher, no folder for temporary files, keys
of other roles, tokens."""

import os
import pathlib
import resource
import subprocess
import sys
import time
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from clusters import ClusterWorkplace, free_port
from runs import SMALL
from support import graphmill, program

# Two seconds are promised; a slow machine has ten times as many.
SECONDS = 20


class Causes(ClusterWorkplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.keys = cls.top / "keys"
        cls.keys.mkdir()
        for holder in (("--coordinator", "first"), ("--daemon", "second"),
                       ("--client", "alice")):
            assert graphmill("keygen", "--members", cls.keys / "members",
                             *holder, cls.keys / f"{holder[1]}.key"
                             ).returncode == 0

    def told(self, *words, files=None, expected=1, **variables):
        """What a command says; soon, if it fails."""
        def limit():
            if files is not None:
                resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
        begin = time.monotonic()
        done = subprocess.run(
            [program(), *map(str, words)], cwd=self.top, text=True,
            capture_output=True, preexec_fn=limit,
            env={**os.environ, **variables})
        if expected != 0:
            self.assertLess(time.monotonic() - begin, SECONDS)
        self.assertEqual(done.returncode, expected, done.stderr)
        return done.stderr

    def up(self, **more):
        return self.told("up", self.write(SMALL, self.parts), "--local", 2,
                         "--data", self.parts, **more)

    def node(self, *more, **variables):
        return self.told("node", "--data", self.parts, "--listen",
                         "tcp://127.0.0.1:0", "--http", "none", "--runs",
                         self.top / "never", *more, **variables)

    def test_too_few_open_files(self):
        for files in (40, 64, 96):
            said = self.up(files=files)
            self.assertIn(f"the limit of open files is {files}, and a "
                          "daemon with 4 peers needs 120", said)
            self.assertIn("ulimit -n", said)
            said = self.node(files=files)
            self.assertIn("a daemon with 2 peers needs 100", said)

    def test_as_many_open_files_as_are_asked_for(self):
        self.told("up", self.write(SMALL, self.parts), "--local", 2, "--data",
                  self.parts, "--quiet", files=120, expected=0)

    def test_variables_of_another_launcher(self):
        for left in ({"RANK": "0", "WORLD_SIZE": "2"},
                     {"RANK": "1", "WORLD_SIZE": "2",
                      "MASTER_ADDR": "10.255.255.1", "MASTER_PORT": "29500",
                      "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2"},
                     {"SLURM_PROCID": "0", "SLURM_NTASKS": "2"},
                     {"RANK": "x", "WORLD_SIZE": "2"}):
            with self.subTest(left):
                self.told("up", self.write(SMALL, self.parts), "--local", 2,
                          "--data", self.parts, "--quiet", expected=0, **left)
        # A daemon reads them, if flags do not say where it is.
        said = self.told("node", "--data", self.parts, RANK="0",
                         WORLD_SIZE="2")
        self.assertIn("`unset RANK WORLD_SIZE`", said)

    def test_no_folder_for_temporary_files(self):
        missing = self.top / "missing"
        said = self.up(TMPDIR=str(missing))
        self.assertTrue(said.splitlines()[0].startswith(
            f"graphmill: TMPDIR: {missing} is no folder"), said)

    def test_all_causes_at_once(self):
        said = self.up(files=64, TMPDIR=str(self.top / "missing"))
        self.assertIn("the limit of open files is 64", said)
        self.assertIn("TMPDIR", said)
        short = self.top / "token"
        short.write_text("abc\n")
        short.chmod(0o600)
        said = self.node(
            "--http-token-file", self.top / "missing", "--http-action-token-file",
            short, "--key", self.keys / "second.key", "--name", "third",
            "--members", self.keys / "members")
        for cause in (f"{self.top / 'missing'}", "16 to 512 printable",
                      "which needs a coordinator: name its address by --join",
                      "but --name is \"third\"",
                      "--members is for a coordinator"):
            self.assertIn(cause, said)

    def test_keys_that_are_not_for_commands(self):
        nobody = ("--cluster", f"tcp://127.0.0.1:{free_port()}")
        for name, whose in (("first", "coordinator"), ("second", "daemon")):
            said = self.told("stop", "--all", *nobody, "--key",
                             self.keys / f"{name}.key")
            self.assertIn(f"{name}.key holds the key of {whose}", said)
            self.assertIn("keygen --client NAME", said)
            said = self.told("status", *nobody,
                             GRAPHMILL_KEY=str(self.keys / f"{name}.key"))
            self.assertIn("and commands need a client's key", said)
        said = self.node("--key", self.keys / "alice.key")
        self.assertIn("a daemon needs one of its own", said)
        said = self.told("up", self.write(SMALL, self.parts), "--local", 2,
                         "--data", self.parts, "--key",
                         self.keys / "alice.key")
        self.assertIn("`up` starts all daemons with one key", said)

    def test_another_key(self):
        cluster = self.cluster(["0-1"])
        other = self.top / "other.key"
        self.assertEqual(graphmill("keygen", other).returncode, 0)
        said = self.told("status", "--cluster", cluster.coordinator, "--key",
                         other)
        self.assertIn("does not let us in: it has another key than", said)


if __name__ == "__main__":
    program()
    unittest.main(verbosity=2)
