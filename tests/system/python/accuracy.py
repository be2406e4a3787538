"""A GraphSAGE of PyTorch (examples/own_model.py) on batches in Python, beside that of
`graphmill train` with the same settings, on WordNet. Takes minutes, so it is not among
the tests that Meson runs:

    python3 tests/system/python/accuracy.py build/actors/graphmill [--seeds 5]

Prints the validation accuracy of both for each seed, and fails if their means differ
by more than half a point. Needs PyTorch and Debian's wordnet-base."""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import support
from support import ROOT, program

MOST_POINTS = 0.5
EPOCHS, BATCH = 5, 1024
DEFINITION = {  # What own_model.py has.
    "dataset": "wordnet", "sampler": {"fanouts": [15, 10]},
    "model": {"kind": "sage", "hidden": 64, "dropout": 0.3},
    "optimizer": {"learning_rate": 0.005},
    "train": {"batch_size": BATCH, "epochs": EPOCHS, "seed_order": "global"},
    "evaluate": {"batch_size": BATCH}}


def of_train(folder, data, seed):
    file = folder / f"{seed}.yaml"
    file.write_text(json.dumps({**DEFINITION, "seed": seed}))
    done = support.graphmill("train", file, "--data", data, "--runs",
                             folder / "runs", "--quiet", "--json")
    assert done.returncode == 0, done.stderr
    run = pathlib.Path(json.loads(done.stdout.splitlines()[-1])["run"])
    phases = map(json.loads, (run / "metrics.jsonl").read_text().splitlines())
    return [line["accuracy"] for line in phases
            if line["phase"] == "validation"][-1]


def of_pytorch(data, seed):
    done = subprocess.run(
        [sys.executable, ROOT / "examples/own_model.py", data, "--epochs",
         str(EPOCHS), "--batch-size", str(BATCH), "--seed", str(seed)],
        text=True, stdout=subprocess.PIPE, check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "actors/python"),
             "GRAPHMILL_BIN": str(pathlib.Path(program()).parent)})
    return float(re.findall(r"accuracy (\S+)", done.stdout)[-1])


def main():
    program()
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=5)
    seeds = parser.parse_args().seeds
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        data = folder / "wordnet"
        support.imported("wordnet", "--out", data)
        both = []
        for seed in range(1, seeds + 1):
            both.append((of_train(folder, data, seed), of_pytorch(data, seed)))
            print("seed {}: {:.4f} of train, {:.4f} of PyTorch".format(
                seed, *both[-1]), flush=True)
    means = [100 * statistics.mean(each) for each in zip(*both)]
    print("means: {:.2f} % and {:.2f} %".format(*means))
    sys.exit(abs(means[0] - means[1]) > MOST_POINTS)


if __name__ == "__main__":
    main()
