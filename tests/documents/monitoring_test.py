"""The page on Prometheus has every metric with its type and its help, and the
examples of a dashboard and of alerts name no other.

    python3 tests/documents/monitoring_test.py --write    # corrects that page
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "monitoring"
PAGE = ROOT / "examples/guide/prometheus.md"
RULES = pathlib.Path(__file__).with_name("alert_rules.yaml")
# Names and helps, as the tables of figures and the writer of metrics have them.
SOURCES = [ROOT / "pipelines/figures/figure_tables.hpp",
           ROOT / "actors/http/metrics/prometheus_text.cpp"]
HELPED = re.compile(r'"(graphmill_\w+)",\s*(?:[\w:]+,\s*)?((?:"[^"]+"\s*)+)')
ROW = re.compile(r"^\| `(graphmill_\w+)` \| (gauge|counter) \| (.*) \| (.*) \|$",
                 re.MULTILINE)
NAME = re.compile(r"\bgraphmill_\w+")


def helped():
    """The first help of each, which a metric of several figures has."""
    found = {}
    for path in SOURCES:
        for name, help in HELPED.findall(path.read_text()):
            found.setdefault(name, "".join(re.findall(r'"([^"]+)"', help)))
    return found


def kind_of(name):
    return "counter" if name.endswith("_total") else "gauge"


def metrics():
    """Names and types of all that is written."""
    return {name: kind_of(name) for name in helped()}


def words_of(help):
    """As the page has a help: without a full stop, and no capital in front."""
    words = help.removesuffix(".")
    return words if words[1].isupper() else words[0].lower() + words[1:]


def corrected(page):
    """With a row for each metric. A new one stands behind the metric before it
    in the sources, and has its labels."""
    known = helped()
    behind, before = {}, None  # New metrics, by the one on the page before them.
    old = {name for name, *_ in ROW.findall(page)}
    for name in known:
        if name in old:
            before = name
        else:
            behind.setdefault(before, []).append(name)
    out = []
    for line in page.splitlines():
        row = ROW.match(line)
        if row is None:
            out.append(line)
            continue
        name, _, words, labels = row.groups()
        for each in [name] * (name in known) + behind.get(name, []):
            told = words_of(known[each])
            if each == name and words.replace("`", "") == told:
                told = words  # With its marks of code.
            out.append(f"| `{each}` | {kind_of(each)} | {told} | {labels} |")
    return "\n".join(out) + "\n"


class Monitoring(unittest.TestCase):
    def test_all_are_found(self):
        """By the form in which the sources name them."""
        for path in SOURCES:
            text = path.read_text()
            self.assertEqual(len(NAME.findall(text)), len(HELPED.findall(text)),
                             path.name)
        for path in (ROOT / "actors").rglob("*.?pp"):
            if path not in SOURCES:
                self.assertNotRegex(path.read_text(),
                                    r'"graphmill_\w+",\s*(?:[\w:]+,\s*)?"',
                                    path.name)
        self.assertGreater(len(metrics()), 50)

    def test_the_page_has_all_of_them(self):
        page = PAGE.read_text()
        rows = [name for name, *_ in ROW.findall(page)]
        self.assertEqual(len(rows), len(set(rows)))
        self.assertEqual(set(rows), set(metrics()))
        self.assertEqual(page, corrected(page), "run this file with --write")

    def test_a_new_metric_gets_a_row(self):
        page = PAGE.read_text()
        without = [line for line in page.splitlines(keepends=True)
                   if "`graphmill_daemon_sent_bytes_per_second`" not in line]
        self.assertNotEqual("".join(without), page)
        self.assertEqual(sorted(corrected("".join(without)).splitlines()),
                         sorted(page.splitlines()))

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
            for name, help in helped().items()
            for kind in [metrics()[name]])
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
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(corrected(PAGE.read_text()))
    else:
        unittest.main()
