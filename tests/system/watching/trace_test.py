"""What `graphmill trace` and `train --trace` write of a run: a file that parses,
whose spans do not overlap, whose arrows connect, and whose clocks agree."""

import collections
import json
import pathlib
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from clusters import ClusterWorkplace
from runs import SMALL, merged
from support import graphmill, program
from trace_format import check_document

ALL = ("--last", "1440min")
NANOSECOND = 1e-3  # Of microseconds: what rounding may take.

# Rank 1, on d1, has its batches sampled by d0.
APART = merged(SMALL, {"trainer": {"replicas": 2},
                       "placement": {"trainers": ["d0", "d1"],
                                     "samplers": ["d0"]}})


class TraceFile:
    """A trace as a viewer sees it. Times in microseconds."""

    def __init__(self, path):
        self.whole = json.loads(path.read_text())
        check_document(self.whole)
        self.processes = {}  # Names by pid.
        self.threads = {}    # Names by pid and tid.
        self.spans = collections.defaultdict(list)  # By pid and tid.
        self.flows = collections.defaultdict(list)  # By kind and id.
        self.requests = collections.defaultdict(list)  # By id.
        for event in self.whole["traceEvents"]:
            self.add(event)
        for spans in self.spans.values():
            spans.sort(key=lambda span: (span["ts"], span["dur"]))
            # In floating point, as viewers compute it.
            for one, following in zip(spans, spans[1:]):
                assert one["ts"] + one["dur"] <= following["ts"], \
                    (one, following)

    def add(self, event):
        place = event["pid"], event["tid"]
        if event["name"] == "process_name":
            self.processes[event["pid"]] = event["args"]["name"]
        elif event["name"] == "thread_name":
            self.threads[place] = event["args"]["name"]
        elif event["ph"] == "X":
            self.spans[place].append(event)
        elif event["ph"] in "stf":
            self.flows[event["cat"], event["id"]].append(event)
        elif event["ph"] in "be":
            self.requests[event["id"]].append(event)

    def kind(self, event):
        """Of the actor: a thread is called "trainer, rank 0"."""
        return self.threads[event["pid"], event["tid"]].split(",")[0]

    def daemon(self, event):
        return self.processes[event["pid"]]

    def clock_error(self, *events):
        errors = self.whole["otherData"]["daemons"]
        return NANOSECOND + sum(errors[self.daemon(event)]["clock_error_us"]
                                for event in events)

    def around(self, event):
        """The span of a batch that an event of a flow belongs to."""
        found = [span for span in self.spans[event["pid"], event["tid"]]
                 if "args" in span
                 and span["ts"] - NANOSECOND <= event["ts"]
                 <= span["ts"] + span["dur"] + NANOSECOND]
        assert found, f"no span around {event}"
        return found[-1]

    def ways(self, kind):
        """Of each flow the spans that it goes through."""
        return [[self.around(event) for event in events]
                for (of, _), events in self.flows.items() if of == kind]


def batch_of(span):
    return tuple(span["args"][name]
                 for name in ("phase", "epoch", "step", "rank"))


def end_of(span):
    return span["ts"] + span["dur"]


class Traces(ClusterWorkplace):
    def check(self, trace):
        """What holds of every trace."""
        for place, spans in trace.spans.items():
            name = trace.threads[place]
            for one, other in zip(spans, spans[1:]):
                self.assertLessEqual(end_of(one), other["ts"] + 2 * NANOSECOND,
                                     f"spans of {name} overlap")
            if name.startswith("trainer"):
                covered = sum(span["dur"] for span in spans)
                self.assertGreaterEqual(
                    covered,
                    0.95 * (end_of(spans[-1]) - spans[0]["ts"]), name)
        for events in trace.flows.values():
            phases = "".join(event["ph"] for event in events)
            self.assertRegex(phases, "^st*f$")
        for begin, end in trace.requests.values():
            self.assertEqual((begin["ph"], end["ph"]), ("b", "e"))
            self.assertLessEqual(begin["ts"], end["ts"])
            self.assertGreaterEqual(begin["args"]["bytes"], 0)

    def check_flows(self, trace, steps, kinds):
        """Every batch of training goes from its sampler to its trainer, and
        where one rank has waited for the other, an arrow says so."""
        batches = set()
        for way in trace.ways("batch"):
            self.assertEqual(len({batch_of(span) for span in way}), 1)
            if way[0]["args"]["phase"] != "train":
                continue
            batches.add(batch_of(way[0]))
            self.assertEqual([trace.kind(span) for span in way], kinds)
            for span in way:
                self.assertEqual(span["name"], "running")
        self.assertEqual(len(batches), 2 * steps)
        gradients = trace.ways("gradients")
        self.assertEqual(len(gradients), steps)
        for done, waited in gradients:
            self.assertEqual((done["name"], waited["name"]),
                             ("running", "waiting"))
            self.assertEqual(batch_of(done)[:3], batch_of(waited)[:3])
            self.assertEqual({batch_of(done)[3], batch_of(waited)[3]}, {0, 1})
            self.assertLessEqual(
                done["ts"], end_of(waited) + trace.clock_error(done, waited))

    def check_causes(self, trace):
        """A stage begins when the one before has ended; what another daemon
        does for one, it does within."""
        elsewhere = 0
        for way in trace.ways("batch"):
            proxy, sampler, fetcher, batcher, trainer = way
            here = trace.daemon(trainer)
            self.assertEqual({trace.daemon(span) for span in
                              (proxy, fetcher, batcher)}, {here})
            self.assertEqual(trace.daemon(sampler), "d0")
            elsewhere += here != "d0"
            error = trace.clock_error(proxy, sampler)
            self.assertLessEqual(proxy["ts"], sampler["ts"] + error)
            self.assertLessEqual(end_of(sampler), end_of(proxy) + error)
            for one, other in ((sampler, fetcher), (fetcher, batcher),
                               (batcher, trainer)):
                self.assertLessEqual(
                    end_of(one), other["ts"] + trace.clock_error(one, other))
        self.assertGreater(elsewhere, 0)

    def test_daemons(self):
        cluster = self.cluster(["0", "1"])
        file = self.write(APART, self.parts)
        summary = cluster.run(file)
        run = pathlib.Path(summary["run"]).name
        out = self.top / "whole.json"
        told = cluster.ask("trace", run, *ALL, "--out", out)
        self.assertEqual(told["daemons"], 2)
        self.assertEqual(told["steps"], summary["steps"])
        self.assertEqual(told["missing"], [])
        trace = TraceFile(out)
        self.assertEqual(trace.whole["otherData"]["run"], run)
        self.assertEqual(set(trace.processes.values()), {"d0", "d1"})
        self.check(trace)
        self.check_flows(trace, summary["steps"],
                         ["sampler proxy", "sampler", "fetcher", "batcher",
                          "trainer"])
        self.check_causes(trace)
        self.assertTrue(trace.requests)
        self.assertTrue({"feature proxy", "dispatcher", "gradient group",
                         "sampling service"}
                        <= {name.split(",")[0]
                            for name in trace.threads.values()})
        # Its last steps alone.
        told = cluster.ask("trace", run, "--steps", 2, "--out", out)
        self.assertEqual(told["steps"], 2)
        few = TraceFile(out)
        self.check(few)
        trained = {batch_of(span)[1:3] for spans in few.spans.values()
                   for span in spans if "args" in span
                   and batch_of(span)[0] == "train"}
        everything = {batch_of(span)[1:3] for spans in trace.spans.values()
                      for span in spans if "args" in span
                      and batch_of(span)[0] == "train"}
        self.assertTrue(set(sorted(everything)[-2:]) <= trained)
        # Another run takes its place.
        again = pathlib.Path(cluster.run(file)["run"]).name
        self.assertIn("has traces of run",
                      cluster.refused("trace", run, "--out", out))
        self.assertEqual(cluster.ask("trace", "--out", out)["run"], again)

    def test_steps_of_a_run_that_is_on(self):
        cluster = self.cluster(["0", "1"])
        # Slow, so that spans are asked for long before they are overwritten.
        definition = merged(SMALL, {"train": {"epochs": 100000},
                                    "trainer": {"replicas": 2},
                                    "checkpoint": {"keep": 0},
                                    "faults": {"trainer_delay_ms": 10}})
        run = cluster.ask("submit", self.write(definition, self.parts))["run"]
        cluster.wait_until(
            lambda: cluster.call("trace", run, "--out",
                                 self.top / "early.json").returncode == 0,
            "daemon with traces")
        out = self.top / "steps.json"
        self.assertEqual(
            cluster.ask("trace", run, "--steps", 3, "--out", out)["steps"], 3)
        trace = TraceFile(out)
        self.check(trace)
        self.assertTrue(trace.ways("batch"))
        # A daemon is lost: what went before can be seen while the run waits.
        cluster.daemons[1].kill()
        cluster.wait_until(
            lambda: cluster.ask("runs")["runs"][0]["state"] == "queued",
            "run that waits for its next attempt")
        late = self.top / "late.json"
        told = cluster.ask("trace", run, "--last", "10s", "--out", late)
        self.assertEqual(told["daemons"], 1)
        self.assertGreater(told["steps"], 0)
        cluster.ask("cancel", run)
        said = cluster.refused("trace", "20200101-000000-none", "--out", out)
        self.assertIn('there is no run "20200101-000000-none"', said)

    def test_one_process(self):
        out = self.top / "one.json"
        definition = merged(SMALL, {"trainer": {"replicas": 2}})
        plain = self.train(definition, self.parts)
        arguments = self.arguments(definition, self.parts)[1:]
        done = graphmill(*arguments, "--trace", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        summary = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual(summary["digest"], plain["digest"])
        trace = TraceFile(out)
        self.check(trace)
        self.check_flows(trace, summary["steps"],
                         ["sampler", "fetcher", "batcher", "trainer"])
        done = graphmill(*arguments, "--trace", self.top / "nowhere" / "x.json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("nowhere", done.stderr)


if __name__ == "__main__":
    program()
    unittest.main()
