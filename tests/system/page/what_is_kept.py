"""What the store of the web page keeps of documents, in a browser, most of it
without the network."""

import documents

# Tells a store rows of these times, and returns the times that it has of the
# daemon a.
TOLD = """
    const {Store} = await import('/page/data/store.js');
    const store = new Store();
    const tell = (times, names = ['a']) => {
      const rows = {fields: ['time', 'cores', 'loss'],
        rows: times.map((time) => [time, 1, 1])};
      store.takeHistory({now: times.at(-1), next: 0,
        daemons: Object.fromEntries(names.map((name) => [name, rows])),
        runs: {r: rows}});
      const a = store.daemons.get('a');
      return a ? [...a.times.slice(0, a.length)] : [];
    };"""


class WhatIsKept:
    """Tests of who has `run_module(body)`: it returns what an asynchronous
    function in the browser returns that may import the page's parts. One of them
    is of who has a `browser`, a `coordinator`, `show` and `listen`, too."""

    def test_an_hour_and_more_takes_no_more_memory(self):
        """Series and events of three hours, without the network."""
        kept = self.run_module("""
            const {Store} = await import('/page/data/store.js');
            const store = new Store();
            for (let i = 0; i < 10800; ++i) {
              const daemons = {a: {fields: ['time', 'cores'], rows: [[i, 1.5]]}};
              if (i < 3000) daemons[`other ${i}`] = daemons.a;
              store.takeHistory({now: i, next: i, daemons, runs:
                {[`run ${i >> 4}`]: {fields: ['time', 'loss'], rows: [[i, 1]]}}});
              store.takeEvents({next: i, events: [{seq: i, time: i,
                kind: 'warning', who: '', run: `run ${i >> 4}`, text: 't'}]});
            }
            const a = store.daemons.get('a');
            return [a.length >= 3600, a.room, a.last, store.daemons.size,
              store.runs.size, store.events.length];""")
        self.assertEqual(kept, [True, 4096, 10799, 1, 32, 2000])

    def test_what_is_told_after_a_clock_was_set_back(self):
        """Figures of a clock that ran ahead make room, and what has come
        before is passed over."""
        kept = self.run_module(TOLD + """
            const all = [tell([100, 101, 102]), tell([102, 103]),
              tell([50, 51], ['b'])];
            tell([51, 52]);
            all.push([...store.daemons.keys()], tell([53]));
            return all;""")
        self.assertEqual(kept, [[100, 101, 102], [100, 101, 102, 103], [],
                                ["b", "a"], [51, 52, 53]])

    def test_another_cluster_at_the_same_address(self):
        kept = self.run_module(TOLD + """
            const told = (seq, text) => ({seq, time: seq, kind: 'warning',
              who: '', run: '', text});
            const texts = (next, events) => {
              store.takeEvents({next, events});
              return store.events.map(({text}) => text);
            };
            return [texts(9, [told(7, 'a'), told(8, 'b')]),
              texts(10, [told(8, 'b'), told(9, 'c')]),
              texts(8, [told(7, 'x')])];""")
        self.assertEqual(kept, [["a", "b"], ["a", "b", "c"], ["x"]])

    def test_another_cluster_that_has_seen_more(self):
        """More events, that is, in less time: all of them are asked for."""
        kept = self.run_module(TOLD + """
            tell([100]);
            store.takeEvents({next: 9, events: [
              {seq: 8, time: 8, kind: 'warning', who: '', run: '', text: 'a'}]});
            store.takeHistory({now: 200, next: 7, daemons: {}, runs: {}});
            const before = [store.eventsNext, store.events.length];
            store.takeHistory({now: 201, next: 3, daemons: {}, runs: {}});
            return [before, [store.eventsNext, store.events.length]];""")
        self.assertEqual(kept, [[9, 1], [None, 0]])

    def test_another_cluster_is_shown(self):
        """Whose events have the numbers of those that were shown before."""
        scene = documents.idle()
        scene["events"] = documents.Events()
        for who in "ab":
            scene["events"].add(5, "joined", f"daemon {who} has joined", who=who)
        self.show(scene)
        marks = ("[...document.querySelectorAll('.brush title')]"
                 ".map((one) => one.textContent).join('; ')")
        listed = ("[...document.querySelectorAll('#event-list .text')]"
                  ".map((one) => one.textContent).join('; ')")
        self.browser.wait_for(listed, "daemon b has joined; daemon a has joined")
        self.browser.wait_for(marks, "daemon a has joined; daemon b has joined")
        self.listen()
        scene["events"] = documents.Events().add(
            2, "joined", "daemon z has joined", who="z")
        self.coordinator.tick(since=0)
        self.browser.wait_for(listed, "daemon z has joined")
        self.browser.wait_for(marks, "daemon z has joined")

    def test_more_daemons_than_are_kept(self):
        """Some are kept for as long as they are there, rather than none."""
        kept = self.run_module(TOLD + """
            const names = Array.from({length: 300}, (_, i) => `d${i}`);
            for (let i = 0; i < 20; ++i) tell([i], names);
            const many = [...store.daemons.values()].map(({length}) => length);
            tell([20], ['new']);
            return [many.length, Math.min(...many), store.daemons.size,
              store.daemons.has('new')];""")
        self.assertEqual(kept, [256, 20, 256, True])
