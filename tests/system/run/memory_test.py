"""Memory is a setting: what is in flight stays within the budget."""

import pathlib
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from runs import described, imported_rmat, merged
from support import imported, np, program

MIB = 1 << 20

DEFINITION = {
    "sampler": {"fanouts": [10, 10], "replicas": 2},
    "model": {"hidden": 16, "dropout": 0},
    "train": {"batch_size": 256, "epochs": 1},
    "evaluate": {"batch_size": 256},
    "budget": {"batches": 32, "bytes": 48 * MIB},
}


class Memory(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = cls.top / "rmat"
        imported_rmat(cls.data, scale=14, features=256, classes=5, train=0.5)

    def measured(self, definition, data):
        """Trains; the summary must keep what the plan has promised."""
        plan = self.ask("plan", self.write(definition, data), "--data", data)
        memory = plan["memory"]
        self.assertEqual(plan["budget_bytes"], definition["budget"]["bytes"])
        promise = (max(plan["budget_bytes"], plan["train"]["bytes"],
                       plan["evaluation"]["bytes"])
                   + memory["parameters and optimizer"]
                   + memory["activations"] + 400 * MIB)
        self.assertLessEqual(plan["total_memory_bytes"], promise)
        summary = self.train(definition, data)
        self.assertGreater(summary["peak_memory_bytes"], 0)
        self.assertLessEqual(summary["peak_memory_bytes"],
                             plan["total_memory_bytes"])
        if summary["oversize_batches"] == 0:
            self.assertLessEqual(summary["peak_credit_bytes"],
                                 plan["budget_bytes"])
        return plan, summary

    def test_budgets(self):
        one_batch = {"budget": {"batches": 1}}
        plan, alone = self.measured(merged(DEFINITION, one_batch), self.data)
        slow = {"faults": {"trainer_delay_ms": 25}}
        batcher = next(s for s in alone["stages"] if s["stage"] == "batcher")
        flow = batcher["bytes"]
        print(f"  {batcher['items']} batches, {flow / MIB:.0f} MiB in all, "
              f"{plan['train']['bytes'] / MIB:.1f} MiB at most each")
        # Without a bound, a slow trainer would have nearly all before it.
        self.assertGreater(flow, 2 * DEFINITION["budget"]["bytes"])
        for change in ({}, slow, {"budget": {"bytes": 48 * MIB // 10}},
                       {"budget": {"bytes": 48 * MIB // 10}, **slow}):
            definition = merged(DEFINITION, change)
            _, summary = self.measured(definition, self.data)
            self.assertEqual(summary["digest"], alone["digest"])
            peak, credit = (summary["peak_memory_bytes"],
                            summary["peak_credit_bytes"])
            budget = definition["budget"]["bytes"]
            print(f"  {described(change)}: {peak / MIB:.0f} MiB, credit "
                  f"{credit / MIB:.1f} of {budget / MIB:.1f} MiB, "
                  f"{summary['oversize_batches']} oversize")
            # More than with one batch in flight by no more than the budget,
            # give or take what an allocator keeps.
            self.assertLess(peak, alone["peak_memory_bytes"] + budget
                            + 32 * MIB)

    def test_slow_trainer_fills_the_budget(self):
        """The bound is reached, so it is the bound that was seen."""
        definition = merged(DEFINITION, {"faults": {"trainer_delay_ms": 25}})
        plan, summary = self.measured(definition, self.data)
        self.assertGreater(summary["peak_credit_bytes"]
                           + plan["train"]["bytes"], plan["budget_bytes"])


class Hub(runs.Workplace):
    """A node with more in-edges than the budget could ever hold."""

    LEAVES = 6000

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        rng = np.random.default_rng(2)
        nodes = cls.top / "nodes.csv"
        edges = cls.top / "edges.csv"
        with nodes.open("w") as file:
            print("id,label,split,x,y", file=file)
            for i in range(cls.LEAVES + 1):
                split = ("train", "val", "test")[i % 3]
                x, y = rng.normal(size=2)
                print(f"{i},{int(x > 0)},{split},{x:.4f},{y:.4f}", file=file)
        with edges.open("w") as file:
            print("source,destination", file=file)
            for i in range(1, cls.LEAVES + 1):
                print(f"{i},0\n{i},{1 + i % cls.LEAVES}", file=file)
        cls.data = cls.top / "star"
        imported("csv", "--nodes", nodes, "--edges", edges, "--out", cls.data)

    def test_hub_runs_alone(self):
        definition = {
            "sampler": {"fanouts": [-1, -1], "replicas": 2},
            "model": {"hidden": 8, "dropout": 0},
            "train": {"batch_size": 250, "epochs": 2},
            "budget": {"batches": 8},
        }
        roomy = self.train(definition, self.data)
        self.assertEqual(roomy["oversize_batches"], 0)
        for replicas in (1, 2):
            tight = self.train(merged(definition, {
                "budget": {"bytes": 20000},
                "trainer": {"replicas": replicas}}), self.data)
            print(f"  {replicas} trainers: {tight['oversize_batches']} "
                  f"batches ran alone, credit {tight['peak_credit_bytes']} "
                  f"of 20000 bytes")
            self.assertGreater(tight["oversize_batches"], 0)
            self.assertEqual(tight["steps"], roomy["steps"])
            if replicas == 1:
                self.assertEqual(tight["digest"], roomy["digest"])


if __name__ == "__main__":
    program()
    unittest.main()
