"""Another user of the machine is kept out of a cluster that listens on
loopback, with nothing said about keys. Needs root, to be that user."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from asker import Bystanders
from clusters import PATIENCE_SECONDS, ClusterWorkplace, Daemon
from runs import SMALL, merged, user_key
from support import SKIPPED, graphmill, program

NOBODY = 65534

LONG = merged(SMALL, {"train": {"epochs": 100}, "evaluate": {"every": 100}})
# Makes it go on for a while, in which it is attacked.
SLOWLY = ["--set", "faults.trainer_delay_ms=40"]


def as_nobody(home):
    """A command that starts another one as that user, at home there."""
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}",
            "--clear-groups", "env", "-u", "XDG_CONFIG_HOME", "-u",
            "XDG_CACHE_HOME", f"HOME={home}"]


def make_home():
    home = pathlib.Path(tempfile.mkdtemp(prefix="graphmill-nobody-"))
    os.chown(home, NOBODY, NOBODY)
    return home


class OtherUser(ClusterWorkplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.key = user_key()

    def setUp(self):
        self.home = make_home()
        self.addCleanup(shutil.rmtree, self.home, True)
        self.within = as_nobody(self.home)

    def given(self, path):
        """A copy that belongs to the other user."""
        out = self.home / path.name
        if path.is_dir():
            shutil.copytree(path, out)
        else:
            shutil.copy(path, out)
        subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", out], check=True)
        return out

    def check_refused(self, cluster, *command):
        done = graphmill(*command, "--cluster", cluster.coordinator,
                         within=self.within)
        self.assertEqual(done.returncode, 1, f"{command}: {done.stdout}")
        self.assertIn("key", done.stderr, f"{command}")
        self.assertEqual(done.stdout, "")

    def test_may_not_use_it(self):
        alone = self.train(LONG, self.parts)
        cluster = self.cluster(["0", "1"])
        file = self.write(LONG, self.parts)
        run = cluster.ask("submit", file, *SLOWLY)["run"]
        file = self.given(file)
        slowest = 0
        for command in (["status"], ["runs"], ["plan", file],
                        ["submit", file], ["watch", run], ["logs", run],
                        ["cancel", run], ["cancel", run, "--now"],
                        ["fetch", run, "--out", self.home / "run"],
                        ["drain", "d1"], ["stop", "d1"], ["stop", "--all"]):
            for more in ([], ["--insecure"], ["--key", self.key]):
                with self.subTest(command=command[0], more=more):
                    self.check_refused(cluster, *command, *more)
            start = time.monotonic()
            self.assertEqual(set(cluster.states()), {"d0", "d1"})
            slowest = max(slowest, time.monotonic() - start)
        print(f"its owner waited {slowest:.2f} s at the most for `status`")
        self.assertEqual(list(self.home.glob("run*")), [])
        self.assertEqual([one["run"] for one in cluster.ask("runs")["runs"]],
                         [run])
        summary = cluster.ask("watch", run, "--quiet")
        self.assertEqual(summary["digest"], alone["digest"])
        self.assertIn("refused a connection from 127.0.0.1", cluster.logs())

    def test_does_not_get_the_key(self):
        cluster = self.cluster(["0", "1"])
        self.assertEqual(self.key.stat().st_mode & 0o777, 0o600)
        self.assertEqual(self.key.parent.stat().st_mode & 0o777, 0o700)
        for reader in (["cat", self.key], ["ls", self.key.parent]):
            done = subprocess.run([*self.within, *reader],
                                  capture_output=True)
            self.assertNotEqual(done.returncode, 0)
        # Nor do command lines tell it, which everybody may read.
        secret = self.key.read_text().split("secret ")[1].strip()
        for daemon in cluster.daemons:
            words = pathlib.Path(
                f"/proc/{daemon.process.pid}/cmdline").read_text()
            self.assertNotIn(secret, words)

    def test_does_not_get_at_local_sockets(self):
        """By them, data travel in the clear between daemons of one user."""
        self.cluster(["0", "1"])
        folder = pathlib.Path(os.environ["XDG_RUNTIME_DIR"], "graphmill")
        self.assertEqual(folder.stat().st_mode & 0o777, 0o700)
        files = list(folder.iterdir())
        self.assertGreaterEqual(len(files), 2)
        for file in files:
            self.assertEqual(file.stat().st_mode & 0o777, 0o600)
            done = subprocess.run(
                [*self.within, "python3", "-c",
                 "import socket, sys\n"
                 "socket.socket(socket.AF_UNIX).connect(sys.argv[1])", file],
                text=True, capture_output=True)
            self.assertIn("PermissionError", done.stderr)

    def check_kept_out(self, cluster, data, *more):
        rogue = Daemon(self.home, "rogue", data, "1", *more,
                       join=cluster.coordinator, within=self.within)
        self.addCleanup(rogue.end)
        self.assertEqual(rogue.process.wait(PATIENCE_SECONDS), 1)
        said = rogue.log.read_text()
        self.assertIn("key", said)
        self.assertIn(cluster.coordinator, said)

    def test_may_not_join(self):
        cluster = self.cluster(["0", "1"])
        data = self.given(self.parts)
        with Bystanders(self, cluster, self.parts):
            for more in ([], ["--insecure"]):
                self.check_kept_out(cluster, data, *more)
        self.assertEqual(set(cluster.states()), {"d0", "d1"})

    def test_may_not_pass_for_a_coordinator(self):
        """Whoever took the usual port first would get all definitions."""
        data = self.given(self.parts)
        impostor = Daemon(self.home, "impostor", data, None,
                          within=self.within)
        self.addCleanup(impostor.end)
        file = self.write(SMALL, self.parts)
        done = graphmill("submit", file, "--cluster", impostor.address())
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(str(self.key), done.stderr)
        victim = Daemon(self.top, "victim", self.parts, "0",
                        join=impostor.address())
        self.addCleanup(victim.end)
        self.assertEqual(victim.process.wait(PATIENCE_SECONDS), 1)
        self.assertIn(str(self.key), victim.log.read_text())

    def test_does_not_have_a_coordinator_overwrite_a_file(self):
        """By a link in the place of the lock, in a folder for runs that
        everybody may write to."""
        shared = pathlib.Path(tempfile.mkdtemp(prefix="graphmill-shared-"))
        self.addCleanup(shutil.rmtree, shared, True)
        shared.chmod(0o755)
        folder = shared / "runs"
        folder.mkdir()
        folder.chmod(0o777)
        victim = self.top / "victim"
        victim.write_text("precious\n")
        lock = folder / "coordinator.lock"
        subprocess.run([*self.within, "ln", "-s", victim, lock], check=True)

        def refused(*more):
            daemon = Daemon(shared, "d0", self.parts, "0-1", *more)
            self.addCleanup(daemon.end)
            self.assertEqual(daemon.process.wait(PATIENCE_SECONDS), 1)
            self.assertEqual(victim.read_text(), "precious\n")
            said = daemon.log.read_text()
            daemon.log.unlink()
            return said

        for more in ([], ["--standby"]):
            with self.subTest(more=more):
                folder.chmod(0o777)
                self.assertIn("chmod 700", refused(*more))
                # What was laid there before is no lock either.
                folder.chmod(0o700)
                self.assertIn(f"{lock} is a link", refused(*more))
        lock.unlink()
        sound = Daemon(shared, "d0", self.parts, "0-1")
        self.addCleanup(sound.end)
        sound.address()
        self.assertEqual(victim.read_text(), "precious\n")

    def test_does_not_own_the_folder_of_a_coordinator(self):
        """Who owns it can replace all that is in it."""
        shared = pathlib.Path(tempfile.mkdtemp(prefix="graphmill-shared-"))
        self.addCleanup(shutil.rmtree, shared, True)
        folder = shared / "runs"
        folder.mkdir(mode=0o755)
        os.chown(folder, NOBODY, NOBODY)
        daemon = Daemon(shared, "d0", self.parts, "0-1")
        self.addCleanup(daemon.end)
        self.assertEqual(daemon.process.wait(PATIENCE_SECONDS), 1)
        self.assertIn(f"{folder} belongs to the user with the number {NOBODY}",
                      daemon.log.read_text())
        self.assertEqual(list(folder.glob("coordinator*")), [])

    def test_does_not_put_a_key_of_theirs_in_place(self):
        config = self.home / "config"
        folder = config / "graphmill"
        folder.mkdir(parents=True)
        assert graphmill("keygen", folder / "key").returncode == 0
        for path in (folder / "key", folder, config):
            os.chown(path, NOBODY, NOBODY)
            done = graphmill("status",
                             within=["env", f"XDG_CONFIG_HOME={config}"])
            self.assertEqual(done.returncode, 1)
            self.assertIn("belongs to the user with the number 65534",
                          done.stderr)


def skip_unless_possible():
    if os.geteuid() != 0:
        print("skipped: only root can be another user")
        sys.exit(SKIPPED)
    home = make_home()
    try:
        done = subprocess.run([*as_nobody(home), program(), "status",
                               "--cluster", "nobody:0"],
                              text=True, capture_output=True)
        if done.returncode != 1:
            print(f"skipped: user {NOBODY} cannot start {program()}: "
                  f"{done.stderr}")
            sys.exit(SKIPPED)
    except OSError as failure:
        print(f"skipped: {failure}; setpriv is in Debian's util-linux")
        sys.exit(SKIPPED)
    finally:
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    program()
    skip_unless_possible()
    unittest.main(verbosity=2)
