"""What the store of the web page keeps of documents, in a browser, without the
network."""

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
    function in the browser returns that may import the page's parts."""

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
