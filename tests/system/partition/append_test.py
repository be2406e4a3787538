"""A dataset of tables and one of arrays grow by a day, with their parts, by the
built program. Runs go on from yesterday's weights."""

import fcntl
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from support import graphmill, imported, np, program

TYPES = ("--nodes", "person={}-persons.csv", "--nodes", "item={}-items.csv",
         "--edges", "person__buys__item={}-buys.csv")
RUN = {"sampler": {"fanouts": [4, 4]}, "model": {"hidden": 16},
       "train": {"batch_size": 32, "epochs": 2}}
TYPED = runs.merged(RUN, {"model": {"kind": "rgcn"}})


class Append(runs.Workplace):
    def tables(self, prefix, persons, items, seed):
        """Tables of a range of persons and items, whose edges also lead to
        earlier ones; returns words for them."""
        rng = np.random.default_rng(seed)
        said = {"persons": "id,label,split,f0,f1\n", "items": "id,f0\n",
                "buys": "person,item,weight\n"}
        for i in range(*persons):
            said["persons"] += (
                f"p{i},{'xyz'[i % 3]},{('train', 'val', 'test')[i % 3]},"
                f"{i % 7},{rng.integers(9)}\n")
        for i in range(*items):
            said["items"] += f"i{i},{i % 5}\n"
        for _ in range(6 * (persons[1] - persons[0])):
            said["buys"] += (f"p{rng.integers(persons[1])},"
                             f"i{rng.integers(items[1])},"
                             f"{rng.integers(1, 9) / 4}\n")
        for name, text in said.items():
            (self.top / f"{prefix}-{name}.csv").write_text(text)
        return [word.replace("{}", str(self.top / prefix)) for word in TYPES]

    def both_days(self):
        """Words for tables with the rows of both days."""
        for name in ("persons", "items", "buys"):
            first, second = ((self.top / f"{day}-{name}.csv").read_text()
                             for day in ("one", "two"))
            (self.top / f"all-{name}.csv").write_text(
                first + second.split("\n", 1)[1])
        return [word.replace("{}", str(self.top / "all")) for word in TYPES]

    def day_one(self, name):
        data = self.top / name
        imported("csv", *self.tables("one", (0, 90), (0, 40), 1), "--reverse",
                 "--out", data)
        return data

    def digest(self, data):
        return json.loads((data / "dataset.json").read_text())["digest"]

    def checked(self, data):
        told = self.ask("inspect", data)
        self.assertEqual(told["broken"], [])

    def test_tables(self):
        """The digest is that of an import of everything. Training goes on from
        yesterday's weights, alike for the whole and for the parts, and
        yesterday's run predicts today's nodes."""
        data = self.day_one("shop")
        parts = runs.partitioned(data, 3, "ldg")
        yesterday = self.train(TYPED, data)
        words = self.tables("two", (90, 99), (40, 44), 2)
        told = self.ask("append", data, *words, "--parts", parts)
        self.assertEqual((told["nodes"], told["edges"]), (13, 108))
        everything = self.top / "everything"
        imported("csv", *self.both_days(), "--reverse", "--out", everything)
        self.assertEqual(self.digest(data), self.digest(everything))
        self.assertEqual(told["digest"], self.digest(everything))
        self.checked(data)
        self.checked(parts)
        self.assertIn("cut_before", told["parts"])
        self.assertIn("first_cut", told["parts"])
        weights = pathlib.Path(yesterday["run"]) / "weights.safetensors"
        on = runs.merged(TYPED, {"model": {"weights": str(weights)}})
        digests = {self.train(on, where)["digest"]
                   for where in (data, parts, everything)}
        self.assertEqual(len(digests), 1)
        self.assertNotIn(yesterday["digest"], digests)
        out = self.top / "labels.csv"
        (self.top / "asked.txt").write_text("p95\np3\n")
        self.ask("predict", yesterday["run"], "--data", data, "--nodes",
                 self.top / "asked.txt", "--out", out)
        self.assertEqual([line.split(",")[:2] for line in
                          out.read_text().splitlines()[1:]],
                         [["95", "p95"], ["3", "p3"]])
        # There is nothing to catch up with.
        done = graphmill("append", data, "--parts", parts)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("nothing to do", done.stdout)

    def test_arrays(self):
        data = runs.small_rmat(self.top / "rmat")
        parts = runs.partitioned(data, 2, "metis")
        before = {path.relative_to(data): path.read_bytes()
                  for path in data.rglob("*.npy")}
        rng = np.random.default_rng(5)
        np.save(self.top / "features.npy",
                rng.normal(size=(10, 12)).astype(np.float32))
        edges = rng.integers(0, 1034, (2, 60))
        np.save(self.top / "edges.npy", edges)
        aside = self.top / "day=2"  # Which names no type.
        aside.mkdir()
        done = graphmill("append", data, "--edges", aside / "edges.npy")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"{aside}/edges.npy", done.stderr)
        (self.top / "edges.npy").rename(aside / "edges.npy")
        self.ask("append", data, "--nodes", self.top / "features.npy",
                 "--edges", aside / "edges.npy")
        self.checked(data)
        self.assertEqual(len(np.load(data / "nodes/node/labels.npy")), 1034)
        for name in ("train", "val", "test"):
            at = pathlib.Path(f"nodes/node/{name}.npy")
            self.assertEqual((data / at).read_bytes(), before[at])
        self.ask("append", data, "--parts", parts)
        self.checked(parts)
        digests = {self.train(runs.merged(RUN, {"sampler": {
            "fanouts": [5, 3], "method": method}}), where)["digest"]
            for where in (data, parts) for method in ("labor",)}
        self.assertEqual(len(digests), 1)
        self.assertIn("weights", graphmill(
            "train", self.write(runs.merged(RUN, {"sampler": {
                "fanouts": [4, 4], "method": "weighted"}}), data),
            "--data", data, "--runs", self.runs).stderr)

    def test_weighted(self):
        """Weighted draws are the same for the whole and for the parts."""
        data = self.day_one("weighted")
        parts = runs.partitioned(data, 3, "random")
        for replace in (False, True):
            run = runs.merged(TYPED, {"sampler": {
                "fanouts": [3, 2], "method": "weighted", "replace": replace}})
            digests = {self.train(run, where)["digest"]
                       for where in (data, parts)}
            self.assertEqual(len(digests), 1)

    def test_killed(self):
        """Whenever it is killed, the old dataset is there, or the new one."""
        data = self.day_one("killed")
        old = self.digest(data)
        words = self.tables("two", (90, 99), (40, 44), 2)
        copy = self.top / "copy"
        shutil.copytree(data, copy)
        new = self.ask("append", copy, *words)["digest"]
        for pause in (0.0, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08):
            process = subprocess.Popen(
                [program(), "append", data, *words, "--quiet"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(pause)
            process.send_signal(signal.SIGKILL)
            process.wait()
            self.checked(data)
            if self.digest(data) == new:
                break
            self.assertEqual(self.digest(data), old)
        else:
            self.assertEqual(self.ask("append", data, *words)["digest"], new)

    def test_killed_parts(self):
        """Parts that an append which was killed has left behind catch up."""
        data = self.day_one("killed-parts")
        parts = runs.partitioned(data, 2, "random")
        old = self.digest(data)
        lock = self.held(parts)
        process = self.waiting(data, *self.tables("two", (90, 99), (40, 44), 2),
                               "--parts", parts)
        process.kill()
        process.wait()
        lock.close()
        new = self.digest(data)
        self.assertNotEqual(new, old)
        self.assertEqual(self.source(parts), old)
        # And again, while they are written.
        process = subprocess.Popen([program(), "append", data, "--parts", parts,
                                    "--quiet"], stdout=subprocess.DEVNULL)
        while (process.poll() is None
               and not any(self.top.glob(f".{parts.name}.partial-*"))):
            pass
        process.kill()
        process.wait()
        self.checked(parts)
        self.assertIn(self.source(parts), (old, new))
        self.ask("append", data, "--parts", parts)
        self.checked(parts)
        self.assertEqual(self.source(parts), new)

    def source(self, parts):
        """The digest of the dataset that parts are of."""
        return json.loads(
            (parts / "partitions.json").read_text())["source_digest"]

    def held(self, folder):
        """The lock of a folder: while the test holds it, appends wait."""
        file = open(folder.with_name(f".{folder.name}.lock"), "w")
        self.addCleanup(file.close)
        fcntl.flock(file, fcntl.LOCK_EX)
        return file

    def waiting(self, *words):
        """An append that waits for a lock."""
        process = subprocess.Popen(
            [program(), "append", *map(str, words), "--json"], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        for line in process.stderr:
            if "wait for another process" in line:
                return process
        self.fail("it does not wait")

    def test_at_once(self):
        """Each of two appends reports its own edges and rows."""
        data = self.paid("at-once")
        parts = runs.partitioned(data, 2, "random")
        lock = self.held(data)
        both = [self.waiting(data, "--edges", self.payments(*table), "--parts",
                             parts)
                for table in (("few", (6, 7)), ("many", (7, 9)))]
        lock.close()
        told = []
        for process in both:
            out, failed = process.communicate(timeout=runs.PATIENCE_SECONDS)
            self.assertEqual(process.returncode, 0, failed)
            told.append(json.loads(out.splitlines()[-1]))
        self.assertEqual(
            [(one["nodes"], one["edges"], one["tasks"]["fraud"]["test"])
             for one in told], [(0, 120, 60), (0, 240, 120)])
        self.assertIn(self.digest(data), [one["digest"] for one in told])
        self.checked(data)
        self.checked(parts)
        self.assertIn("nothing to do",
                      graphmill("append", data, "--parts", parts).stdout)

    def test_import_after(self):
        """No import makes what has grown, whatever its sources are."""
        data = self.day_one("again")
        words = self.tables("one", (0, 90), (0, 40), 1)
        self.ask("append", data, *self.tables("two", (90, 99), (40, 44), 2))
        (self.top / "one-items.csv").write_text("id,f0\ni0,9\n")
        done = graphmill("import", "csv", *words, "--reverse", "--out", data)
        self.assertEqual(done.returncode, 1)
        self.assertIn("--replace", done.stderr)

    def test_array_rules(self):
        """Arrays are refused where the import joined edges, or scaled features
        by all of them; self-loops stay out each time."""
        source = self.top / "arrays"
        source.mkdir()
        np.save(source / "edges.npy", np.array([[0, 1, 2], [1, 2, 2]]))
        np.save(source / "features.npy", np.arange(6.0).reshape(3, 2))
        more = self.top / "more.npy"
        np.save(more, np.array([[0, 1, 1], [2, 1, 0]]))
        rows = self.top / "rows.npy"
        np.save(rows, np.array([[3.0, 4.0]]))
        for n, (words, told) in enumerate((
                (["--undirected"], "--undirected"),
                (["--duplicates", "drop"], "--duplicates"),
                (["--normalise", "standardise"], "standardise"))):
            data = self.top / f"ruled-{n}"
            imported("npy", source, *words, "--out", data)
            done = graphmill("append", data, "--nodes", rows, "--edges", more)
            self.assertEqual(done.returncode, 1)
            self.assertIn(told, done.stderr)
        data = self.top / "ruled"
        imported("npy", source, "--self-loops", "drop", "--normalise", "l2",
                 "--out", data)
        for _ in range(2):
            self.ask("append", data, "--nodes", rows, "--edges", more)
        indptr = np.load(data / "edges/node__to__node/indptr.npy")
        self.assertEqual(indptr.tolist(), [0, 2, 3, 6, 6, 6])
        np.testing.assert_array_equal(
            np.load(data / "nodes/node/features.npy")[3:],
            np.array([[0.6, 0.8]] * 2, np.float32))

    def payments(self, name, days, labelled=True):
        """A table of payments of some days among the same accounts."""
        rng = np.random.default_rng(days[0])
        lines = ["from,to,amount,when,kind"]
        for day in range(*days):
            for i in range(60):
                kind = ("fine", "fraud")[int(rng.integers(5) == 0)]
                lines.append(
                    f"a{rng.integers(30)},a{rng.integers(30)},"
                    f"{rng.integers(1, 99)},2025-03-{day:02}T{i % 24:02}:00,"
                    f"{kind if labelled else ''}")
        table = self.top / f"{name}.csv"
        table.write_text("\n".join(lines) + "\n")
        return f"account__pays__account={table}"

    def paid(self, name, *more):
        """A dataset of five days of payments, with a task."""
        data = self.top / name
        imported("csv", *more, "--edges", self.payments(name, (1, 6)), "--source",
                 "from", "--destination", "to", "--feature", "amount",
                 "--edge-time", "when", "--reverse", "--task-kind",
                 "fraud=edge_class", "--task-label", "fraud=kind",
                 "--split-edges", "0.6,0.2,0.2", "--by", "time", "--out", data)
        return data

    def rows_of(self, data, which, array):
        return np.load(data / f"tasks/fraud/{which}.{array}.npy")

    def test_edge_tasks(self):
        """A day's payments become rows of the split that is said; old rows and
        the parts stay what they are, and training goes on."""
        data = self.paid("payments")
        parts = runs.partitioned(data, 2, "random")
        run = {"task": "fraud", "sampler": {"fanouts": [4, 4], "time": "strict",
                                            "disjoint": True},
               "model": {"kind": "hetero_sage", "hidden": 8},
               "decoder": {"kind": "bilinear"},
               "train": {"batch_size": 32, "epochs": 1}}
        yesterday = self.train(run, data)
        before = {which: self.rows_of(data, which, "edges")
                  for which in ("train", "val", "test")}
        table = self.payments("new", (6, 8))
        told = self.ask("append", data, "--edges", table, "--split", "train",
                        "--parts", parts)
        self.assertEqual(told["tasks"],
                         {"fraud": {"train": 120, "val": 0, "test": 0}})
        later = self.payments("later", (8, 9), labelled=False)
        told = self.ask("append", data, "--edges", later, "--parts", parts)
        self.assertEqual(told["tasks"],
                         {"fraud": {"train": 0, "val": 0, "test": 60}})
        self.assertIn("60 edges of the test split without a label kept",
                      "\n".join(told["notes"]))
        for where in (data, parts):
            self.checked(where)
        for which, more in (("train", 120), ("val", 0), ("test", 60)):
            rows = self.rows_of(data, which, "edges")
            old = before[which]
            np.testing.assert_array_equal(rows[:len(old)], old)
            self.assertEqual(len(rows) - len(old), more)
        weights = pathlib.Path(yesterday["run"]) / "weights.safetensors"
        on = runs.merged(run, {"model": {"weights": str(weights)}})
        today, of_parts = (self.train(on, where) for where in (data, parts))
        self.assertEqual(today["digest"], of_parts["digest"])
        scores = self.top / "scores.csv"
        self.ask("predict", today["run"], "--data", data, "--split", "test",
                 "--out", scores)
        self.assertEqual(len(scores.read_text().splitlines()),
                         1 + len(before["test"]) + 60)
        done = graphmill("append", data, "--edges", table, "--split", "today")
        self.assertEqual(done.returncode, 1)
        self.assertIn("train, val, test or none expected", done.stderr)
        self.assertEqual(graphmill("append", data, "--parts", parts, "--split",
                                   "test").returncode, 2)

    def test_days(self):
        """Each day is tested before it trains, with the edges of a window of
        time and their ages in sight; older rows among newer ones are predicted,
        but not learnt."""
        accounts = self.top / "accounts.csv"
        accounts.write_text("id,size\n" + "".join(f"a{i},{i}\n" for i in range(30)))
        data = self.paid("days", "--nodes", f"account={accounts}")
        parts = runs.partitioned(data, 2, "random")
        run = {"task": "fraud",
               "sampler": {"fanouts": [4, 4], "time": "strict", "disjoint": True,
                           "window": 3 * 86400},
               "model": {"kind": "hetero_sage", "hidden": 8, "edge_ages": "log",
                         "age_unit": 3600},
               "decoder": {"kind": "bilinear"}, "evaluate": {"visible": "past"},
               "train": {"batch_size": 32, "epochs": 1}}
        first = self.train(run, data)
        self.ask("append", data, "--edges", self.payments("two", (6, 7)),
                 "--parts", parts)
        told = self.ask("evaluate", first["run"], "--data", data)
        self.assertEqual(told["seeds"], 120)
        self.assertNotIn("rows_before_training", told)
        told = self.ask("append", data, "--edges",
                        self.payments("three", (7, 8)), "--roll-forward",
                        "--parts", parts)
        self.assertEqual(told["rolled_forward"],
                         {"tasks": {"fraud": {"moved": 180, "left_out": 0}}})
        self.assertEqual(told["tasks"],
                         {"fraud": {"train": 0, "val": 0, "test": 60}})
        for where in (data, parts):
            self.checked(where)
        self.assertEqual(len(self.rows_of(data, "train", "edges")), 360)
        self.assertFalse((data / "tasks/fraud/val.edges.npy").exists())
        weights = pathlib.Path(first["run"]) / "weights.safetensors"
        on = runs.merged(run, {"model": {"weights": str(weights)}})
        second, of_parts = (self.train(on, where) for where in (data, parts))
        self.assertEqual(second["digest"], of_parts["digest"])
        self.assertEqual(self.ask("evaluate", second["run"])["seeds"], 60)

        late = self.ask("append", data, "--edges", self.payments("late", (1, 2)),
                        "--parts", parts)
        self.assertIn("no run can train with `evaluate.visible: past`",
                      "\n".join(late["notes"]))
        done = graphmill("train", self.write(on, data), "--data", data)
        self.assertIn("append DATASET --roll-forward", done.stderr)
        scores = self.top / "late.csv"
        self.ask("predict", second["run"], "--data", data, "--split", "test",
                 "--out", scores)
        self.assertEqual(len(scores.read_text().splitlines()), 1 + 120)
        answers = [self.ask("evaluate", second["run"], "--data", where)
                   for where in (data, parts)]
        for told in answers:
            self.assertEqual(told["rows_before_training"], 60)
        self.assertEqual(answers[0]["loss"], answers[1]["loss"])
        self.ask("append", data, "--edges",
                 self.payments("unknown", (1, 2), labelled=False), "--parts", parts)
        told = self.ask("evaluate", second["run"], "--data", data)
        self.assertEqual((told["seeds"], told["rows_before_training"]), (120, 60))
        told = self.ask("append", data, "--roll-forward", "--parts", parts)
        self.assertEqual((told["edges"], told["rolled_forward"]),
                         (0, {"tasks": {"fraud": {"moved": 120,
                                                  "left_out": 60}}}))
        for where in (data, parts):
            self.checked(where)
            self.train(on, where)
        old = self.digest(data)
        told = self.ask("append", data, "--roll-forward", "--parts", parts)
        self.assertIn("stays as it is", "\n".join(told["notes"]))
        self.assertEqual(self.digest(data), old)

    def test_nothing_new(self):
        data = self.paid("nothing")
        parts = runs.partitioned(data, 2, "random")
        old = self.digest(data)
        words = ("append", data, "--edges", self.payments("none", (6, 6)),
                 "--parts", parts)
        told = self.ask(*words)
        self.assertEqual((told["nodes"], told["edges"], told["digest"]),
                         (0, 0, old))
        self.assertIn("stays as it is", "\n".join(told["notes"]))
        self.assertIn("stays as it is", graphmill(*words).stdout)
        self.assertFalse((data / "growth.json").exists())

    def test_refused(self):
        """Wrong rows leave the dataset as it was; parts are not appended to."""
        data = self.day_one("refused")
        parts = runs.partitioned(data, 2, "random")
        old = self.digest(data)
        bad = self.top / "bad.csv"
        bad.write_text("person,item,weight\np0,nobody,1\np1,i1,-3\n")
        done = graphmill("append", data, "--edges", f"person__buys__item={bad}")
        self.assertEqual(done.returncode, 1)
        self.assertIn("nobody", done.stderr)
        self.assertIn("bad.csv:3", done.stderr)
        self.assertEqual(self.digest(data), old)
        done = graphmill("append", parts, "--edges",
                         f"person__buys__item={bad}")
        self.assertIn("is a dataset in parts", done.stderr)

    def test_folders(self):
        """No append takes the current folder away from its shell."""
        data = self.paid("folders")
        parts = runs.partitioned(data, 2, "random")
        old = self.digest(data)
        table = self.payments("later", (6, 7))
        for inside, words in ((data, (".",)), (data / "edges", (data,)),
                              (parts, (data, "--parts", "."))):
            done = graphmill("append", *words, "--edges", table,
                             within=("env", "--chdir", str(inside)))
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"run it from another one, such as {self.top}",
                          done.stderr)
        self.assertEqual(self.digest(data), old)
        told = self.ask("append", f"{data}/", "--edges", table, "--parts",
                        f"{parts}/")
        self.assertEqual(told["edges"], 120)
        self.checked(parts)


if __name__ == "__main__":
    program()
    unittest.main()
