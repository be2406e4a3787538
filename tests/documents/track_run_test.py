"""examples/track_run.py sends what MLflow takes, and no more of it at a time."""

import contextlib
import importlib.util
import io
import json
import pathlib
import re
import sys
import tempfile
import types
import unittest
from unittest import mock

TOP = pathlib.Path(__file__).resolve().parents[2]


def script():
    spec = importlib.util.spec_from_file_location(
        "track_run", TOP / "examples" / "track_run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class StrictMlflow(types.ModuleType):
    """Refuses what MLflow refuses."""

    def __init__(self):
        super().__init__("mlflow")
        self.metrics, self.params = {}, {}

    def expect_name(self, name):
        assert re.fullmatch(r"[/\w.\- ]*", name), name

    def log_params(self, params):
        assert len(params) <= 100, len(params)
        for name in params:
            self.expect_name(name)
        self.params.update(params)

    def log_metric(self, name, value, step=0):
        self.expect_name(name)
        self.metrics[name] = value

    def get_experiment_by_name(self, _):
        return None

    def __getattr__(self, _):
        return lambda *arguments, **named: None


class TrackRun(unittest.TestCase):
    def test_names_and_numbers_that_mlflow_takes(self):
        weights = {f"class {i}: (x)": i for i in range(120)}
        with tempfile.TemporaryDirectory() as top:
            run = pathlib.Path(top) / "run"
            run.mkdir()
            (run / "run.json").write_text("{}")
            (run / "definition.yaml").write_text(
                "model:\n  hidden: 64\ntrain:\n  class_weights:\n" + "".join(
                    f"    {json.dumps(name)}: {weight}\n"
                    for name, weight in weights.items()))
            (run / "metrics.jsonl").write_text(json.dumps(
                {"phase": "validation", "epoch": 1,
                 "recall_at_fpr@0.01:fraud": 0.5}) + "\n")
            (run / "summary.json").write_text('{"test_accuracy": 0.25}')
            mlflow = StrictMlflow()
            with mock.patch.dict(sys.modules, mlflow=mlflow), \
                    mock.patch.object(sys, "argv", ["track_run.py", str(run),
                                                    "--to", "mlflow"]), \
                    contextlib.redirect_stdout(io.StringIO()):
                script().main()
        self.assertEqual(mlflow.metrics,
                         {"validation/recall_at_fpr_0.01_fraud": 0.5,
                          "summary/test_accuracy": 0.25})
        self.assertEqual(len(mlflow.params), 121)
        self.assertEqual(mlflow.params["model.hidden"], "64")
        self.assertEqual(mlflow.params["train.class_weights.class 7_ _x_"],
                         "7")


if __name__ == "__main__":
    unittest.main()
