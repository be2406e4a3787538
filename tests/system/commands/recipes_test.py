"""Every block of the pages with recipes does what the page says, in the order of
the pages, with small graphs; SLURM's commands are stand-ins."""

import csv
import importlib.util
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import exports
import runs
from clusters import free_port
from imports import rows_of, save
from runs import PATIENCE_SECONDS
from support import ROOT, np, program

PAGE = "".join((ROOT / f"examples/{name}.md").read_text()
               for name in ("recipes", "recipes-labels", "recipes-scale",
                            "recipes-links"))
# Blocks in these languages are files, which their first line names.
FILES = ("yaml", "bash")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# With the attributes of PyG's class, which is not needed for this.
MY_GRAPH = """
import sys
sys.path.append({support!r})
import numpy as np
from graph_objects import Tensor


class Data:
    pass


random = np.random.default_rng(2)
data = Data()
data.x = Tensor(random.normal(size=(90, 4)).astype(np.float32))
data.edge_index = Tensor(random.integers(0, 90, (2, 400)))
data.y = Tensor(np.arange(90) % 3)
for name, begin in (("train", 0), ("val", 30), ("test", 60)):
    mask = np.zeros(90, bool)
    mask[begin:begin + 30] = True
    setattr(data, name + "_mask", Tensor(mask))
"""
# What track_run.py calls, where the real modules are not installed: each call
# goes to calls.jsonl, and what they would refuse is refused.
TRACKERS = {
    "mlflow": """
import json
import pathlib
import types


def tell(what, *arguments):
    with open("mlflow-calls.jsonl", "a") as file:
        file.write(json.dumps([what, *arguments]) + "\\n")


def told(what):
    path = pathlib.Path("mlflow-calls.jsonl")
    lines = path.read_text().splitlines() if path.exists() else []
    return [call[1:] for call in map(json.loads, lines) if call[0] == what]


def set_experiment(name):
    tell("experiment", name)


def get_experiment_by_name(name):
    known = [name] in told("experiment")
    return types.SimpleNamespace(experiment_id="1") if known else None


def start_run(run_name, tags):
    tell("start", run_name, tags)


def log_params(fields):
    assert all(len(value) <= 500 for value in fields.values())
    tell("params", fields)


def log_metric(name, value, step=0):
    assert isinstance(value, float) and isinstance(step, int)
    tell("metric", name, value, step)


def set_tag(name, value):
    tell("tag", name, value)


def log_artifact(path):
    assert pathlib.Path(path).is_file()
    tell("artifact", pathlib.Path(path).name)


def end_run(status):
    tell("end", status)


class MlflowClient:
    def search_runs(self, ids, filter_string):
        return [name for name, _ in told("start")
                if filter_string.endswith(f"= '{name}'")]


tracking = types.SimpleNamespace(MlflowClient=MlflowClient)
""",
    "wandb": """
import json


def tell(what, *arguments):
    with open("wandb-calls.jsonl", "a") as file:
        file.write(json.dumps([what, *arguments]) + "\\n")


class Summary:
    def update(self, values):
        tell("summary", values)


class Run:
    summary = Summary()
    last = -1

    def log(self, values, step):
        assert step >= self.last, "steps go on"
        self.last = step
        tell("log", values, step)

    def save(self, path, policy, base_path):
        tell("save", path)

    def finish(self, exit_code=0):
        tell("finish", exit_code)


def init(project, name, id, resume, config):
    tell("init", project, name, config)
    return Run()
""",
}
SLURM = {
    "sbatch": """#!/bin/bash
set -euo pipefail
while [[ $1 == -* ]]; do
  [[ $1 == --ntasks=* ]] && export SLURM_NTASKS=${1#*=}
  shift
done
export SLURM_JOB_ID SLURM_JOB_NODELIST=127.0.0.1
exec bash "$@"
""",
    "scontrol": "#!/bin/sh\necho 127.0.0.1\n",
    "srun": """#!/bin/bash
while [[ $1 == -* ]]; do shift; done
for ((i = 0; i < SLURM_NTASKS; ++i)); do SLURM_PROCID=$i "$@" & done
wait
""",
}


def blocks(title):
    """The blocks of a section: (language, text)."""
    section = re.split(rf"^## {title}$", PAGE, flags=re.MULTILINE)[1]
    return BLOCK.findall(re.split(r"^## ", section, flags=re.MULTILINE)[0])


class Recipes(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.write_tables(np.random.default_rng(1))
        (cls.top / "my_graph.py").write_text(MY_GRAPH.format(
            support=str(ROOT / "tests/system/support")))
        (cls.top / "examples").symlink_to(ROOT / "examples")
        cls.write_payments(np.random.default_rng(3))
        modules = cls.top / "stand-ins"
        modules.mkdir()
        for name, text in TRACKERS.items():
            if importlib.util.find_spec(name) is None:
                (modules / f"{name}.py").write_text(text)
        commands = cls.top / "bin"
        commands.mkdir()
        (commands / "graphmill").symlink_to(program())
        for name, text in SLURM.items():
            (commands / name).write_text(text)
            (commands / name).chmod(0o755)
        cls.environment = {
            **os.environ, "PATH": f"{commands}:{os.environ['PATH']}",
            "PYTHONPATH": f"{modules}:{ROOT / 'actors/python'}",
            "GRAPHMILL_BIN": str(pathlib.Path(program()).parent),
            "WANDB_MODE": "offline",
            "MLFLOW_TRACKING_URI": f"file://{cls.top}/mlruns",
            "SLURM_JOB_ID": str(cls.job_with_a_free_port())}

    @staticmethod
    def job_with_a_free_port():
        """The example makes its port of the job's id."""
        return next(port - 20000 for port in iter(free_port, None)
                    if port < 30000)

    @classmethod
    def table(cls, name, head, rows):
        (cls.top / name).write_text("\n".join(
            [head, *(",".join(map(str, row)) for row in rows)]) + "\n")

    @classmethod
    def write_payments(cls, random):
        """One in 20 is fraud: of a large amount, and to few accounts."""
        cls.table("holders.csv", "id,age,balance",
                  [(f"a{i}", random.integers(18, 90), random.integers(5000))
                   for i in range(80)])
        rows = []
        for i in range(800):
            fraud = i % 20 == 7
            rows.append((f"t{i}", f"a{random.integers(80)}",
                         f"a{random.integers(4 if fraud else 80)}",
                         random.integers(100) + 120 * fraud, i // 10,
                         "fraud" if fraud else "fine"))
        cls.table("transfers.csv", "id,from,to,amount,day,fraud", rows)
        (cls.top / "suspects.txt").write_text(
            "\n".join(f"t{i}" for i in range(600, 800)) + "\n")

    @classmethod
    def write_tables(cls, random):
        table = cls.table
        pairs = random.integers(0, 120, (400, 2))
        table("people.csv", "name,job,age,height",
              [(f"p{i}", f"job{i % 3}", 20 + i % 50, 1.5 + i / 400)
               for i in range(120)])
        table("friends.csv", "from,to", [(f"p{a}", f"p{b}") for a, b in pairs])
        table("new-people.csv", "name,age,height",
              [(f"q{i}", 20 + i % 50, 1.5 + i / 400) for i in range(50)])
        table("new-friends.csv", "from,to",
              [(f"q{a % 50}", f"q{b % 50}") for a, b in pairs])
        table("movies.csv", "id,label,year",
              [(f"m{i}", f"genre{i % 3}", 1950 + i) for i in range(60)])
        table("persons.csv", "id", [(f"p{i}",) for i in range(120)])
        table("acts.csv", "source,destination",
              [(f"p{a}", f"m{b % 60}") for a, b in pairs])

        table("ratings.csv", "user,item,day",
              [(f"u{a % 40}", f"i{(3 * a + b) % 60}", day)
               for day, (a, b) in enumerate(pairs)])
        for name, triples in (("train", pairs[:240]), ("valid", pairs[240:270]),
                              ("test", pairs[270:300])):
            (cls.top / f"{name}.txt").write_text("".join(
                f"e{a % 50}\tr{a % 3}\te{b % 50}\n" for a, b in triples))
        table("parties.csv", "id,age",
              [(f"b{i}", random.integers(18, 90)) for i in range(80)])
        table("wires.csv", "from,to,amount,when,kind",
              [(f"b{random.integers(80)}",
                f"b{random.integers(4 if i % 20 == 7 else 80)}",
                1 + random.integers(100) + 120 * (i % 20 == 7),
                f"2025-{1 + i // 50:02}-{1 + i // 2 % 25:02}T08:{i % 60:02}",
                "fraud" if i % 20 == 7 else "fine") for i in range(600)])
        for day, name in ((2, "monday"), (3, "tuesday")):
            table(f"{name}.csv", "from,to,amount,when,kind",
                  [(f"b{i}", f"b{(day + 7) * i % 80}", 3 * i,
                    f"2026-01-{day:02}T08:{i:02}",
                    "fraud" if i % 10 == 3 else "fine")
                   for i in range(1, 31)])
        table("new-wires.csv", "from,to,amount,when,kind",
              [(f"b{i}", f"b{7 * i % 80}", 3 * i, f"2026-01-01T08:{i:02}", "")
               for i in range(1, 31)])

        genes = cls.top / "genes"
        genes.mkdir()
        features = random.normal(size=(90, 4)).astype(np.float32)
        save(genes, edges=random.integers(0, 90, (2, 400)), features=features,
             labels=features @ random.normal(size=(4, 5)) > 0)

    def shell(self, text):
        """Runs a block by bash in the workplace; returns what it printed."""
        output = self.top / f"{self.own_name}.txt"
        with output.open("w") as out:
            process = subprocess.Popen(
                ["bash", "-euo", "pipefail", "-c", text], cwd=self.top,
                env=self.environment, stdin=subprocess.DEVNULL, stdout=out,
                stderr=out, start_new_session=True)
            self.addCleanup(self.end_group, process)
            code = process.wait(PATIENCE_SECONDS)
        self.assertEqual(code, 0, f"{text}\n{output.read_text()}")
        return output.read_text()

    @staticmethod
    def end_group(process):
        """What a block has left in the background."""
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def follow(self, title, **changed):
        """Does what a section says; returns what it printed. Files first, for
        the page shows them behind the commands."""
        found = blocks(title)
        self.assertTrue(found, title)
        for language, text in found:
            if language in FILES:
                name = re.match(r"# (\S+)\n", text).group(1)
                (self.top / name).write_text(text)
        printed = ""
        for language, text in found:
            for old, new in changed.items():
                text = text.replace(old, new)
            if language == "python":
                (self.top / "block.py").write_text(text)
                text = f"{sys.executable} block.py"
            if language not in FILES:
                printed += self.shell(text)
        return printed

    def test_in_the_order_of_the_page(self):
        """Later sections use what earlier ones have made."""
        titles = re.findall(r"^## (.*)$", PAGE, re.MULTILINE)
        steps = {
            "My CSV files": self.my_csv_files,
            "Tomorrow's graph": self.tomorrow,
            "A nightly job": self.nightly,
            "An export with gaps, categories and dates": self.an_export,
            "A graph of several types": self.trains_something,
            "Settings for a graph of several types": self.trains_something,
            "Payments as nodes": self.payments,
            "Unbalanced classes": self.unbalanced,
            "My PyG object": self.trains_something,
            "My PyTorch model": self.own_model,
            "Nodes with several labels": self.several_labels,
            "Numbers as labels": self.numbers,
            "Hops beforehand": self.hops_beforehand,
            "Larger than memory": self.larger_than_memory,
            "How large a machine": self.sizing,
            "Several processes on this machine": self.trains_something,
            "A cluster": self.a_cluster,
            "Many settings": self.many_settings,
            "MLflow and Weights & Biases": self.trackers,
            "Another dataset on a cluster": self.another_dataset,
            "SLURM": self.slurm,
            "Recommendations": self.recommendations,
            "A knowledge graph": self.links,
            "Fraud among payments": self.edge_classes,
        }
        self.assertEqual(titles, list(steps))
        for title, step in steps.items():
            with self.subTest(section=title):
                step(title)

    def trains_something(self, title):
        self.assertIn("weights digest", self.follow(title))

    def hops_beforehand(self, title):
        printed = self.follow(title, python3=sys.executable)
        self.assertIn("features and 2 hops of them, 12 values", printed)
        self.assertIn("weights digest", printed)

    def my_csv_files(self, title):
        printed = self.follow(title)
        self.assertIn("weights digest", printed)
        self.assertIn("wrote the classes of 120 nodes", printed)
        self.assertEqual(np.load(self.top / "people.npy").shape, (120,))
        self.assertEqual(
            np.load(self.top / "people.embeddings.npy").shape, (120, 32))

    def tomorrow(self, title):
        printed = self.follow(title)
        self.assertIn("wrote the classes of 50 nodes", printed)
        rows = rows_of(self.top / "new-people-jobs.csv")
        self.assertEqual([row["name"] for row in rows],
                         [f"q{i}" for i in range(50)])
        self.assertLessEqual({row["class_name"] for row in rows},
                             {"job0", "job1", "job2"})
        self.check_same_scale("new-people")

    def check_same_scale(self, name):
        """Features mean the same as those that the model has learnt from."""
        people, other = (json.loads(
            (self.top / f"data/{folder}/nodes/node/features.json").read_text())
            for folder in ("people", name))
        self.assertEqual(other["scale"], people["scale"])

    def an_export(self, title):
        today, tomorrow = exports.write(self.top, accounts=30_000,
                                        payments=150_000, broken_rows=40)
        printed = self.follow(title)
        self.assertIn("weights digest", printed)
        self.assertEqual(printed.count("80 bad rows left out"), 2, printed)
        self.assertIn("edges to nodes without a row", printed)
        for folder, ids in (("fraud", today), ("fraud-tomorrow", tomorrow)):
            path = self.top / "data" / folder
            self.assertEqual(
                (path / "nodes/account/ids.txt").read_text().split(), ids)
            with (path / "rejected_rows.csv").open(
                    errors="backslashreplace") as table:
                rejected = list(csv.DictReader(table))
            self.assertEqual(len({(row["file"], row["line"])
                                  for row in rejected}), 80)
        run = sorted(self.top.glob("runs/fraud-*"))[-1]
        summary = json.loads((run / "summary.json").read_text())
        self.assertEqual(summary["metric"], "average_precision:fraud")
        self.assertRegex(summary["threshold"], r"^0\.\d+:fraud$")
        self.assertGreater(summary["test"]["average_precision:fraud"], 0.5)
        rows = rows_of(self.top / "scores.csv")
        self.assertEqual([row["name"] for row in rows], tomorrow)
        self.assertEqual({row["class_name"] for row in rows}, {"fraud", "ok"})

    def own_model(self, title):
        if importlib.util.find_spec("torch") is None:
            self.skipTest("PyTorch is not installed (Debian: python3-torch)")
        losses = re.findall(r"loss (\d+\.\d+)", self.follow(title))
        self.assertEqual(len(losses), 10)

    def several_labels(self, title):
        printed = self.follow(title)
        self.assertIn("weights digest", printed)
        self.assertIn("wrote the labels of 90 nodes", printed)
        for name in ("genes.npy", "genes.probabilities.npy"):
            self.assertEqual(np.load(self.top / name).shape, (90, 5))

    def numbers(self, title):
        printed = self.follow(title)
        self.assertIn("the best by mae", printed)
        self.assertIn("wrote the numbers of 120 nodes", printed)
        heights = np.load(self.top / "heights.npy")
        self.assertEqual((heights.shape, heights.dtype), ((120,), np.float32))

    def digest(self, printed):
        return re.findall(r"weights digest +(\S+)", printed)[-1]

    def links(self, title):
        printed = self.follow(title)
        self.assertIn("weights digest", printed)
        self.assertRegex(printed, r"\ntest +MRR 0\.\d+, hits@1 ")
        self.assertNotIn("test accuracy", printed)

    def recommendations(self, title):
        self.links(title)
        lines = (self.top / "recommended.csv").read_text().splitlines()
        self.assertEqual(lines[0], "source,destination,score,rank")
        self.assertIn(",10", [line[line.rindex(","):] for line in lines])

    def edge_classes(self, title):
        printed = self.follow(title)
        self.assertIn("test accuracy", printed)
        self.assertIn("test average_precision:fraud", printed)
        self.assertEqual(len(rows_of(self.top / "wires-scores.csv")), 120)
        rows = rows_of(self.top / "new-scores.csv")
        self.assertEqual([row["source"] for row in rows],
                         [f"b{i}" for i in range(1, 31)])
        self.assertLessEqual({row["class_name"] for row in rows},
                             {"fraud", "fine"})
        odds = sorted((float(row["probability_1"]) for row in rows),
                      reverse=True)
        worst = (self.top / "new-worst.csv").read_text().splitlines()
        self.assertEqual([float(line.split(",")[5]) for line in worst],
                         odds[:20])
        # The number of the class is that of its column.
        self.assertIn("      1 fraud ", printed)
        # All rows before Tuesday train.
        self.assertIn("270 rows of validation and test moved to training",
                      printed)
        with (self.top / "tuesday-scores.csv").open() as table:
            self.assertEqual([row["source"] for row in csv.DictReader(table)],
                             [f"b{i}" for i in range(1, 31)])

    def larger_than_memory(self, title):
        """The weights are those of a run in memory."""
        printed = self.follow(title)
        self.assertEqual(self.digest(printed), self.digest(
            self.shell("graphmill train people.yaml")))

    def a_cluster(self, title):
        """One block starts what the next one uses: as one."""
        text = "\n".join(text for _, text in blocks(title))
        for machine in ("10.0.0.1:7800", "10.0.0.2:7800"):
            self.assertIn(machine, text)
            text = text.replace(machine, f"127.0.0.1:{free_port()}")
        printed = self.shell(text + "\nwait\n")
        self.assertIn("weights digest", printed)

    def nightly(self, title):
        printed = self.follow(title)
        self.assertNotIn("is not over", printed)
        scores, = self.top.glob("scores-*.csv")
        night, = self.top.glob("data/night-*")
        self.check_same_scale(night.name)
        self.assertEqual(len(scores.read_text().splitlines()), 51)
        self.assertTrue((self.top / "runs/current/summary.json").exists())
        self.assertEqual(len(list(self.top.glob("runs/people-weekly-*"))), 1)
        # Another night while one is on.
        printed = self.shell("exec 8> nightly.lock; flock 8; "
                             "! bash nightly.sh 8>&-")
        self.assertIn("the last night is not over", printed)

    def payments(self, title):
        printed = self.follow(title)
        self.assertIn("weights digest", printed)
        about = json.loads((self.top / "data/payments/dataset.json")
                           .read_text())
        self.assertIn("payment", json.dumps(about))

    def unbalanced(self, title):
        self.follow(title)
        told = json.loads((self.top / "payments-test.json").read_text())
        self.assertIn("average_precision", json.dumps(told))
        rows = rows_of(self.top / "suspects.csv")
        self.assertEqual([row["name"] for row in rows],
                         [f"t{i}" for i in range(600, 800)])
        worst = (self.top / "worst.csv").read_text().splitlines()
        found = [line.split(",")[1] for line in worst]
        frauds = sum(int(name[1:]) % 20 == 7 for name in found)
        self.assertGreaterEqual(frauds, 5, worst)

    def sizing(self, title):
        printed = self.follow(title)
        self.assertIn("memory", printed)
        told = json.loads((self.top / "trial.json").read_text())
        self.assertEqual(told["steps"], 20)
        self.assertGreater(told["peak_memory_bytes"], 0)

    def with_free_ports(self, title):
        """All blocks of a section as one, for one uses what another started."""
        text = "\n".join(text for language, text in blocks(title)
                         if language not in FILES)
        for address in sorted(set(re.findall(r"127\.0\.0\.1:78\d\d", text))):
            text = text.replace(address, f"127.0.0.1:{free_port()}")
        return self.shell(text + "\nwait\n")

    def many_settings(self, title):
        printed = self.with_free_ports(title)
        names = {path.name for path in (self.top / "runs").iterdir()}
        for begin in ("people-baseline-", "people-hidden16-seed",
                      "people-hidden32-seed"):
            self.assertTrue(any(name.startswith(begin) for name in names),
                            (begin, names))
        self.assertIn("the best 2 settings go on to epoch", printed)
        self.assertRegex(printed, r"finished +epochs\n")

    def another_dataset(self, title):
        printed = self.with_free_ports(title)
        self.assertEqual(printed.count("weights digest"), 2)

    def calls(self, tracker):
        path = self.top / f"{tracker}-calls.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()]

    def trackers(self, title):
        runs_there = sorted(path.name for path in self.top.glob(
            "runs/people-*"))
        printed = self.follow(title, python3=sys.executable)
        self.assertIn("lines of metrics sent to mlflow", printed)
        self.assertIn("lines of metrics sent to wandb", printed)
        if (self.top / "stand-ins/mlflow.py").exists():
            calls = self.calls("mlflow")
            self.assertEqual(sorted(call[1] for call in calls
                                    if call[0] == "start"), runs_there)
            self.assertIn("validation/accuracy",
                          {call[1] for call in calls if call[0] == "metric"})
            self.assertIn("model.hidden", next(
                call[1] for call in calls if call[0] == "params"))
            # A second time nothing is sent twice.
            again = self.follow(title, python3=sys.executable)
            self.assertIn("is there already", again)
            self.assertEqual(len([call for call in self.calls("mlflow")
                                  if call[0] == "start"]), len(runs_there))
        if (self.top / "stand-ins/wandb.py").exists():
            calls = self.calls("wandb")
            self.assertTrue(any("summary/test_accuracy" in call[1]
                                for call in calls if call[0] == "summary"))

    def slurm(self, title):
        printed = self.follow(title)
        self.assertIn('"test_accuracy":', printed)


if __name__ == "__main__":
    program()
    unittest.main()
