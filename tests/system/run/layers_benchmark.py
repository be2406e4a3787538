#!/usr/bin/python3
"""Time and memory of `predict --all` beside one epoch of training.

    python3 tests/system/run/layers_benchmark.py build/actors/graphmill
        [--scale 20] [--kind sage ...] [--batches] [--disk]

Makes an R-MAT graph of 2^SCALE nodes with 24 edges and 64 features for each
(scale 20: 25 million edges, 0.3 GB), of which a tenth are training seeds. For
each kind it trains an epoch with three layers of 64 (fanouts 15, 10, 5; batches
of 1024), and predicts all nodes layer by layer; with --disk also with all layers
in files, with --batches also in batches with all neighbours. Prints seconds and
the peak of memory that is no page of a file.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile


def told(program, *arguments):
    """What a command says with --json."""
    done = subprocess.run(
        [program, *map(str, arguments), "--json", "--quiet"], text=True,
        stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def definition_of(kind):
    return {"dataset": "rmat", "seed": 1,
            "sampler": {"fanouts": [15, 10, 5]},
            "model": {"kind": kind, "hidden": 64},
            "train": {"batch_size": 1024, "epochs": 1},
            "evaluate": {"neighbours": "all"}}


def show(what, seconds, answer):
    mib = answer["peak_memory_bytes"] / (1 << 20)
    files = answer.get("scratch_bytes", 0) / (1 << 20)
    print(f"  {what:28} {seconds:8.1f} s {mib:8.0f} MiB"
          f" {files:8.0f} MiB in files", flush=True)


def measure(options, top, kind):
    file = top / f"{kind}.yaml"
    file.write_text(json.dumps(definition_of(kind)))
    print(kind)
    run = told(options.program, "train", file, "--data", top / "rmat",
               "--runs", top / "runs", "--no-verify")
    lines = [json.loads(line) for line in
             pathlib.Path(run["run"], "metrics.jsonl").open()]
    epoch, = [line for line in lines if line["phase"] == "train"]
    show("one epoch", epoch["seconds"], run)
    ways = {"predict --all": ["--all"]}
    if options.disk:
        ways["predict --all, from disk"] = ["--all", "--storage", "disk"]
    if options.batches:
        ways["predict in batches"] = []
    for what, flags in ways.items():
        made = told(options.program, "predict", run["run"], "--out",
                    top / "classes.npy", "--no-verify", *flags)
        show(what, made["seconds"], made)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--scale", type=int, default=20)
    parser.add_argument("--kind", nargs="+", default=["sage", "gat"])
    parser.add_argument("--batches", action="store_true")
    parser.add_argument("--disk", action="store_true")
    options = parser.parse_args()
    options.program = options.program.resolve()
    with tempfile.TemporaryDirectory(prefix="graphmill-") as folder:
        top = pathlib.Path(folder)
        told(options.program, "import", "rmat", "--scale", options.scale,
             "--edges", 24 << options.scale, "--features", 64, "--classes", 16,
             "--train", 0.1, "--validation", 0, "--test", 0,
             "--out", top / "rmat")
        for kind in options.kind:
            measure(options, top, kind)


if __name__ == "__main__":
    sys.exit(main())
