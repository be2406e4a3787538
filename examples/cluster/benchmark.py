#!/usr/bin/env python3
"""Measures a cluster of two daemons on this machine, a core for each.

    python3 examples/cluster/benchmark.py [--json]

Trains GraphSAGE with three layers on an R-MAT graph, which it makes first, in
four ways:

    alone   one process on one core
    apart   a daemon with all the data on one core, one that trains on the other
    pair    two daemons, each with half of the data and a trainer
    open    the same without a key: nothing is encrypted

and reports the time of an epoch, processor time, what each stage waits for,
the bytes on the wire, and three figures with what is asked of them:

    input wait   of the trainer of `apart`, as a share of the run: at most 5 %
    wire         messages about data of `apart` beside what must cross: ids that
                 are asked about, ids that are sampled, and rows. It is counted
                 from the batches of `alone`; at most 5 % more.
    key      the time of an epoch of `pair` beside that of `open`: at most 1.25
             times. With --hidden 8 it is the data that count.

Daemons use your own key, as they do by default, but for those of `open`.
Other load on the machine shows; a median over epochs is reported."""

import argparse
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 600
FEATURES = 100

DEFINITION = {
    "name": "benchmark",
    "sampler": {"fanouts": [15, 10, 5]},
    "model": {"kind": "sage", "hidden": 256, "dropout": 0.5},
    "train": {"batch_size": 1024},
    # Once, after the last epoch.
    "evaluate": {"every": 1000000},
}


class Workshop:
    """Runs the program in a temporary folder, pinned to cores."""

    def __init__(self, options, folder):
        self.program = str(options.program)
        self.cores = options.cores
        self.insecure = []
        self.folder = pathlib.Path(folder)
        self.daemons = []

    def graphmill(self, *arguments, cores=None):
        """Runs a command to its end; returns the line of JSON at its end."""
        done = subprocess.run(
            [self.program, *map(str, arguments)], text=True,
            stdout=subprocess.PIPE, timeout=PATIENCE_SECONDS,
            preexec_fn=self.pinned(cores))
        if done.returncode != 0:
            sys.exit(f"graphmill {arguments[0]} failed: {done.returncode}")
        return json.loads(done.stdout.splitlines()[-1])

    @staticmethod
    def pinned(cores):
        return cores and (lambda: os.sched_setaffinity(0, cores))

    def daemon(self, data, core, *more, join=None):
        """Starts a daemon; returns its address."""
        name = f"d{len(self.daemons)}"
        ready = self.folder / f"{name}.ready"
        ready.unlink(missing_ok=True)
        arguments = [self.program, "node", "--data", data, "--name", name,
                     "--listen", "tcp://127.0.0.1:0", "--ready-file", ready,
                     "--runs", self.folder / "runs", *self.insecure, *more]
        if join:
            arguments += ["--join", join]
        log = (self.folder / f"{name}.log").open("w")
        process = subprocess.Popen(list(map(str, arguments)), stdout=log,
                                   stderr=log, preexec_fn=self.pinned({core}))
        log.close()
        self.daemons.append(process)
        deadline = time.monotonic() + 60
        while not (ready.exists() and ready.read_text()):
            if process.poll() is not None or time.monotonic() > deadline:
                sys.exit((self.folder / f"{name}.log").read_text())
            time.sleep(0.02)
        return ready.read_text().strip()

    def end_daemons(self):
        for process in reversed(self.daemons):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self.daemons:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.daemons = []

    def submit(self, definition, address, trainers):
        return self.graphmill("submit", definition, "--cluster", address,
                              "--set", f"trainer.replicas={trainers}",
                              "--watch", "--quiet", "--json", *self.insecure)


def prepare(shop, options):
    """Makes the dataset, unless it is there, and the definition."""
    name = f"rmat-{options.scale}"
    whole = options.data / f"{name}-benchmark-whole"
    parts = options.data / f"{name}-benchmark"
    # Next to nothing to evaluate: it is the training that counts.
    shop.graphmill("import", "rmat", "--scale", options.scale, "--features",
                   FEATURES, "--validation", 0.001, "--test", 0.001, "--name",
                   name, "--out", whole, "--quiet", "--json")
    shop.graphmill("partition", whole, "--parts", 2, "--out", parts, "--quiet",
                   "--json")
    definition = {"dataset": name, **DEFINITION}
    definition["train"] = {**definition["train"], "epochs": options.epochs}
    definition["model"] = {**definition["model"], "hidden": options.hidden}
    file = shop.folder / "benchmark.yaml"
    file.write_text(json.dumps(definition))  # YAML allows it to be JSON.
    return parts, file


def alone(shop, data, file):
    return shop.graphmill("train", file, "--data", data, "--runs",
                          shop.folder / "runs", "--quiet", "--json",
                          cores={shop.cores[0]})


def apart(shop, data, file):
    first = shop.daemon(data, shop.cores[0], "--slots", 0)
    shop.daemon(data, shop.cores[1], "--serve", "none", "--slots", 1,
                join=first)
    return shop.submit(file, first, 1)


def pair(shop, data, file):
    first = shop.daemon(data, shop.cores[0], "--serve", 0, "--slots", 1)
    shop.daemon(data, shop.cores[1], "--serve", 1, "--slots", 1, join=first)
    return shop.submit(file, first, 2)


def without_key(shop, data, file):
    shop.insecure = ["--insecure"]
    try:
        return pair(shop, data, file)
    finally:
        shop.insecure = []


def stage(summary, name):
    return next(s for s in summary["stages"] if s["stage"] == name)


def phases(summary):
    text = (pathlib.Path(summary["run"]) / "metrics.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def report_of(summary):
    """What one run shows."""
    epochs = [p["seconds"] for p in phases(summary) if p["phase"] == "train"]
    out = {
        "epoch_seconds": statistics.median(epochs),
        "epochs_seconds": epochs,
        "seconds": summary["seconds"],
        "cpu_seconds": summary["cpu_seconds"],
        "steps": summary["steps"],
        "digest": summary["digest"],
        "waits": {},
        "wire": {},
    }
    for one in summary["stages"]:
        if one["stage"].startswith("wire: "):
            out["wire"][one["stage"][6:]] = one["bytes"]
        elif one["replicas"]:
            time_of_all = summary["seconds"] * one["replicas"]
            out["waits"][one["stage"]] = {
                "busy": one["busy_seconds"] / time_of_all,
                "input": one["input_wait_seconds"] / time_of_all,
                "credit": one["credit_wait_seconds"] / time_of_all,
            }
    if stage(summary, "trainer")["replicas"] > 1:
        out["wire"]["gradients"] = stage(summary, "gradient group")["bytes"]
    return out


def bytes_that_must_cross(summary):
    """What a trainer without data needs, by the batches of a run in one
    process: 4 bytes per id, and rows of float32."""
    seeds = sum(p["seeds"] for p in phases(summary))
    features = stage(summary, "feature service")["bytes"]
    # A seed has a label and an original id, of 8 bytes each.
    nodes = (features - 16 * seeds) // (4 * FEATURES)
    edges = stage(summary, "sampling service")["bytes"] // 4
    # Batches hold an id per node, the ends of their rows, and their sources.
    sampler = stage(summary, "sampler")
    rows = (sampler["bytes"] - 8 * nodes - 4 * edges) // 8 - sampler["items"]
    return {"asked_ids": 4 * (rows + nodes), "sampled_ids": 4 * edges,
            "rows": 4 * FEATURES * nodes}


def judge(summaries, reports):
    """The figures of which something is asked."""
    out = {}
    if "apart" in reports:
        apart = reports["apart"]
        out["input_wait"] = {"value": apart["waits"]["trainer"]["input"],
                             "asked": 0.05}
        if "alone" in reports:
            needed = bytes_that_must_cross(summaries["alone"])
            sent = (apart["wire"]["sampling sent"]
                    + apart["wire"]["features sent"])
            out["wire"] = {"value": sent / sum(needed.values()) - 1,
                           "asked": 0.05, "sent": sent, "must_cross": needed}
            out["same_digest"] = apart["digest"] == reports["alone"]["digest"]
    if "pair" in reports and "alone" in reports:
        one, two = reports["alone"], reports["pair"]
        out["scaling"] = {
            "speed_up": one["epoch_seconds"] / two["epoch_seconds"],
            "cpu_time": two["cpu_seconds"] / one["cpu_seconds"],
            # Halves of a batch share fewer neighbours than the whole does.
            "rows": stage(summaries["pair"], "fetcher")["bytes"]
                    / stage(summaries["alone"], "fetcher")["bytes"],
        }
    if "pair" in reports and "open" in reports:
        keyed, free = reports["pair"], reports["open"]
        out["key"] = {
            "value": keyed["epoch_seconds"] / free["epoch_seconds"],
            "cpu_time": keyed["cpu_seconds"] / free["cpu_seconds"],
            "same_digest": keyed["digest"] == free["digest"],
            "asked": 1.25,
        }
    return out


def percent(share):
    return f"{100 * share:.1f} %"


def show(reports, figures):
    for case, report in reports.items():
        print(f"\n{case}: {report['epoch_seconds']:.2f} s per epoch, "
              f"{report['cpu_seconds']:.2f} s of processor time, "
              f"digest {report['digest']}")
        print(f"  {'stage':<18} {'busy':>8} {'input':>8} {'credit':>8}")
        for name, share in report["waits"].items():
            print(f"  {name:<18} {percent(share['busy']):>8} "
                  f"{percent(share['input']):>8} "
                  f"{percent(share['credit']):>8}")
        for kind, count in report["wire"].items():
            print(f"  {kind:<18} {count * 1e-6:>8.1f} MB")
    print()
    if "input_wait" in figures:
        print(f"apart: the trainer waits for input "
              f"{percent(figures['input_wait']['value'])} of the time "
              f"(asked: at most 5 %)")
    if "wire" in figures:
        needed = sum(figures["wire"]["must_cross"].values())
        print(f"apart: {figures['wire']['sent'] * 1e-6:.1f} MB on the wire, "
              f"{percent(figures['wire']['value'])} more than the "
              f"{needed * 1e-6:.1f} MB that must cross (asked: at most 5 %)")
        print(f"apart and alone end with the same weights: "
              f"{'yes' if figures['same_digest'] else 'NO'}")
    if "scaling" in figures:
        print(f"pair: {figures['scaling']['speed_up']:.2f} times as fast as "
              f"alone, for {figures['scaling']['cpu_time']:.2f} times the "
              f"processor time and {figures['scaling']['rows']:.2f} times the "
              f"rows: halves of a batch share fewer neighbours")
    if "key" in figures:
        key = figures["key"]
        print(f"pair and open: with a key an epoch takes {key['value']:.2f} "
              f"times as long (asked: at most {key['asked']}) and "
              f"{key['cpu_time']:.2f} times the processor time, and ends with "
              f"the same weights: {'yes' if key['same_digest'] else 'NO'}")


def read_options():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=[],
                        help="alone, apart, pair, open; default: all")
    parser.add_argument("--program", type=pathlib.Path,
                        default=ROOT / "build/actors/graphmill")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "data",
                        help="folder that keeps the graph")
    parser.add_argument("--scale", type=int, default=18,
                        help="2^SCALE nodes, 24 edges each")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--hidden", type=int, default=256,
                        help="width of the model's layers")
    parser.add_argument("--cores", help="two cores, as in 0,1; default: the "
                        "first two that this process may use")
    parser.add_argument("--json", action="store_true",
                        help="print one line of JSON")
    options = parser.parse_args()
    if options.cores:
        options.cores = [int(core) for core in options.cores.split(",")]
        if len(options.cores) != 2:
            parser.error("--cores takes two")
    else:
        cores = sorted(os.sched_getaffinity(0))
        options.cores = [cores[0], cores[min(1, len(cores) - 1)]]
    for case in options.cases:
        if case not in CASES:
            parser.error(f"there is no case {case}: {', '.join(CASES)}")
    return options


CASES = {"alone": alone, "apart": apart, "pair": pair, "open": without_key}


def main():
    options = read_options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    reports, summaries = {}, {}
    with tempfile.TemporaryDirectory(prefix="graphmill-") as folder:
        shop = Workshop(options, folder)
        data, file = prepare(shop, options)
        for case in options.cases or CASES:
            try:
                summaries[case] = CASES[case](shop, data, file)
                reports[case] = report_of(summaries[case])
            finally:
                shop.end_daemons()
        figures = judge(summaries, reports)
    if options.json:
        print(json.dumps({"cases": reports, "figures": figures}))
    else:
        show(reports, figures)


if __name__ == "__main__":
    main()
