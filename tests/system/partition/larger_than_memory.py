"""Trains on a dataset that is larger than the memory there is.

    larger_than_memory.py GRAPHMILL RANDOM_READS [--scale 20]
        [--shares 25,50,75] [--minutes 60] [--work FOLDER] [--json]

Makes an R-MAT graph, trains on it with enough memory, and then in memory
cgroups with what that took and a share of the dataset's bytes, with nothing of
the dataset in memory at first. Weights must be the same. Beside the rows that
came from disk per second stands what a small program of random reads
(random_reads.cpp) gets out of the same file just before.

With --minutes, trains for so long instead, with memory for half of the dataset,
and shows steps per minute.
"""

import argparse
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import memory_group

DEFINITION = {
    "dataset": "rmat",
    "model": {"kind": "sage", "hidden": 8},
    "sampler": {"fanouts": [10, 10]},
    "train": {"batch_size": 1024, "epochs": 1, "max_steps": 60},
    "budget": {"batches": 4},
}
WIDTH = 100
MIB = 1 << 20


def last_json(text):
    return json.loads(text.splitlines()[-1])


class Place:
    """A folder with the dataset and the runs on it."""

    def __init__(self, options):
        self.graphmill = options.graphmill
        self.reads = options.random_reads
        self.folder = pathlib.Path(
            options.work or tempfile.mkdtemp(prefix="graphmill-", dir="."))
        self.data = self.folder / f"rmat{options.scale}"
        if not self.data.exists():
            subprocess.run(
                [self.graphmill, "import", "rmat", "--scale",
                 str(options.scale), "--features", str(WIDTH),
                 "--train", "0.1", "--validation", "0.001", "--test", "0.001",
                 "--out", str(self.data), "--quiet"], check=True)
        self.bytes = sum(path.stat().st_size
                         for path in self.data.rglob("*.npy"))
        self.name = json.loads(
            (self.data / "dataset.json").read_text())["name"]
        self.features = next(self.data.glob("nodes/*/features.npy"))
        self.rows = 2 ** options.scale

    def write(self, **sections):
        definition = {**DEFINITION, "dataset": self.name}
        for name, fields in sections.items():
            definition[name] = {**definition.get(name, {}), **fields}
        path = self.folder / "definition.yaml"
        path.write_text(json.dumps(definition))
        return path

    def command(self, definition, *more):
        return [self.graphmill, "train", str(definition), "--data",
                str(self.data), "--runs", str(self.folder / "runs"),
                "--json", "--quiet", *more]

    def train(self, *more, within=()):
        done = subprocess.run([*within, *self.command(self.write(), *more)],
                              text=True, capture_output=True)
        if done.returncode != 0:
            raise SystemExit(f"training ended with {done.returncode}: "
                             f"{done.stderr}")
        return last_json(done.stdout)

    def limit(self):
        """Rows per second of a small program, of the same file."""
        memory_group.forget_pages(self.data)
        done = subprocess.run(
            [self.reads, str(self.features), str(4 * WIDTH), str(self.rows),
             "3"], text=True, capture_output=True, check=True)
        return last_json(done.stdout)["reads_per_second"]


def shares(place, percents):
    roomy = place.train("--storage", "memory")
    print(f"dataset {place.bytes / MIB:.0f} MiB; in memory: "
          f"{roomy['seconds']:.1f} s, {roomy['peak_memory_bytes'] / MIB:.0f} "
          f"MiB of its own, digest {roomy['digest']}", flush=True)
    out = []
    for percent in percents:
        reads = place.limit()
        memory = roomy["peak_memory_bytes"] + place.bytes * percent // 100
        memory_group.forget_pages(place.data)
        with memory_group.MemoryGroup(memory) as group:
            run = place.train(within=group.within())
            killed = group.killed()
        disk = run["disk"]
        assert run["digest"] == roomy["digest"], "other weights from disk"
        assert killed == 0, "killed for want of memory"
        assert disk is not None, "the run did not read from disk"
        ratio = disk["rows_read_per_second"] / reads
        out.append({"percent": percent, "memory": memory,
                    "seconds": run["seconds"], "random_reads": reads,
                    "ratio": ratio, **disk})
        print(f"{percent} % ({memory / MIB:.0f} MiB): {run['seconds']:.1f} s, "
              f"{disk['rows_wanted']} rows wanted, "
              f"{100 * disk['hit_rate']:.0f} % in the cache, "
              f"{disk['rows_read']} read in {disk['reading_seconds']:.1f} s: "
              f"{disk['rows_read_per_second']:.0f} rows/s, random reads "
              f"{reads:.0f}/s, ratio {ratio:.2f}", flush=True)
    return out


def for_long(place, minutes):
    """Trains with memory for half of the dataset until time is up."""
    memory = place.bytes // 2
    definition = place.write(train={"epochs": 1000000, "max_steps": 0},
                             evaluate={"every": 1000000})
    memory_group.forget_pages(place.data)
    print(f"dataset {place.bytes / MIB:.0f} MiB, memory {memory / MIB:.0f} "
          "MiB", flush=True)
    with memory_group.MemoryGroup(memory) as group:
        before = set((place.folder / "runs").glob("*"))
        process = subprocess.Popen(
            [*group.within(), *place.command(definition)], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        end = time.monotonic() + 60 * minutes
        metrics, shown = None, 0
        while time.monotonic() < end and process.poll() is None:
            time.sleep(1)
            if metrics is None:
                new = set((place.folder / "runs").glob("*")) - before
                metrics = new.pop() / "metrics.jsonl" if new else None
                continue
            lines = metrics.read_text().splitlines() if metrics.exists() else []
            for line in lines[shown:]:
                print(f"  {time.strftime('%H:%M:%S')} {line}", flush=True)
            shown = len(lines)
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
        killed = group.killed()
    assert killed == 0, "killed for want of memory"
    run = last_json(out)
    phases = [json.loads(line) for line in metrics.read_text().splitlines()]
    rates = [60 * p["steps"] / p["seconds"] for p in phases
             if p["phase"] == "train" and p["seconds"] > 0]
    quarter = max(1, len(rates) // 4)
    first = sum(rates[quarter:2 * quarter]) / quarter
    last = sum(rates[-quarter:]) / quarter
    print(f"{run['steps']} steps in {run['seconds']:.0f} s; steps per minute "
          f"in the second quarter {first:.0f}, in the last {last:.0f}; "
          f"peak {run['peak_memory_bytes'] / MIB:.0f} MiB; {err.strip()}")
    return {"steps": run["steps"], "seconds": run["seconds"],
            "steps_per_minute": rates, "disk": run["disk"],
            "memory": memory, "data": place.bytes}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graphmill")
    parser.add_argument("random_reads")
    parser.add_argument("--scale", type=int, default=20)
    parser.add_argument("--shares", default="25,50,75")
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--work", help="keeps dataset and runs here")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    refused = memory_group.refused()
    if refused:
        print(f"skipped: {refused}")
        return 77
    place = Place(options)
    try:
        if options.minutes:
            result = for_long(place, options.minutes)
        else:
            result = shares(place,
                            [int(p) for p in options.shares.split(",")])
    finally:
        if not options.work:
            shutil.rmtree(place.folder, ignore_errors=True)
    if options.json:
        print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
