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
    """Tests of who has a `browser`, `show`, `enter`, `rows`, `texts` and
    `run_module`."""

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

    def test_the_past_of_an_actor(self):
        """Its last 20 minutes: for two of them it had nothing to do."""
        browser = self.browser
        self.show(documents.training())
        browser.wait_for("document.querySelectorAll('.node').length >= 10")
        browser.evaluate(
            "[...document.querySelectorAll('.node')]"
            ".find((one) => one.getAttribute('aria-label').startsWith('trainer'))"
            ".dispatchEvent(new MouseEvent('click', {bubbles: true}))")
        browser.wait_for(
            "document.querySelector('#details .past')?.hidden === false")
        [past] = self.texts("#details .past figcaption")
        self.assertRegex(past, r"^\d\d:\d\d to \d\d:\d\d: 83 % busy, 12 % "
                         r"starved: waits for input, 5 % waits for replies; "
                         r"6 waited for it at the most$")
        self.assertEqual(browser.evaluate(
            "document.querySelector('#details .past [role=img]')"
            ".getAttribute('aria-label')"), past)
        self.assertEqual(browser.evaluate(
            "[...document.querySelectorAll('#details .past path')]"
            ".map((one) => (one.getAttribute('d') ?? '').split('M').length - 1)"),
            [120, 120, 0, 120, 0])

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

    def test_a_list_says_a_thing_as_often_as_it_is_told(self):
        """And keeps who stays in it, whatever else goes or comes."""
        said = self.run_module("""
            const {el, keyed} = await import('/page/elements/dom.js');
            const list = el('ul', {}, 'no element', el('li', {}, 'of nobody'),
              el('li', {}, 'of nobody'));
            const show = (...items) => {
              const before = [...list.children];
              keyed(list, items, (item) => item, (item) => el('li', {}, item));
              return [...list.children].map((one) =>
                one.textContent + before.indexOf(one));
            };
            return [show('a', 'b', 'a'), show('a', 'b', 'a'),
              show('a', 'a', 'a', 'b'), show('b', 'a'), show()];""")
        self.assertEqual(said, [
            ["a-1", "b-1", "a-1"], ["a0", "b1", "a2"],
            ["a0", "a2", "a-1", "b1"], ["b3", "a0"], []])

    def test_what_daemons_take_of_their_machines(self):
        scene = documents.training()
        # As of a daemon that could not read it.
        scene["runs"][documents.RUN]["daemons"][2].update(
            threads=0, descriptors=0, most_descriptors=0)
        self.show(scene)
        self.browser.wait_for("document.querySelectorAll('.lane').length", 3)
        titles = self.texts("#daemon-table thead th")
        self.assertEqual(
            [[row[titles.index(name)]
              for name in ("read from disks", "written to disks",
                           "received from other daemons",
                           "sent to other daemons")]
             for row in self.rows("#daemon-table tbody tr")],
            3 * [["2.0 MB/s", "40 kB/s", "9.7 MB/s", "3.1 MB/s"]])
        counted = "1.3 GB \u00b7 41 threads \u00b7 88 of 1.0M descriptors \u00b7 in"
        self.assertEqual([counted in said for said in self.texts(".told")],
                         [True, True, False])
        self.assertNotIn("threads", self.texts(".told")[2])

    def test_each_curve_says_what_it_is_of(self):
        self.show(documents.beside())
        self.enter("#run-shown", documents.BESIDE, "change")
        legend = ("((title) => [...document.querySelectorAll('#charts .chart')]"
                  ".filter((chart) => chart.querySelector('h3').textContent === title)"
                  ".flatMap((chart) => [...chart.querySelectorAll('.legend li')])"
                  ".map((one) => one.textContent).join('; '))")
        for title, says in (
                ("Where the time of trainers goes",
                 "busy31 %; starved: waits for input62 %; "
                 "waits for other ranks7 %"),
                ("Share of time that stages wait for answers", "trainer7 %"),
                ("Sent to other daemons", "a3.0 MB/s; b3.0 MB/s; c3.0 MB/s"),
                ("Learning rate", f"{documents.RUN}0.003; "
                                  f"{documents.BESIDE}0.003")):
            with self.subTest(title):
                self.browser.wait_for(f"{legend}({title!r})", says)
        labels = self.browser.evaluate(
            LABELS.replace("SELECTOR", "#charts [role=img]"))
        columns = self.texts("#figures-rows thead th")[1:]
        self.assertEqual(len(labels), len(columns))
        runs, stages, daemons = (
            [row["title"] for row in documents.FIGURES[name] if row["title"]]
            for name in ("RUN_FIGURES", "STAGE_FIGURES", "DAEMON_FIGURES"))
        self.assertEqual(columns, [*runs, "Where the time of trainers goes",
                                   *stages, *daemons])
        for said, column in zip(labels, columns):
            self.assertRegex(said, f"^{column} from .*: from .* to ")

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
