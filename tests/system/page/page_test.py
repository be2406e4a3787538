"""The web page in a headless Chromium, before a mock of the coordinator that
plays documents: what it says in each state, by keyboard alone, after a lost
connection, and of names that look like markup. No test waits for a moment:
each for what must come."""

import pathlib
import re
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
import documents
from batches_in_flight import BatchesInFlight
from browser import PATIENCE_SECONDS, Browser, chromium
from mock_coordinator import MockCoordinator
from open_for_hours import OpenForHours
from page_user import PageUser
from runs_and_actions import Conversations
from what_is_drawn import WhatIsDrawn
from what_is_kept import WhatIsKept

SKIPPED = 77  # What Meson counts as skipped.

HEADLINES = {
    "idle": "Idle",
    "training": "Training",
    "starved": "Training; trainers starve 62 % of the time",
    "lost": 'Nothing is heard of "c"',
    "recovering": "Recovering",
    "finished": "Run finished",
    "failed": "Run failed",
}
STATE = "document.getElementById('verdict-state').textContent"
SENTENCE = "document.getElementById('verdict-sentence').textContent"
AGE = "document.getElementById('verdict-age').offsetParent !== null"
UP = "document.getElementById('link').dataset.up"


def setUpModule():
    global browser
    browser = Browser()


def tearDownModule():
    browser.close()


class Page(PageUser, unittest.TestCase):
    @property
    def browser(self):
        return browser

    def show(self, scene, **look):
        """Opens the page before a coordinator with these documents, in a window
        that has room for all of it: what nobody sees is not drawn."""
        self.coordinator = MockCoordinator(scene)
        self.addCleanup(self.coordinator.close)
        browser.look(height=8000, **look)
        browser.open(self.coordinator.url)
        browser.wait_for(f"document.readyState === 'complete' && {UP}", "yes")
        browser.wait_for(
            "document.getElementById('where').textContent !== ''")

    def close(self):
        browser.leave()
        self.coordinator.close()

    def setUp(self):
        browser.errors.clear()
        browser.unanswered.clear()
        self.drops = False

    def tearDown(self):
        browser.leave()
        self.assertEqual(browser.errors, [])
        if not self.drops:
            self.assertEqual(browser.unanswered, [])

    def questions(self):
        """What the page has asked the coordinator."""
        return [path for path in self.coordinator.asked
                if path.startswith("/api/")]

    def listen(self):
        """Until the page takes ticks."""
        self.assertTrue(self.coordinator.has_stream.wait(PATIENCE_SECONDS))


class States(Page):
    def test_each_is_told_apart(self):
        for name, scene in documents.SCENES.items():
            with self.subTest(name):
                self.show(scene())
                browser.wait_for(STATE, HEADLINES[name])
                self.assertIn(HEADLINES[name], browser.evaluate("document.title"))
                daemons = self.texts("#daemon-table tbody th")
                self.assertEqual(daemons, ["a", "b", "c"])
                self.close()

    def test_it_is_said_what_a_run_waits_for(self):
        self.show(documents.waiting_for_a_part())
        browser.wait_for(STATE, "Recovering")
        browser.wait_for(SENTENCE, f"{documents.RUN}: it waits to go on: "
                                   "no daemon serves part 2")

    def test_a_run_has_failed_and_a_part_is_missing(self):
        self.show(documents.failed_for_a_lost_daemon())
        browser.wait_for(STATE, "Run failed, and no other can start")
        self.assertIn("try a smaller learning rate",
                      browser.evaluate(SENTENCE))
        self.assertIn("no daemon in service has part 2: no run can start",
                      self.texts("#evidence li"))

    def test_a_daemon_is_lost(self):
        self.show(documents.lost())
        self.assertEqual(self.texts("#daemon-table tbody tr:nth-child(3) .word"),
                         ["lost"])
        self.assertEqual(self.texts(".lane[data-quiet=yes] h3"), ["c"])
        self.assertIn("daemon c is out of reach",
                      self.texts("#event-list li:first-child")[0])

    def test_runs_have_state_and_accuracy(self):
        self.show(documents.finished())
        row = self.texts("#run-table tbody tr > *")
        self.assertEqual(row[:2], [documents.RUN, "finished"])
        self.assertEqual(row[5], "0.7812")

    def test_curves_are_drawn_of_what_is_known(self):
        self.show(documents.training())
        browser.wait_for("document.querySelectorAll('#charts .curve[d]').length"
                         " >= 15")
        self.assertEqual(browser.evaluate(
            "[...document.querySelectorAll('#charts .chart')]"
            ".filter((chart) => !chart.querySelector('.curve[d]')).length"), 0)
        browser.evaluate("document.getElementById('figures-table').open = true")
        browser.wait_for("document.querySelectorAll('#figures-rows tbody tr')"
                         ".length", 12)
        self.assertRegex(self.texts("#figures-rows tbody tr:first-child")[0],
                         documents.RUN + r" 0\.71")

    def test_no_width_is_too_small(self):
        self.show(documents.starved())
        for width in 1440, 768, 390:
            browser.look(width, 8000, dark=width == 768)
            browser.wait_for("innerWidth", width)
            # Drawn anew for this width.
            browser.wait_for(
                "document.querySelector('.graph').getAttribute('viewBox')"
                ".split(' ')[2] === String(Math.floor(document"
                ".querySelector('.graph').getBoundingClientRect().width))")
            # Everything else is, too, sooner or later.
            browser.wait_for(
                "document.documentElement.scrollWidth <= innerWidth", True)

    def test_names_are_names(self):
        """Nothing of a cluster is taken for markup, or for a part of the
        language."""
        self.show(documents.hostile())
        browser.wait_for("document.querySelectorAll('.lane').length", 3)
        self.assertEqual(self.texts(".lane h3"),
                         ["a", "__proto__", documents.HOSTILE])
        self.assertEqual(browser.evaluate(
            "document.querySelectorAll('img, [onerror]').length"), 0)
        self.assertTrue(browser.evaluate(
            "Object.getPrototypeOf({}) === Object.prototype && !('rows' in {})"))


class Live(Page):
    def test_ticks_are_shown(self):
        self.show(documents.training())
        browser.wait_for(STATE, "Training")
        self.listen()
        seen = len(self.coordinator.scene["events"].all)
        self.coordinator.scene.update(documents.lost())
        self.coordinator.tick(since=0)
        browser.wait_for(STATE, HEADLINES["lost"])
        # What had come before is there once.
        browser.wait_for("document.querySelectorAll('#event-list li').length",
                         seen + 1)

    def test_a_lost_connection_is_said_and_made_up_for(self):
        self.show(documents.training())
        self.listen()
        browser.evaluate("document.querySelector('.lane summary').focus()")
        self.drops = True
        self.coordinator.drop()
        browser.wait_for(UP, "no")
        self.assertRegex(self.texts("#link-text")[0],
                         r"^not connected since \d\d:\d\d:\d\d: ")
        self.assertEqual(browser.evaluate("document.body.dataset.stale"), "yes")
        browser.wait_for(STATE, "Training")
        browser.wait_for(AGE, True)
        self.assertRegex(self.texts("#verdict-age")[0],
                         r"^as it was at \d\d:\d\d:\d\d$")
        self.coordinator.scene = documents.recovering()
        self.coordinator.serves = True
        browser.evaluate("document.getElementById('retry').click()")
        browser.wait_for(UP, "yes")
        browser.wait_for(STATE, "Recovering")
        browser.wait_for(AGE, False)
        asked = [path for path in self.coordinator.asked if "since=" in path]
        self.assertTrue(any(path.startswith("/api/history?since=")
                            for path in asked), asked)

    def test_a_page_out_of_sight_asks_for_nothing(self):
        self.show(documents.training())
        self.listen()

        hide(True)
        browser.wait_for(UP, "no")
        self.assertIn("paused", self.texts("#link-text")[0])
        asked = self.questions()
        self.coordinator.scene = documents.recovering()
        self.assertEqual(browser.evaluate(STATE), "Training")
        self.assertEqual(self.questions(), asked)
        hide(False)
        browser.wait_for(UP, "yes")
        browser.wait_for(STATE, "Recovering")

    def test_a_coordinator_that_is_stuck_is_not_live(self):
        self.show(documents.training())
        self.listen()
        browser.evaluate("window.ahead = 0; Date.now = ((before) =>"
                         " () => before() + window.ahead)(Date.now)")
        # Should it have come again meanwhile, all is new to it once.
        end = time.monotonic() + PATIENCE_SECONDS
        while not re.match(r"nothing new since \d\d:\d\d:\d\d: ",
                           self.texts("#link-text")[0]):
            self.assertLess(time.monotonic(), end)
            browser.evaluate("window.ahead += 60000")
            self.coordinator.tick()
        self.assertEqual(browser.evaluate(UP), "no")
        past = self.coordinator.scene["history"]
        self.coordinator.tick({**past, "next": past["next"] + 1,
                               "daemons": {}, "runs": {}})
        browser.wait_for(UP, "yes")

    def test_a_page_opened_out_of_sight_asks_for_nothing(self):
        script = browser.ask("Page.addScriptToEvaluateOnNewDocument",
                             source=hidden_is(True))["identifier"]
        self.addCleanup(browser.ask, "Page.removeScriptToEvaluateOnNewDocument",
                        identifier=script)
        self.coordinator = MockCoordinator(documents.training())
        self.addCleanup(self.coordinator.close)
        browser.open(self.coordinator.url)
        browser.wait_for(f"document.readyState === 'complete' && {UP}", "no")
        self.assertEqual(self.questions(), [])
        hide(False)
        browser.wait_for(UP, "yes")

    def test_the_page_does_not_grow(self):
        """Events and ticks leave no more elements than there is to be seen."""
        self.show(documents.training())
        self.listen()
        events = self.coordinator.scene["events"]
        for number in range(400):
            events.add(0, "warning", f"warning {number}", who="a")
        self.coordinator.tick(since=0)
        browser.wait_for("document.querySelector('#event-list .text')"
                         ".firstChild.data", "warning 399")
        size = "document.querySelectorAll('*').length"
        browser.wait_for("document.querySelectorAll('#event-list li').length",
                         200)
        # Curves are drawn after that, and actors when they come into sight.
        marks = "[...document.querySelectorAll('.brush title')]"
        browser.wait_for(f"{marks}.length", 300)
        browser.wait_for("document.querySelectorAll('.node').length", 30)
        before = browser.evaluate(size)
        for number in range(30):
            last = events.all[-1]["seq"]
            events.add(0, "warning", f"later {number}", who="a")
            self.coordinator.tick(since=last + 1)
        browser.wait_for("document.querySelector('#event-list .text')"
                         ".firstChild.data", "later 29")
        browser.wait_for(f"{marks}.at(-1).textContent", "later 29")
        self.assertLessEqual(abs(browser.evaluate(size) - before), 100)


def hidden_is(hidden):
    return ("Object.defineProperty(document, 'hidden', {configurable: true, "
            f"get: () => {str(hidden).lower()}}});")


def hide(hidden):
    """Out of sight, or into it."""
    browser.evaluate(hidden_is(hidden)
                     + "document.dispatchEvent(new Event('visibilitychange'))")


class Modules(Page):
    def run_module(self, body):
        self.show(documents.idle())
        return browser.evaluate(f"(async () => {{{body}}})()")


class Kept(WhatIsKept, Modules):
    pass


class Drawn(WhatIsDrawn, Modules):
    pass


class InFlight(BatchesInFlight, Modules):
    pass


class RunsAndActions(Conversations, Modules):
    pass


class LeftOpen(OpenForHours, Page):
    pass


class Keyboard(Page):
    FOCUSED = ("(document.activeElement.getAttribute('aria-label') ?? "
               "document.activeElement.textContent)")

    def tab_to(self, start, most=80):
        for _ in range(most):
            browser.press("Tab")
            if browser.evaluate(self.FOCUSED).startswith(start):
                return
        self.fail(f"{start} is not reached by Tab")

    def test_actors_are_opened_and_closed(self):
        self.show(documents.training())
        browser.wait_for("document.querySelectorAll('.node').length >= 10")
        self.tab_to("Skip to what runs now")
        self.tab_to("trainer running")
        browser.press("Enter")
        browser.wait_for("document.getElementById('details').open")
        self.assertEqual(self.texts("#details-title"), ["trainer at a"])
        said = self.texts("#details .pair")
        self.assertIn("busy91 %", said)
        self.assertIn("works ontrain, epoch 4, step 213, rank 0", said)
        browser.press("Escape")
        browser.wait_for("!document.getElementById('details').open")
        self.assertTrue(browser.evaluate(self.FOCUSED).startswith("trainer"))

    def test_time_is_chosen(self):
        self.show(documents.training())
        browser.wait_for("document.querySelectorAll('.handle').length", 2)
        browser.wait_for("document.querySelector('.handle').ariaValueNow !== null")
        browser.evaluate("document.querySelector('.handle').focus()")
        before = int(browser.evaluate(
            "document.activeElement.getAttribute('aria-valuenow')"))
        browser.press("ArrowRight")
        browser.wait_for(
            "Number(document.activeElement.getAttribute('aria-valuenow'))",
            before + 5)
        browser.press("Escape")
        browser.wait_for(
            "Number(document.activeElement.getAttribute('aria-valuenow'))",
            before)

    def test_landmarks_and_names(self):
        """Everything that can be reached has a name, and no id comes twice."""
        self.show(documents.training())
        browser.wait_for("document.querySelectorAll('.node').length >= 10")
        for tag in "header", "nav", "main", "footer":
            self.assertEqual(browser.evaluate(
                f"document.querySelectorAll('{tag}').length"), 1, tag)
        self.assertEqual(browser.evaluate(
            "[...document.querySelectorAll('[id]')].map((one) => one.id)"
            ".filter((id, i, all) => all.indexOf(id) !== i)"), [])
        # The browser makes the tree in its own time.
        for _ in range(50):
            tree = browser.ask("Accessibility.getFullAXTree")["nodes"]
            nameless = [node["role"]["value"] for node in tree
                        if not node.get("ignored")
                        and node["role"]["value"] in (
                            "button", "link", "slider", "searchbox", "region",
                            "img", "image", "table", "dialog")
                        and not node.get("name", {}).get("value")]
            if not nameless:
                break
            time.sleep(0.1)
        self.assertEqual(nameless, [])


if __name__ == "__main__":
    if not chromium():
        print("skipped: no browser is installed (Debian: chromium)")
        sys.exit(SKIPPED)
    unittest.main()
