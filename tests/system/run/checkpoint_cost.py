#!/usr/bin/python3
"""What checkpoints cost a run in which nothing fails.

    python3 tests/system/run/checkpoint_cost.py build/actors/graphmill
        [--rounds 10] [--epochs 8] [--scale 15] [--hidden 256] [--percent 1]

Trains GraphSAGE of three layers on an R-MAT graph of 2^SCALE nodes, in batches of
100, in one process: without checkpoints, with one at each epoch's edge (the
default), and with one every 100 steps as well. The three take turns, each first in
turn, and are compared round by round: time per epoch, from the end of the first
epoch to that of the last, beside that of the run without checkpoints. Ends with 1
if the median of these ratios says that checkpoints cost more than --percent, or if
weights differ. Wants a machine that does nothing else.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

WITHOUT = "none"
VARIANTS = {
    WITHOUT: {"keep": 0},
    "each epoch": {},
    "every 100 steps": {"every_steps": 100},
}


def told(program, *arguments):
    """What a command says with --json."""
    done = subprocess.run(
        [program, *map(str, arguments), "--json"], text=True,
        stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def make_data(program, top, scale):
    told(program, "import", "rmat", "--quiet", "--out", top / "rmat",
         "--scale", scale, "--edges", 16 << scale, "--features", 64,
         "--classes", 16, "--seed", 1, "--train", 0.5, "--validation", 0.01,
         "--test", 0.01)


def write_definitions(top, options):
    """Returns the files, by variant."""
    out = {}
    for number, (name, checkpoint) in enumerate(VARIANTS.items()):
        out[name] = top / f"{number}.yaml"
        out[name].write_text(json.dumps({
            "dataset": "rmat", "seed": 1,
            "sampler": {"fanouts": [5, 4, 3]},
            "model": {"kind": "sage", "hidden": options.hidden},
            "train": {"batch_size": 100, "epochs": options.epochs},
            "checkpoint": checkpoint}))
    return out


def seconds_per_epoch(run):
    lines = [json.loads(line) for line in
             pathlib.Path(run, "metrics.jsonl").open()]
    ends = [line["ended"] for line in lines if line["phase"] == "train"]
    return (ends[-1] - ends[0]) / (len(ends) - 1)


def measure(options, top):
    """Returns seconds per epoch, by variant and round, and all digests."""
    files = write_definitions(top, options)
    names = list(VARIANTS)
    seconds = {name: [] for name in names}
    digests = set()
    for number in range(options.rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            run = told(options.program, "train", files[name], "--data",
                       top / "rmat", "--runs", top / "runs", "--quiet")
            seconds[name].append(seconds_per_epoch(run["run"]))
            digests.add(run["digest"])
        print(f"round {number + 1}: " + ", ".join(
            f"{name} {seconds[name][-1]:.3f} s" for name in names),
            file=sys.stderr, flush=True)
    return seconds, digests


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n")[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("program", help="the built graphmill")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--scale", type=int, default=15)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--percent", type=float, default=1)
    options = parser.parse_args()
    if options.epochs < 2 or options.rounds < 1:
        parser.error("there must be two epochs and a round at least")
    with tempfile.TemporaryDirectory(prefix="graphmill-cost-") as folder:
        top = pathlib.Path(folder)
        make_data(options.program, top, options.scale)
        seconds, digests = measure(options, top)
    bad = len(digests) != 1
    for name, times in seconds.items():
        costs = [100 * (one / base - 1)
                 for one, base in zip(times, seconds[WITHOUT])]
        cost = statistics.median(costs)
        bad = bad or cost > options.percent
        print(f"{name:16} {statistics.median(times):7.3f} s per epoch, "
              f"{cost:+6.2f} % ({min(costs):+.2f} to {max(costs):+.2f})")
    if len(digests) != 1:
        print(f"weights differ: {sorted(digests)}")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
