"""The web page in a headless Chromium, before a real cluster with a run: what it
draws grows, a daemon that is killed is lost, and the token lets it act."""

import json
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
from browser import Browser, chromium
from clusters import ClusterWorkplace
from over_http import get, told_at
from page_user import PageUser
from runs import SMALL, merged
from support import SKIPPED, program

# Slow, so that there is something to see of it.
ENDLESS = merged(SMALL, {"train": {"epochs": 100000},
                         "faults": {"reply_delay_ms": 40}})
TOKEN = "not-easy-to-guess-4711"
STATES = """Object.fromEntries(
    [...document.querySelectorAll('SELECTOR tbody tr')].map((row) =>
        [row.children[0].textContent, row.children[1].textContent]))"""
POINTS = """([...document.querySelectorAll('#charts .chart')]
    .find((chart) => chart.querySelector('h3').textContent.startsWith('Seeds'))
    .querySelector('[role=img] .curve')?.getAttribute('d') ?? '')
    .replace(/[^ML]/g, '').length"""


class LivePage(PageUser, ClusterWorkplace):
    def setUp(self):
        self.browser = Browser()
        self.addCleanup(self.browser.close)
        token = self.top / "token"
        token.write_text(TOKEN + "\n")
        token.chmod(0o600)
        self.running = self.cluster(["0", "1"], "--http", "127.0.0.1:0",
                                    "--http-action-token-file", token)
        self.at = told_at(self.running.daemons[0], "the cluster")
        # All of it is in sight: what nobody sees is not drawn.
        self.browser.look(height=8000)
        self.browser.open(f"http://{self.at}/")

    def state_of(self, table, name):
        return (f"({STATES.replace('SELECTOR', table)})"
                f"[{json.dumps(name)}]")

    def do(self, button):
        """Presses a button of a table, and confirms it."""
        there = f"td.acts button[aria-label={json.dumps(button)}]"
        self.browser.wait_for(
            f"document.querySelector({json.dumps(there)}) !== null")
        self.click(there)
        self.click("#confirm-do")
        self.browser.wait_for("!document.getElementById('confirm').open")

    def test_a_run_is_seen_and_led(self):
        browser, cluster = self.browser, self.running
        run = cluster.ask("submit", self.write(ENDLESS, self.parts))["run"]
        browser.wait_for("document.querySelectorAll('.lane').length", 2)
        browser.wait_for("document.querySelectorAll('.node').length >= 8")
        browser.wait_for("[...document.querySelectorAll('.flight li')]"
                         ".some((one) => /steps? \\d/.test(one.textContent))")
        browser.wait_for(f"{POINTS} >= 2")
        before = browser.evaluate(POINTS)
        browser.wait_for(f"{POINTS} >= {before + 2}")
        browser.wait_for("document.querySelector('#event-list')"
                         ".textContent.includes('checkpoint')")
        self.refuse_strangers()

        self.assertEqual(self.buttons(), [])
        self.give_token("no-such-token-4711")
        browser.wait_for("document.getElementById('token-said').textContent",
                         "This is not the token for actions.")
        self.click("#token-leave")
        self.give_token(TOKEN)
        browser.wait_for("!document.getElementById('token').open")
        self.do("Drain d1")
        browser.wait_for(self.state_of("#daemon-table", "d1"), "draining")
        self.do("Bring back d1")
        browser.wait_for(self.state_of("#daemon-table", "d1"), "ready")
        self.do(f"Cancel run {run}")
        browser.wait_for(self.state_of("#run-table", run), "cancelled")
        self.look_at(run)
        self.do(f"Resume run {run}")
        cluster.wait_until(
            lambda: cluster.status()["running"] not in (None, run),
            "run that goes on")
        again = cluster.status()["running"]
        browser.wait_for("document.querySelectorAll('.lane').length", 2)
        self.check_audit(run, again)

        cluster.daemons[1].kill()
        browser.wait_for(self.state_of("#daemon-table", "d1"), "lost")
        browser.wait_for("[...document.querySelectorAll('#event-list .word')]"
                         ".some((one) => one.textContent === 'lost')")
        self.do(f"Cancel run {again}")
        browser.wait_for(self.state_of("#run-table", again), "cancelled")
        self.assertEqual(browser.errors, [])
        self.assertNotIn(TOKEN, cluster.logs())

    def refuse_strangers(self):
        """What asks without the token, or for somebody else's page."""
        shown = {"Graphmill-Token": TOKEN}
        for headers, status in (({}, 401), ({"Graphmill-Token": "x"}, 401),
                                ({**shown, "Origin": "http://evil"}, 403),
                                ({**shown, "Sec-Fetch-Site": "cross-site"},
                                 403),
                                ({**shown, "Host": "evil.example.org"}, 421),
                                (shown, 404)):
            self.assertEqual(
                get(self.at, "/api/drain/nobody", "POST", **headers)[0],
                status, headers)
        self.assertEqual(self.running.states(), {"d0": "ready", "d1": "ready"})

    def look_at(self, run):
        """Its definition and its curves by epoch."""
        self.browser.wait_for(
            "[...document.getElementById('compare-first').options]"
            f".some((one) => one.value === {json.dumps(run)})")
        self.enter("#compare-first", run, "change")
        self.browser.wait_for(
            "document.querySelectorAll("
            "'#compare-charts [role=img] .curve[d]').length", 4)
        self.assertRegex(self.texts("#compare-definitions pre")[0],
                         r"sampler:\n  fanouts: \[4, 3\]\n")
        self.assertEqual(
            get(self.at, f"/api/definitions/{run}")[1],
            (self.running.folder / "runs" / run / "definition.yaml")
            .read_text())

    def check_audit(self, run, again):
        """Who acted over HTTP is noted as others are."""
        file = self.running.folder / "runs" / "audit.jsonl"
        wanted = {("drain", "d1", "ok"), ("drain", "d1 (back)", "ok"),
                  ("drain", "nobody", "refused"), ("cancel", run, "ok"),
                  ("submit", again, "ok")}

        def noted():
            lines = map(json.loads, file.read_text().splitlines())
            return {(line["what"], line.get("object"), line["result"])
                    for line in lines
                    if (line["who"], line["host"]) == ("http", "127.0.0.1")}
        self.running.wait_until(lambda: noted() == wanted,
                                "lines of the audit log")


class GuardedPage(ClusterWorkplace):
    def test_the_token_is_the_password_of_a_browser(self):
        browser = Browser()
        self.addCleanup(browser.close)
        token = self.top / "token"
        token.write_text(TOKEN + "\n")
        token.chmod(0o600)
        cluster = self.cluster(["0", "1"], "--http", "127.0.0.1:0",
                               "--http-token-file", token)
        at = told_at(cluster.daemons[0], "the cluster")
        status, said = get(at, "/")[:2]
        self.assertEqual(status, 401)
        self.assertIn("show the token: ", said)
        browser.know(TOKEN)
        browser.open(f"http://{at}/")
        browser.wait_for(
            "document.querySelectorAll('#daemon-table tbody tr').length", 2)
        self.assertEqual(browser.errors, [])
        self.assertNotIn(TOKEN, cluster.logs())


if __name__ == "__main__":
    if not chromium():
        print("skipped: no browser is installed (Debian: chromium)")
        sys.exit(SKIPPED)
    program()
    unittest.main(verbosity=2)
