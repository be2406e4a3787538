"""Every block of examples/recipes.md does what the page says, in the order of
the page, with small graphs; SLURM's commands are stand-ins."""

import csv
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
from imports import save
from runs import PATIENCE_SECONDS
from support import ROOT, np, program

PAGE = (ROOT / "examples/recipes.md").read_text()
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
        commands = cls.top / "bin"
        commands.mkdir()
        (commands / "graphmill").symlink_to(program())
        for name, text in SLURM.items():
            (commands / name).write_text(text)
            (commands / name).chmod(0o755)
        cls.environment = {
            **os.environ, "PATH": f"{commands}:{os.environ['PATH']}",
            "SLURM_JOB_ID": str(cls.job_with_a_free_port())}

    @staticmethod
    def job_with_a_free_port():
        """The example makes its port of the job's id."""
        return next(port - 20000 for port in iter(free_port, None)
                    if port < 30000)

    @classmethod
    def write_tables(cls, random):
        def table(name, head, rows):
            (cls.top / name).write_text("\n".join(
                [head, *(",".join(map(str, row)) for row in rows)]) + "\n")
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
            if language == "yaml":
                name = re.match(r"# (\S+\.yaml)\n", text).group(1)
                (self.top / name).write_text(text)
        printed = ""
        for language, text in found:
            for old, new in changed.items():
                text = text.replace(old, new)
            if language == "python":
                (self.top / "block.py").write_text(text)
                text = f"{sys.executable} block.py"
            if language != "yaml":
                printed += self.shell(text)
        return printed

    def test_in_the_order_of_the_page(self):
        """Later sections use what earlier ones have made."""
        titles = re.findall(r"^## (.*)$", PAGE, re.MULTILINE)
        steps = {
            "My CSV files": self.my_csv_files,
            "Tomorrow's graph": self.tomorrow,
            "An export with gaps, categories and dates": self.an_export,
            "My PyG object": self.trains_something,
            "Nodes with several labels": self.several_labels,
            "Numbers as labels": self.numbers,
            "Hops beforehand": self.hops_beforehand,
            "A graph of several types": self.trains_something,
            "Settings for a graph of several types": self.trains_something,
            "Larger than memory": self.larger_than_memory,
            "Several processes on this machine": self.trains_something,
            "A cluster": self.a_cluster,
            "SLURM": self.slurm,
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
        with (self.top / "new-people-jobs.csv").open() as table:
            rows = list(csv.DictReader(table))
        self.assertEqual([row["name"] for row in rows],
                         [f"q{i}" for i in range(50)])
        self.assertLessEqual({row["class_name"] for row in rows},
                             {"job0", "job1", "job2"})

    def an_export(self, title):
        exports.write(self.top, accounts=30_000, payments=150_000)
        printed = self.follow(title)
        self.assertIn("weights digest", printed)
        shares = np.array(re.findall(
            r"average precision.*? (0\.\d+)", printed), float)
        self.assertGreater(shares.max(), 0.5, printed)
        with (self.top / "scores.csv").open() as table:
            rows = list(csv.DictReader(table))
        self.assertEqual([row["name"] for row in rows],
                         exports.ids(self.top / "accounts-tomorrow.csv"))
        self.assertEqual({row["class_name"] for row in rows}, {"fraud", "ok"})

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

    def slurm(self, title):
        printed = self.follow(title)
        self.assertIn('"test_accuracy":', printed)


if __name__ == "__main__":
    program()
    unittest.main()
