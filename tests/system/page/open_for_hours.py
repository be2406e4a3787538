"""A page that is left open while a cluster goes on, before the mock of the
coordinator: what is told of two hours comes in a quarter of a minute."""

import time

import documents
from browser import PATIENCE_SECONDS

MINUTE = 60
EVENTS_A_MINUTE = 5
LIST_IS_FULL = 2000  # Events that the page keeps.
MOST_ROWS = 4096  # Of a series: of an hour, and some slack.

# An element of the list of events is some ten nodes. A page that kept all that
# comes would have thousands more after an hour.
ELEMENTS_OF_AN_AXIS = 100  # Its labels are now more, now fewer.
NODES_OF_AN_AXIS = 1000
SERIES_AT_WORK = 4  # Made for a drawing, and gone after it.

# Two actors of one name may be at work for equally long, and two of whom the
# verdict speaks may be alike: lists have the same sentence more than once.
SAID_TWICE = ["a worker of sampler has been at one piece of work for 31 s",
              "a worker of fetcher has been at one piece of work for 12 s",
              "a worker of sampler has been at one piece of work for 31 s"]


def minute_until(past, at):
    """History of the minute that ends `at` seconds after that which was there
    when the page was opened."""
    times = [documents.NOW + at - second
             for second in reversed(range(MINUTE))]

    def later(told):
        figures = told["rows"][-1][1:]
        return {"fields": told["fields"],
                "rows": [[time, *figures] for time in times]}
    return {"now": times[-1], "next": past["next"] + at, "more": False,
            "daemons": {name: later(told)
                        for name, told in past["daemons"].items()},
            "runs": {name: {**later(told), "stages": {
                kind: later(some) for kind, some in told["stages"].items()}}
                     for name, told in past["runs"].items()}}


class OpenForHours:
    """Tests of who has a `browser`, a `coordinator`, `show`, `texts` and
    `listen`."""

    def instances(self, module, name, figures):
        """Of a class of the page's data, all that are alive, wherever they are kept:
        `figures` of each, a function body of `one`."""
        ask = self.browser.ask
        prototype = ask(
            "Runtime.evaluate", awaitPromise=True, objectGroup="kept",
            expression=f"import('/page/data/{module}.js')"
                       f".then((module) => module.{name}.prototype)")
        alive = ask("Runtime.queryObjects", objectGroup="kept",
                    prototypeObjectId=prototype["result"]["objectId"])
        found = ask("Runtime.callFunctionOn", returnByValue=True,
                    objectId=alive["objects"]["objectId"],
                    functionDeclaration="function () { return this.map("
                                        f"(one) => {figures}); }}")
        ask("Runtime.releaseObjectGroup", objectGroup="kept")
        return found["result"]["value"]

    def nodes(self, most=None):
        """Also those that are in no document any more, but in memory. What was
        drawn last may be in use until the next collection, or one after it:
        collects until there are `most`, within the patience of a test."""
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            self.browser.ask("HeapProfiler.collectGarbage")
            found = self.browser.ask("Memory.getDOMCounters")["nodes"]
            if most is None or found <= most or time.monotonic() > end:
                return found
            time.sleep(0.05)

    def kept(self, most_nodes=None):
        return {
            "elements": self.browser.evaluate(
                "document.querySelectorAll('*').length"),
            "nodes": self.nodes(most_nodes),
            "series": sorted(self.instances(
                "series", "Series", "[one.room, one.length]")),
            "events": self.instances("store", "Store", "one.events.length")}

    def play(self, begin, end):
        """What happens from a minute to another one; each tick is drawn."""
        events = self.coordinator.scene["events"]
        past = self.coordinator.scene["history"]
        for minute in range(begin, end):
            at = (minute + 1) * MINUTE
            last = events.all[-1]["seq"]
            for number in range(EVENTS_A_MINUTE):
                events.add(-at, "warning", f"minute {minute}, {number}",
                           who="a")
            self.coordinator.tick(minute_until(past, at), since=last + 1)
            self.browser.wait_for(
                "document.querySelector('#event-list .text').firstChild.data",
                f"minute {minute}, {EVENTS_A_MINUTE - 1}")

    def check_lists(self):
        """Each sentence is there as often as it is told."""
        self.assertEqual(self.texts("#evidence li"), SAID_TWICE)
        self.assertEqual(self.texts(".long-work li"), 3 * SAID_TWICE)

    def test_a_page_left_open_for_hours_does_not_grow(self):
        scene = documents.training()
        run = scene["runs"][documents.RUN]
        run["verdict"]["evidence"] = SAID_TWICE
        for daemon in run["daemons"]:
            daemon["long_work"] = SAID_TWICE
        for number in range(LIST_IS_FULL):
            scene["events"].add(0, "warning", f"before {number}", who="a")
        self.show(scene)
        self.listen()
        self.browser.wait_for(
            "document.querySelectorAll('#event-list li').length", 200)
        self.browser.wait_for("document.querySelectorAll('.node').length", 30)
        self.play(0, 10)
        early = self.kept()
        most = early["nodes"] + NODES_OF_AN_AXIS
        self.play(10, 70)
        hour = self.kept(most)
        self.play(70, 130)
        late = self.kept(most)
        self.assertEqual(early["events"], [LIST_IS_FULL])
        self.check_lists()
        for later in hour, late:
            self.assertEqual(later["events"], early["events"])
            self.assertLessEqual(later["elements"],
                                 early["elements"] + ELEMENTS_OF_AN_AXIS)
            self.assertLessEqual(later["nodes"], most)
            self.assertLessEqual(len(later["series"]),
                                 len(early["series"]) + SERIES_AT_WORK)
            for room, length in later["series"]:
                self.assertLessEqual(length, room)
                self.assertLessEqual(room, MOST_ROWS)
