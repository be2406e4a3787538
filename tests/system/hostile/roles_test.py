"""Where everybody has a key of their own, nobody does more than its role allows,
and keys come and go while the cluster works."""

import json
import os
import pathlib
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from asker import Bystanders
from clusters import Cluster, Daemon
from members import MembersWorkplace
from runs import SMALL, merged
from support import TROUBLED, graphmill, program

# Far below the two minutes for which a daemon looks for its coordinator.
SECONDS = 60

# Is on while keys come and go.
EPOCHS = {"train": {"epochs": 200}}


def public(key):
    """The public key of a key file."""
    return next(line.split()[1] for line in key.read_text().splitlines()
                if line.startswith("public "))


def keys_by_change(lines):
    """The keys that lines of the audit log name, by what was done and whose they
    are."""
    found = {}
    for line in lines:
        if line["result"] == "ok":
            holder, key = line["object"].split(", key ")
            found[line["what"], holder.split('"')[1]] = key
    return found


class Roles(MembersWorkplace):
    def revoke(self, name):
        # A public key may begin with a hyphen.
        done = graphmill("keygen", f"--revoke={name}", "--members",
                         self.members)
        self.assertEqual(done.returncode, 0, done.stderr)

    def cluster(self, count=2):
        made = Cluster(self.folder, self.data, [])
        self.addCleanup(made.__exit__)
        made.add("0", "--key", self.key("d0"), "--members", self.members)
        for number in range(1, count):
            made.add(str(number) if number < 2 else "none", "--key",
                     self.key(f"d{number}"), *(
                         ["--slots", "0"] if number > 1 else []))
        made.await_daemons(count)
        return made

    def call(self, cluster, key, command, *arguments):
        return graphmill(command, *arguments, "--cluster",
                         cluster.coordinator, "--key", key)

    def refused(self, cluster, key, command, *arguments):
        done = self.call(cluster, key, command, *arguments)
        self.assertEqual(done.returncode, 1, done.stdout)
        return done.stderr

    def works(self, cluster, key):
        return self.call(cluster, key, "status").returncode in (0, TROUBLED)

    def daemon_refused(self, name, *more, join=None):
        """What a daemon says that ends at once."""
        folder = self.folder / "refused"
        folder.mkdir(exist_ok=True)
        daemon = Daemon(folder, name, self.data, "1", *more, join=join)
        self.addCleanup(daemon.end)
        self.assertEqual(daemon.process.wait(SECONDS), 1)
        return daemon.log.read_text()

    def test_read_only(self):
        screen = self.keygen("--client", "screen", "--read-only")
        cluster = self.cluster()
        file = self.write(SMALL, self.data)
        run = cluster.ask("submit", file)["run"]
        for command in (["status"], ["runs"], ["watch", run, "--quiet"],
                        ["logs", run], ["plan", file],
                        ["fetch", run, "--out", self.folder / "fetched"]):
            done = self.call(cluster, screen, *command)
            self.assertEqual(done.returncode, 0, (command, done.stderr))
        with Bystanders(self, cluster, self.data) as others:
            for command in (["submit", file], ["cancel", others.run],
                            ["drain", "d1"], ["stop", "d1"],
                            ["chaos", "--daemon", "d1", "--kinds", "kill"],
                            ["stop", "--all"]):
                said = self.refused(cluster, screen, *command)
                self.assertIn('read-only client "screen"', said, command)
                self.assertIn(f"`{command[0]}`", said)
        checkpoint = max(
            (self.folder / "runs" / run / "checkpoints").glob("[0-9]*"))
        said = self.refused(cluster, screen, "resume", "--from", checkpoint)
        self.assertIn('read-only client "screen"', said)
        self.assertIn("`upload`", said)
        said = self.refused(cluster, self.key("d1"), "resume", "--from",
                            checkpoint)
        self.assertIn('daemon "d1"', said)
        self.assertEqual(cluster.states(), {"d0": "ready", "d1": "ready"})

    def test_a_key_is_of_its_holder(self):
        cluster = self.cluster()
        with Bystanders(self, cluster, self.data):
            self.check_holders(cluster)
        self.assertEqual(cluster.states(), {"d0": "ready", "d1": "ready"})

    def check_holders(self, cluster):
        # A daemon is no client, and a client no daemon.
        self.assertIn('daemon "d1"',
                      self.refused(cluster, self.key("d1"), "status"))
        said = self.daemon_refused("x", "--key", self.key("alice"),
                                   join=cluster.coordinator)
        self.assertIn('client "alice"', said)
        # Nor is it another daemon, or the coordinator.
        said = self.daemon_refused("x", "--key", self.key("d1"),
                                   join=cluster.coordinator)
        self.assertIn('daemon "d1"', said)
        self.assertIn("--name", said)
        self.assertIn("--join", self.daemon_refused(
            "d1", "--key", self.key("d1")))
        self.assertIn("--members", self.daemon_refused(
            "d0", "--key", self.key("d0")))

    def test_a_key_for_all_is_none_here(self):
        cluster = self.cluster()
        plain = self.folder / "plain"
        self.assertEqual(graphmill("keygen", plain).returncode, 0)
        with Bystanders(self, cluster, self.data):
            said = self.refused(cluster, plain, "status")
        self.assertIn(str(plain), said)
        self.assertIn("graphmill-keys 2", said)
        other = Cluster(self.folder / "other", self.data, [])
        self.addCleanup(other.__exit__)
        other.add("0-1", "--key", plain)
        said = self.refused(other, self.key("alice"), "status")
        self.assertIn(str(self.key("alice")), said)
        self.assertIn("graphmill-keys 1", said)

    def test_members_come_and_go(self):
        self.keygen("--daemon", "d2")
        bob = self.keygen("--client", "bob")
        cluster = self.cluster(3)
        definition = merged(SMALL, EPOCHS)
        run = cluster.ask("submit", self.write(definition, self.data))["run"]
        cluster.wait_until(
            lambda: "train epoch 2" in cluster.call("logs", run).stdout,
            "end of a phase")
        # A client that is added works, and one that is revoked does not.
        carol = self.keygen("--client", "carol")
        cluster.wait_until(lambda: self.works(cluster, carol), "carol")
        self.revoke("bob")
        cluster.wait_until(lambda: not self.works(cluster, bob),
                           "end of bob")
        self.assertIn(str(bob), self.refused(cluster, bob, "status"))
        # Of a daemon, too, which has no part in the run.
        self.revoke("d2")
        cluster.wait_until(lambda: cluster.states()["d2"] == "lost",
                           "end of d2")
        # Rotation: both keys, then the new one.
        old = self.key("alice")
        new = self.keygen("--client", "alice", file=self.key("alice2"))
        cluster.wait_until(lambda: self.works(cluster, new), "new key")
        self.assertTrue(self.works(cluster, old))
        self.revoke(public(old))
        os.environ["GRAPHMILL_KEY"] = str(new)
        cluster.wait_until(lambda: not self.works(cluster, old),
                           "end of the old key")
        # What is no members file changes nothing.
        sound = self.members.read_text()
        self.members.write_text("nonsense\n")
        cluster.wait_until(lambda: "stay as they were" in cluster.logs(),
                           "complaint")
        self.assertTrue(self.works(cluster, new))
        self.members.write_text(sound)
        summary = cluster.ask("watch", run, "--quiet")
        self.assertEqual(cluster.ask("runs", run)["runs"][0]["state"],
                         "finished", cluster.logs())
        alone = self.train(definition, self.data)
        self.assertEqual(summary["digest"], alone["digest"], cluster.logs())
        for text in ('revoked: the key', 'added: the key', 'client "carol"',
                     'daemon "d2"'):
            self.assertIn(text, cluster.logs())
        self.check_audit(cluster, {
            ("member added", "carol"): public(carol),
            ("member removed", "bob"): public(bob),
            ("member removed", "d2"): public(self.key("d2")),
            ("member added", "alice"): public(new),
            ("member removed", "alice"): public(old)})

    def check_audit(self, cluster, wanted):
        """All changes of members are noted, and the file that was none."""
        cluster.wait_until(lambda: len(self.changes()) == len(wanted) + 1,
                           "lines of the audit log")
        refused = [line for line in self.changes()
                   if line["result"] == "refused"]
        self.assertEqual([line["what"] for line in refused],
                         ["members refused"])
        self.assertEqual(refused[0]["code"], "invalid_data")
        self.assertIn("is no members file", refused[0]["why"])
        self.assertEqual(keys_by_change(self.changes()), wanted)
        secrets = [word for key in self.folder.glob("*.key")
                   for line in key.read_text().splitlines()
                   for word in line.split()[1:] if line.startswith("secret ")]
        self.assertTrue(secrets)
        for secret in secrets:
            self.assertNotIn(secret, self.audited().read_text())

    def test_members_change_while_nobody_looks(self):
        bob = self.keygen("--client", "bob")
        cluster = self.cluster(1)
        kept = self.folder / "runs" / "members.noted"
        cluster.wait_until(kept.exists, "what is kept of the members")
        self.assertEqual(kept.stat().st_mode & 0o777, 0o600)
        cluster.daemons[0].kill()
        self.revoke("bob")
        carol = self.keygen("--client", "carol")
        wanted = {("member removed", "bob"): public(bob),
                  ("member added", "carol"): public(carol)}
        for _ in range(2):  # The second one has nothing to add.
            self.start_again(cluster)
            self.assertTrue(self.works(cluster, carol))
            self.assertFalse(self.works(cluster, bob))
            self.check_changes(cluster, wanted)
            cluster.wait_until(  # It is kept after it is noted.
                lambda: public(carol) in kept.read_text()
                and public(bob) not in kept.read_text(), "what is kept")
            cluster.daemons[0].kill()
        # What is damaged is said, and known from then on.
        kept.write_text("graphmill-members 1\nnonsense\n")
        kept.chmod(0o600)
        self.revoke("carol")
        self.start_again(cluster)
        cluster.wait_until(
            lambda: "may be missing in the audit log" in cluster.logs(),
            "complaint")
        cluster.wait_until(lambda: "nonsense" not in kept.read_text(),
                           "what is kept")
        dave = self.keygen("--client", "dave")
        self.check_changes(cluster,
                           {**wanted, ("member added", "dave"): public(dave)})

    def start_again(self, cluster):
        cluster.daemons.clear()
        cluster.add("0-1", "--key", self.key("d0"), "--members", self.members)
        cluster.await_daemons(1)

    def audited(self):
        return self.folder / "runs" / "audit.jsonl"

    def changes(self):
        """What the audit log says of the members file."""
        lines = map(json.loads, self.audited().read_text().splitlines())
        return [line for line in lines
                if (line["who"], line["host"]) == (str(self.members), "")]

    def check_changes(self, cluster, wanted):
        cluster.wait_until(lambda: len(self.changes()) >= len(wanted),
                           "lines of the audit log")
        self.assertEqual([line["result"] for line in self.changes()],
                         ["ok"] * len(wanted))
        self.assertEqual(keys_by_change(self.changes()), wanted)

    def test_a_daemon_of_the_run_is_revoked(self):
        cluster = self.cluster()
        definition = merged(SMALL, {"train": {"epochs": 100000},
                                    "recovery": {"wait": 0}})
        run = cluster.ask("submit", self.write(definition, self.data))["run"]
        cluster.wait_until(
            lambda: "train epoch 2" in cluster.call("logs", run).stdout,
            "end of a phase")
        self.revoke("d1")
        cluster.wait_until(
            lambda: cluster.ask("runs", run)["runs"][0]["state"] == "failed",
            "end of the run")
        self.assertIn("d1", cluster.ask("runs", run)["runs"][0]["message"])
        # With another key it is taken again.
        self.keygen("--daemon", "d1", file=self.key("d1-new"))
        cluster.wait_until(lambda: "added: the key" in cluster.logs(),
                           "word of the new key")
        cluster.daemons[1].kill()
        again = Daemon(self.folder, "d1", self.data, "1", "--key",
                       self.key("d1-new"), join=cluster.coordinator)
        self.addCleanup(again.end)
        cluster.await_daemons(2)
        summary = cluster.run(self.write(SMALL, self.data, "-short"))
        self.assertGreater(summary["steps"], 0)


if __name__ == "__main__":
    program()
    unittest.main(verbosity=2)
