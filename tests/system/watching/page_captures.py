#!/usr/bin/python3
"""Captures the web page in a headless Chromium, before a real cluster in the
states that a user must tell apart.

    python3 tests/system/watching/page_captures.py build/actors/graphmill FOLDER
        [--axe axe.min.js]

Leaves FOLDER/STATE-WIDTH-SCHEME.png of: idle, training, starved, finished, lost,
recovering, failed; 1440, 768 and 390 wide; light and dark. Each is taken of the
whole page once it says the state. They are to be looked at; what a machine can see
is printed, and then this ends with 1: errors on the console, what could not be
loaded, a page that is wider than its window and, with the file of the package
axe-core of npm, texts of too little contrast and whatever else it calls a
violation.
"""

import argparse
import pathlib
import sys
import tempfile

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from browser import Browser, chromium
from captured_states import in_each_state
from clusters import Cluster
from over_http import told_at
from runs import partitioned, small_rmat
from support import SKIPPED, program

PARTS = 3
SILENCE_SECONDS = 60  # Of a daemon that is stopped, while it is captured.
WIDTHS = 1440, 768, 390
SAID = "document.getElementById('verdict-state').textContent"
LANES = f"document.querySelectorAll('.lane').length === {PARTS}"
POINTS = """([...document.querySelectorAll('#charts .chart [role=img] .curve')]
    .some((curve) => (curve.getAttribute('d') ?? '').split('L').length > 8))"""
# What is true of the page in this state alone.
SIGNS = {
    "idle": f"{SAID} === 'Idle'",
    "training": f"{SAID}.startsWith('Training') && {LANES} && {POINTS}",
    "starved": f"{SAID}.includes('trainers starve') && {LANES} && {POINTS}",
    "finished": f"{SAID} === 'Run finished'",
    "lost": f"{SAID}.startsWith('Nothing is heard of')",
    "recovering": f"{SAID} === 'Recovering'",
    "failed": f"{SAID}.startsWith('Run failed')",
}
# Each graph is drawn for the width that it has.
DRAWN = """[...document.querySelectorAll('.graph')].every((graph) =>
    graph.getAttribute('viewBox')?.split(' ')[2] ===
        String(Math.floor(graph.getBoundingClientRect().width)))"""
AXE = """axe.run(document, {resultTypes: ['violations']}).then((told) =>
    told.violations.flatMap((one) => one.nodes.map((node) =>
        `${one.id}: ${node.target.join(' ')}: ${node.failureSummary}`)))"""


class Captures:
    def __init__(self, browser, folder, axe):
        self.browser = browser
        self.folder = folder
        self.axe = axe
        self.complaints = []

    def open(self, url):
        self.browser.look(height=8000)
        self.browser.open(url)
        self.browser.wait_for(
            "document.readyState === 'complete' && "
            "document.getElementById('link').dataset.up", "yes")
        if self.axe:
            self.browser.evaluate(self.axe)

    def capture(self, state):
        for width in WIDTHS:
            for dark in False, True:
                self.take(state, width, dark)

    def take(self, state, width, dark):
        """All of the page is in sight: what nobody sees is not drawn."""
        self.browser.look(width, 8000, dark, still=True)
        self.browser.wait_for(f"innerWidth === {width} && ({SIGNS[state]}) && "
                              f"({DRAWN})")
        height = self.browser.evaluate(
            "Math.ceil(document.querySelector('footer')"
            ".getBoundingClientRect().bottom)")
        self.browser.look(width, height, dark, still=True)
        self.browser.wait_for(f"innerHeight === {height} && ({DRAWN})")
        name = f"{state}-{width}-{'dark' if dark else 'light'}"
        self.browser.picture(self.folder / f"{name}.png")
        found = self.browser.errors + self.browser.unanswered
        if not self.browser.evaluate(
                "document.documentElement.scrollWidth <= innerWidth"):
            found.append("is wider than its window")
        if self.axe:
            found += self.browser.evaluate(AXE)
        self.browser.errors.clear()
        self.browser.unanswered.clear()
        self.complaints += [f"{name}: {one}" for one in found]
        print(f"{name}: {len(found)} complaints", flush=True)


def main():
    if not chromium():
        print("skipped: no browser is installed (Debian: chromium)")
        return SKIPPED
    program()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--axe", type=pathlib.Path)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    browser = Browser()
    try:
        with tempfile.TemporaryDirectory(prefix="graphmill-captures-") as made:
            top = pathlib.Path(made)
            parts = partitioned(small_rmat(top / "rmat"), PARTS, "random")
            with Cluster(top / "cluster", parts, [str(part) for part in range(PARTS)],
                         "--http", "127.0.0.1:0",
                         "--lost-after", str(SILENCE_SECONDS)) as cluster:
                captures = Captures(browser, given.folder,
                                    given.axe and given.axe.read_text())
                captures.open(
                    f"http://{told_at(cluster.daemons[0], 'the cluster')}/")
                in_each_state(cluster, top, captures.capture)
    finally:
        browser.close()
    print("\n".join(captures.complaints))
    return 1 if captures.complaints else 0


if __name__ == "__main__":
    raise SystemExit(main())
