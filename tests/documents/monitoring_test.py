"""The page on monitoring describes every metric that there is, with its type,
and the examples of a dashboard and of alerts name no other."""

import json
import pathlib
import re
import shutil
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "monitoring"
RULES = pathlib.Path(__file__).with_name("alert_rules.yaml")
FAMILY = re.compile(r'"(graphmill_\w+)",\s*metric_(gauge|counter)')
HELPED = re.compile(FAMILY.pattern + r',\s*"([^"]+)')
ROW = re.compile(r"^\| `(graphmill_\w+)` \| (gauge|counter) \|", re.MULTILINE)
NAME = re.compile(r"\bgraphmill_\w+")


def metrics():
    """Names and types of all that is written, as the sources have them."""
    return {name: kind for path in (ROOT / "actors" / "http" / "metrics").glob("*.cpp")
            for name, kind in FAMILY.findall(path.read_text())}


class Monitoring(unittest.TestCase):
    def test_all_are_found(self):
        """By the form in which the sources name them."""
        for path in (ROOT / "actors" / "http" / "metrics").glob("*.cpp"):
            self.assertEqual(len(NAME.findall(path.read_text())),
                             len(FAMILY.findall(path.read_text())), path.name)
        self.assertGreater(len(metrics()), 50)

    def test_the_page_has_all_of_them(self):
        page = (ROOT / "examples/guide/prometheus.md").read_text()
        rows = ROW.findall(page)
        self.assertEqual(len(rows), len(dict(rows)))
        self.assertEqual(dict(rows), metrics())

    def test_examples_name_no_other(self):
        known = metrics()
        for name in "alerts.yaml", "dashboard.json", "prometheus.yaml":
            found = set(NAME.findall((EXAMPLES / name).read_text()))
            self.assertLessEqual(found, set(known), name)
            if name != "prometheus.yaml":
                self.assertGreater(len(found), 10, name)

    def test_each_rule_has_its_case(self):
        """In which it is silent, and in which it speaks."""
        rules = re.findall(r"- alert: (\w+)",
                           (EXAMPLES / "alerts.yaml").read_text())
        self.assertEqual(len(rules), len(set(rules)))
        text = RULES.read_text()
        well = set(re.findall(r"\{eval_time: 15m, alertname: (\w+)\}", text))
        self.assertEqual(well, set(rules))
        spoken = re.findall(r"alertname: (\w+)\n +exp_alerts:", text)
        self.assertEqual(set(spoken), set(rules))
        self.assertLessEqual(set(NAME.findall(text)), set(metrics()))

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
    def test_rules_speak_when_they_should(self):
        for arguments in (["check", "rules", EXAMPLES / "alerts.yaml"],
                          ["check", "config", "--syntax-only",
                           EXAMPLES / "prometheus.yaml"],
                          ["test", "rules", RULES]):
            done = subprocess.run(["promtool", *arguments], text=True,
                                  capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
    def test_names_and_helps_are_as_they_should_be(self):
        """By Prometheus's own taste: a page is made of all that there is."""
        page = "".join(
            f"# HELP {name} {help}\n# TYPE {name} {kind}\n{name} 1\n"
            for path in (ROOT / "actors" / "http" / "metrics").glob("*.cpp")
            for name, kind, help in HELPED.findall(path.read_text()))
        self.assertEqual(page.count("# TYPE"), len(metrics()))
        done = subprocess.run(["promtool", "check", "metrics"], input=page,
                              text=True, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_rates_are_of_counters(self):
        known = metrics()
        for name in "alerts.yaml", "dashboard.json":
            text = (EXAMPLES / name).read_text()
            for metric in re.findall(r"(?:rate|increase)\((graphmill_\w+)",
                                     text):
                self.assertEqual(known[metric], "counter", name)

    def test_alerts_do_not_wait_for_what_may_never_be_told(self):
        """A run has no step before its first one: `and` with what there is
        not is nothing, so that who never begins would be told of by nobody."""
        text = (EXAMPLES / "alerts.yaml").read_text()
        changing = re.findall(r"(\w+) on \(job, instance, run\) changes\(", text)
        self.assertEqual(changing, ["unless"] * 3)

    def test_sums_are_of_one_page(self):
        """The coordinator's page and a daemon's own one tell of the same
        actors."""
        for name in "alerts.yaml", "dashboard.json":
            labels = re.findall(r"\bsum by \(([^)]*)\)",
                                (EXAMPLES / name).read_text())
            self.assertTrue(labels, name)
            for of in labels:
                self.assertIn("instance", of.split(", "), name)

    def test_the_dashboard_is_whole(self):
        dashboard = json.loads((EXAMPLES / "dashboard.json").read_text())
        panels = dashboard["panels"]
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
        taken = set()
        for panel in panels:
            for target in panel["targets"]:
                self.assertRegex(target["expr"], NAME)
            at = panel["gridPos"]
            for x in range(at["x"], at["x"] + at["w"]):
                for y in range(at["y"], at["y"] + at["h"]):
                    self.assertLess(x, 24)
                    self.assertNotIn((x, y), taken, panel["title"])
                    taken.add((x, y))


if __name__ == "__main__":
    unittest.main()
