"""What the page does beside showing how a cluster is: it puts runs side by side,
asks for what a token allows, and searches the log."""

import documents


class Conversations:
    """Tests of who has what Page has, and `run_module` as Modules."""

    def test_actions_are_there_with_the_token(self):
        self.show(documents.training())
        self.drops = True  # A refusal is told by the browser, too.
        self.assertEqual(self.buttons(), [])
        self.give_token("no-such-token-4711")
        self.browser.wait_for(
            "document.getElementById('token-said').textContent",
            "This is not the token for actions.")
        self.assertEqual(self.buttons(), [])
        self.click("#token-leave")
        self.give_token(self.coordinator.token)
        self.browser.wait_for("!document.getElementById('token').open")
        self.assertEqual(
            self.buttons(),
            ["Drain a", "Drain b", "Drain c",
             f"Cancel run {documents.WAITING}", f"Cancel run {documents.RUN}"])
        posted = self.coordinator.posted
        self.assertEqual(posted, ["/api/token"])
        # Nothing is done before it is confirmed.
        drain = "td.acts button[aria-label='Drain b']"
        self.click(drain)
        self.click("#confirm-leave")
        self.assertEqual(posted, ["/api/token"])
        self.click(drain)
        self.assertEqual(self.texts("#confirm-title"), ["Drain daemon b?"])
        self.click("#confirm-do")
        self.browser.wait_for("!document.getElementById('confirm').open")
        self.assertEqual(posted, ["/api/token", "/api/drain/b"])
        # Nowhere but in the page's memory.
        self.assertEqual(self.browser.evaluate(
            "[localStorage.length, sessionStorage.length, document.cookie,"
            " document.getElementById('token-input').value]"), [0, 0, "", ""])
        self.click("#act")
        self.assertEqual(self.buttons(), [])

    def test_a_token_is_given_as_soon_as_one_was_not(self):
        """A dialog tells of its end later, when it may be open again."""
        self.show(documents.training())
        self.click("#act")
        self.assertEqual(self.browser.evaluate("""(async () => {
            const [act, leave, input] = ["act", "token-leave", "token-input"]
                .map((id) => document.getElementById(id));
            input.value = "the one before";
            leave.click();
            act.click();
            const found = input.value;
            input.value = "the next one";
            await new Promise((done) => setTimeout(done, 200));
            return [found, input.value];
        })()"""), ["", "the next one"])

    def test_a_refusal_is_shown(self):
        self.show(documents.failed())
        self.drops = True
        self.give_token(self.coordinator.token)
        self.browser.wait_for("document.body.dataset.acts", "yes")
        self.click("#run-table td.acts button")
        self.click("#confirm-do")
        self.browser.wait_for(
            "document.getElementById('confirm-said').textContent",
            "no step is left to train")
        self.assertTrue(self.browser.evaluate(
            "document.getElementById('confirm').open"))
        self.coordinator.token = "another-one-by-now"
        self.click("#confirm-do")
        self.browser.wait_for("document.body.dataset.acts", "no")

    def test_runs_side_by_side(self):
        self.show(documents.two_runs())
        self.browser.wait_for(
            "document.querySelectorAll('#compare-first option').length", 3)
        self.enter("#compare-first", documents.RUN, "change")
        self.browser.wait_for(
            "document.querySelectorAll('#compare-charts [role=img] .curve[d]').length", 4)
        self.enter("#compare-second", documents.OTHER, "change")
        self.browser.wait_for(
            "document.querySelectorAll('#compare-charts [role=img] .curve[d]').length", 8)
        self.browser.wait_for("document.querySelectorAll("
                              "'#compare-charts .legend li').length", 8)
        self.assertEqual(self.texts("#compare-charts .legend li"), [
            f"{documents.RUN}0.6667", f"{documents.OTHER}1.0000",
            f"{documents.RUN} (accuracy)0.7800",
            f"{documents.OTHER} (f1_macro)0.2500",
            f"{documents.RUN}0.00333", f"{documents.OTHER}0.005",
            f"{documents.RUN}12.5", f"{documents.OTHER}12.5"])
        facts = {name: values for name, *values
                 in self.rows("#compare-facts tbody tr")}
        self.assertEqual(facts["state"], ["finished", "cancelled"])
        self.assertEqual(facts["test accuracy"], ["0.7812", "0.7500"])
        self.assertEqual(facts["test metric"],
                         ["", "f1_macro 0.6500"])
        self.assertEqual([row[6] for row in self.rows("#run-table tbody tr")],
                         ["", "f1_macro 0.6500"])
        self.assertEqual(facts["epochs"], ["3", "2"])
        self.assertEqual(facts["last loss"], ["0.6667", "1.0000"])
        self.assertEqual(facts["time"], ["22 min", "10 min"])
        self.assertEqual(self.rows("#compare-fields tbody tr"), [
            ["sampler.fanouts", "[10, 5]", "[4, 3]"],
            ["train.epochs", "3", "2"], ["optimizer.kind", "", "sgd"]])
        self.assertEqual(self.texts("#compare-definitions pre"),
                         [documents.definition(),
                          self.coordinator.scene["definitions"][documents.OTHER]])
        self.assertEqual(len(self.texts("#compare-files button")), 6)

    def test_the_outcome_of_a_run_is_by_its_metric(self):
        said = self.run_module("""
            const {outcome} = await import('/page/panels/headline.js');
            const run = {run: "a-1", state: "finished", accuracy: 0.5};
            return [outcome(run),
                    outcome({...run, measured: {name: "f1:b", value: 0.25}})];
            """)
        self.assertEqual(said, ["a-1: accuracy 0.5000 on the test split",
                                "a-1: f1:b 0.2500 on the test split"])

    def test_metrics_as_a_table(self):
        made = self.run_module("""
            const {csvOf, rowsOf} = await import('/page/data/runfiles.js');
            return csvOf(rowsOf('{"epoch":1,"a":"x,\\\\"y\\\\""}\\n\\n'
              + '[1]\\nnull\\n{"epoch":2,"loss":0.5}\\n{"epoch":3,"lo'));""")
        self.assertEqual(made, 'epoch,a,loss\r\n1,"x,""y""",\r\n2,,0.5\r\n')

    def test_fields_of_a_definition(self):
        made = self.run_module("""
            const {fieldsOf} = await import('/page/data/runfiles.js');
            return [...fieldsOf(['name: "a: b"', 'sampler:', '  fanouts:',
              '    default: [5, -1]', '    "a b__c": [0]', '  replace: true',
              'seed: 7', '# no: field', ''].join('\\n'))];""")
        self.assertEqual(made, [
            ["name", '"a: b"'], ["sampler.fanouts.default", "[5, -1]"],
            ['sampler.fanouts."a b__c"', "[0]"], ["sampler.replace", "true"],
            ["seed", "7"]])

    def test_of_several_runs_the_reader_chooses_one(self):
        run, beside = documents.RUN, documents.BESIDE
        self.show(documents.training())
        self.assertTrue(self.browser.evaluate(
            "document.getElementById('run-choice').hidden"))
        self.close()
        self.show(documents.beside())
        self.browser.wait_for(
            "document.getElementById('verdict-state').textContent", "Training")
        self.assertEqual(self.texts("#run-shown option"), [run, beside])
        self.assertIn(run, self.texts("#progress-figures dd"))
        # Each has its own curves; so have their stages.
        stages = ("[...document.querySelectorAll('#charts .chart')]"
                  ".find((chart) => chart.textContent.includes('stages are busy'))"
                  ".querySelectorAll('.legend li').length")
        self.browser.wait_for(stages, 4)
        self.enter("#run-shown", beside, "change")
        starved = "Training; trainers starve 62 % of the time"
        told = "document.getElementById('verdict-state').textContent"
        self.browser.wait_for(told, starved)
        self.assertIn(beside, self.texts("#progress-figures dd"))
        self.browser.wait_for(stages, 1)
        # The choice stays until the run is over.
        scene = self.coordinator.scene
        self.listen()
        scene["history"]["next"] += 1
        scene["runs"][beside]["verdict"]["sentence"] = "a later sentence"
        self.coordinator.tick()
        self.browser.wait_for(
            "document.body.textContent.includes('a later sentence')", True)
        self.browser.wait_for(told, starved)
        scene["status"] = {**scene["status"], "also_running": []}
        scene["history"]["next"] += 1
        self.coordinator.tick()
        self.browser.wait_for(told, "Training")
        self.assertTrue(self.browser.evaluate(
            "document.getElementById('run-choice').hidden"))
        self.assertIn(run, self.texts("#progress-figures dd"))

    def test_the_log_is_searched(self):
        self.show(documents.training())
        line = {"time": documents.NOW, "level": "info", "daemon": "a",
                "run": documents.RUN, "batch": "", "module": "run",
                "text": "run has begun"}
        self.coordinator.logs = {"next": 2, "lines": [
            line, {**line, "daemon": "b", "level": "warn", "module": "peer",
                   "text": documents.HOSTILE}]}
        self.click("#logs-open summary")
        self.browser.wait_for(
            "document.querySelectorAll('#log-list li').length >= 2")
        self.coordinator.logs = {"next": 2, "lines": []}
        self.enter("#log-search", "BEGUN")
        self.browser.wait_for(
            "[...document.querySelectorAll('#log-list .text')]"
            ".every((one) => one.textContent.startsWith('run has begun'))")
        # Another coordinator tells what there is, in the place of what was told.
        self.coordinator.logs = {"next": 2, "anew": True, "lines": [
            {**line, "text": "run has begun anew"}]}
        self.browser.wait_for(
            "[...document.querySelectorAll('#log-list .text')]"
            ".map((one) => one.textContent.startsWith('run has begun anew'))"
            ".join()", "true")
        # Chosen anew, it begins anew: what is there was asked for since.
        self.coordinator.logs = {"next": 3, "lines": [
            {**line, "level": "warn", "text": "begun to be slow"}]}
        self.enter("#log-level", "warn", "change")
        self.browser.wait_for(
            "document.querySelectorAll('#log-list li').length >= 1")
        self.assertTrue(self.texts("#log-list .text")[0]
                        .startswith("begun to be slow"))
        self.assertTrue(any("/api/logs?level=warn" in path
                            for path in self.coordinator.asked))

    def test_a_coordinator_without_logs(self):
        self.show(documents.training())
        self.drops = True
        self.click("#logs-open summary")
        self.browser.wait_for(
            "document.getElementById('log-said').textContent",
            "No logs: this coordinator tells none.")
