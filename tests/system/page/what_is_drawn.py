"""What the web page draws of a run, and writes beside it: whom the verdict names is
outlined, and texts are whole, on a line, and not said twice."""

import documents

LABELS = "[...document.querySelectorAll('SELECTOR')]" \
    ".map((node) => node.getAttribute('aria-label'))"
# How far apart the words of the first event stand, in height.
UNEVEN = """(() => {
    const ends = [...document.querySelectorAll('#event-list li:first-child > *')]
        .map((part) => {
            const range = document.createRange();
            range.selectNodeContents(part.querySelector('span') ?? part);
            return range.getClientRects()[0].bottom;
        });
    return Math.max(...ends) - Math.min(...ends);
})()"""


class WhatIsDrawn:
    """Tests of who has a `browser`, `show`, `texts` and `run_module`."""

    def named(self):
        return self.browser.evaluate(
            LABELS.replace("SELECTOR", ".node[data-named]"))

    def test_starved(self):
        """Each actor says by words how it is, and the one that limits is
        marked."""
        self.show(documents.starved())
        self.browser.wait_for(
            "document.querySelectorAll('.node[data-state=starved]').length >= 3")
        named = self.named()
        self.assertEqual(len(named), 1)
        self.assertRegex(named[0], "^feature service running limits 99 % busy.*"
                                   "queue 64.*: works, 99 % busy.*"
                                   "the verdict names it$")
        trainers = [said for said in self.browser.evaluate(
            LABELS.replace("SELECTOR", ".node")) if said.startswith("trainer")]
        self.assertEqual(len(trainers), 3)
        for said in trainers:
            self.assertIn("62 % starved: waits for input", said)
        self.assertIn("raise fetch.threads",
                      self.texts("#verdict-sentence")[0])
        self.assertEqual(self.texts(".long-work li"), [
            "a worker of feature service 1 has been at one piece of work for "
            "14 s"])

    def test_both_ways_over_a_link_are_named(self):
        """Those of the daemon that asks, but not of the one that it asks."""
        scene = documents.starved()
        now = scene["runs"][documents.RUN]
        now["verdict"]["limit"] = 'link of daemon "a" to daemon "b"'
        self.show(scene)
        self.browser.wait_for(
            "document.querySelectorAll('.node[data-named]').length", 2)
        self.assertEqual([said.split()[:2] for said in self.named()],
                         [["sampling", "proxy"], ["feature", "proxy"]])
        self.assertEqual(self.browser.evaluate(
            "[...document.querySelectorAll('.lane')]"
            ".map((lane) => lane.querySelectorAll('[data-named]').length)"),
            [2, 0, 0])

    def test_who_gives_credit_is_named(self):
        scene = documents.starved()
        scene["runs"][documents.RUN]["verdict"]["limit"] = 'credit at daemon "b"'
        self.show(scene)
        self.browser.wait_for(
            "document.querySelectorAll('.node[data-named]').length", 1)
        self.assertRegex(self.named()[0], "^dispatcher ")

    def test_actors_have_their_whole_names(self):
        for width in 1440, 768, 390:
            with self.subTest(width=width):
                self.show(documents.training(), width=width)
                self.browser.wait_for(
                    "document.querySelectorAll('.node').length >= 10")
                self.assertEqual([one for one in self.texts(".node .title")
                                  if "\u2026" in one], [])
                self.close()

    def test_times_of_an_axis_differ(self):
        said = self.run_module("""
            const {timeSteps, timeFormat} = await import('/page/curves/scale.js');
            return [20, 100, 299, 300, 333, 700, 3600].map((span) => {
                const times = timeSteps(1763882403, 1763882403 + span, 12);
                return times.map(timeFormat(times));
            });""")
        for times in said:
            self.assertGreater(len(times), 1)
            self.assertEqual(len(set(times)), len(times), times)
        self.assertEqual({len(one) for one in said[-1]}, {len("12:05")})

    def test_an_event_names_nobody_twice(self):
        scene = documents.idle()
        scene["events"].add(3, "joined", "daemon d7 has joined", who="d7")
        scene["events"].add(2, "ended", "finished", run="cora-1")
        self.show(scene)
        self.browser.wait_for(
            "document.querySelectorAll('#event-list li').length >= 2")
        self.assertEqual(self.texts("#event-list .text")[:2],
                         ["finished (cora-1)", "daemon d7 has joined"])
        self.assertLess(self.browser.evaluate(UNEVEN), 1)
