"""Which batches are in flight, and at which stage, as the web page says it: by
steps from 1, of documents that count from 0."""

import documents

# Where the batches of some actors are: of each stage its first step, and how
# many. An actor is [kind, step, state, epoch].
SEEN = """
    const {Flight, flightOf} = await import('/page/pipeline/flight.js');
    const {groupsOf} = await import('/page/pipeline/groups.js');
    const groups = (...actors) => groupsOf({actors: actors.map(
      ([kind, step, state = 'running', epoch = 1]) => ({kind, state, rank: 0,
        batch: step === null ? null : {phase: 'train', epoch, step, rank: 0}}))});
    const seen = (...actors) => flightOf(groups(...actors))?.stages.map(
      ({kind, first, count}) => [kind, first, count]) ?? null;"""


class BatchesInFlight:
    """Tests of who has a `browser`, `show`, `texts` and `run_module`."""

    def test_each_lane_says_where_they_are(self):
        self.show(documents.training())
        self.browser.wait_for("document.querySelectorAll('.flight li').length",
                              15)
        self.assertEqual(self.texts(".flight > span"), [
            f"Batches in flight: train, epoch 4, rank {rank}"
            for rank in range(3)])
        self.assertEqual(self.texts(".lane:first-child .flight li"), [
            "dispatchersteps 220\u2013225", "samplersteps 217\u2013219",
            "fetcherstep 216", "batchersteps 214\u2013215", "trainerstep 213"])
        self.assertEqual(self.browser.evaluate(
            "[...document.querySelectorAll('.lane:first-child .flight path')]"
            ".map((one) => one.getAttribute('d').split('M').length - 1)"),
            [6, 3, 1, 2, 1])

    def test_none_has_begun(self):
        self.assertEqual(self.run_module(SEEN + """
            return [seen(['dispatcher', null]), seen(['sampler', 3])];"""),
            [None, None])

    def test_a_phase_begins(self):
        """What others tell of the phase before is no part of it."""
        self.assertEqual(self.run_module(SEEN + """
            return seen(['dispatcher', 5], ['sampler', 3],
              ['fetcher', 40, 'starved', 0], ['batcher', 40, 'starved', 0],
              ['trainer', 40, 'waiting', 0]);"""),
            [["dispatcher", 4, 2], ["sampler", 3, 1], ["fetcher", None, 0],
             ["batcher", None, 0], ["trainer", None, 0]])

    def test_several_trainers_and_a_batch_begun_anew(self):
        self.assertEqual(self.run_module(SEEN + """
            return seen(['trainer', 7, 'waiting'], ['trainer', 8, 'starved'],
              ['batcher', 8], ['fetcher', 9], ['sampler proxy', 6],
              ['dispatcher', 9, 'stalled']);"""),
            [["dispatcher", None, 0], ["sampler proxy", None, 0],
             ["fetcher", 9, 1], ["batcher", None, 0], ["trainer", 7, 2]])

    def test_a_phase_is_over(self):
        self.assertEqual(self.run_module(SEEN + """
            return seen(['dispatcher', 9, 'starved'], ['sampler', 9, 'starved'],
              ['trainer', 9, 'starved']);"""),
            [["dispatcher", None, 0], ["sampler", None, 0],
             ["trainer", None, 0]])

    def test_however_many_there_are(self):
        """The drawing has room for so many; the words are exact."""
        self.assertEqual(self.run_module(SEEN + """
            const flight = new Flight('a');
            flight.show(groups(['dispatcher', 1000000], ['trainer', 0]));
            const all = (selector) => [...flight.line.querySelectorAll(selector)];
            return [all('li').map((one) => one.textContent),
              all('path').map((one) => one.getAttribute('d').split('M').length - 1)];"""),
            [["dispatchersteps 2\u20131,000,001", "trainerstep 1"], [25, 1]])
