#!/usr/bin/env python3
"""Trains the examples with published settings several times, and prints mean and
deviation of their test accuracies beside what others reach.

    python3 examples/accuracies.py SOURCES [--only NAME ...] [--seeds 5]
        [--plain] [--json]

SOURCES holds `cora`, `citeseer` and `imdb`, each of them a folder of arrays as
`graphmill import npy` reads it, with features as compressed rows; what is not
there is left out, and named. Three more graphs are made of these: `cora-words`,
`citeseer-words` and `imdb-words`, in which the columns of the features are
nodes of a type `word`, so that no node has features, and all have vectors that
are learnt. The first two have 20 labels a class.

R-GCNs and the GraphSAGE with full batches stand beside `plain_rgcn.py`, which
computes them by NumPy alone. With `--plain` it is trained anew on the same
datasets, with as many seeds, and the difference of both means is printed with
its standard error. A difference below twice that error is noise. What a GAT
reaches by its formulas alone, `plain_gat.py` shows.

Links and edges are measured otherwise (link_examples.py): by ROC-AUC and average
precision, by filtered ranks, by the best 20 artists of users, or beside means of
nodes, on `cora`, `citeseer`, `umls`, `kinship`, `lastfm` and `bitcoin_otc`.

A run is `graphmill train DEFINITION --set seed=N`, with what is printed of its
example after `--set`; `--set` here adds to that of every run. Deviations are
those of samples, over the seeds 1, 2 ..."""

import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import numpy as np

import link_examples
import plain_rgcn
from link_examples import LINK_EXAMPLES

ROOT = pathlib.Path(__file__).resolve().parents[1]
PATIENCE_SECONDS = 3600
L1, REVERSE = ["--normalise", "l1"], ["--reverse"]
FULL = ["model.dropout=0.5", "optimizer.weight_decay=5e-4",
        "optimizer.decay_layers=first", "train.batch_size=all",
        "evaluate.batch_size=all"]

# Name; source; flags of its import; definition; settings; percent of the test
# nodes that others reach, or None, and who.
EXAMPLES = [
    ("gcn-cora", "cora", L1, "cora", [], 81.5, "Kipf and Welling, ICLR'17"),
    ("gcn-citeseer", "citeseer", L1, "citeseer", [], 70.3,
     "Kipf and Welling, ICLR'17"),
    ("gat-cora", "cora", L1, "cora-gat", [], 83.0,
     "Velickovic et al., ICLR'18: 83.0 +- 0.7"),
    ("gat-citeseer", "citeseer", L1, "cora-gat", ["dataset=citeseer"], 72.5,
     "Velickovic et al., ICLR'18: 72.5 +- 0.7; PyG 70.8, DGL 71.0"),
    ("gatv2-cora", "cora", L1, "cora-gat", ["model.kind=gatv2"], None,
     "none with these settings"),
    ("sage-cora", "cora", L1, "cora-sage", [], 80.5,
     "a plain script: 80.5 +- 0.8"),
    ("sage-full-cora", "cora", L1, "cora-sage", FULL, 79.1,
     "a plain script: 79.1 +- 1.0"),
    ("sage-full-citeseer", "citeseer", L1, "cora-sage",
     ["dataset=citeseer", *FULL], 70.3, "a plain script: 70.3 +- 0.9"),
    ("rgcn-imdb", "imdb", [*REVERSE, "--sparse"], "imdb", [], 56.9,
     "plain_rgcn.py: 56.9 +- 0.8"),
    ("rgcn-imdb-words", "imdb-words", REVERSE, "imdb",
     ["dataset=imdb-words"], 53.6, "plain_rgcn.py: 53.6 +- 0.4"),
    ("rgcn-cora-words", "cora-words", REVERSE, "imdb",
     ["dataset=cora-words"], 67.6, "plain_rgcn.py: 67.6 +- 1.7"),
    ("rgcn-citeseer-words", "citeseer-words", REVERSE, "imdb",
     ["dataset=citeseer-words"], 52.3, "plain_rgcn.py: 52.3 +- 4.2"),
]
WORDS = "-words"


def words_as_nodes(source, out):
    """A folder for `import npy` in which columns of features are nodes."""
    meta = json.loads((source / "meta.json").read_text())
    typed = "node_types" in meta
    kinds = meta["node_types"] if typed else {"paper": meta}
    (target,) = (name for name, about in kinds.items()
                 if "num_features" in about)
    begin = f"{target}." if typed else ""
    out.mkdir()
    for path in source.glob("*.npy"):
        name = path.name
        if name.startswith(f"{begin}features_"):
            continue
        if not typed:
            name = (f"{target}__cites__{target}.edges.npy"
                    if name == "edges.npy" else f"{target}.{name}")
        shutil.copyfile(path, out / name)
    begins, columns = (np.load(source / f"{begin}features_{name}.npy")
                       for name in ("indptr", "indices"))
    rows = np.repeat(np.arange(len(begins) - 1), np.diff(begins))
    np.save(out / f"{target}__has__word.edges.npy",
            np.stack([rows, columns.astype(np.int64)]))
    (out / "meta.json").write_text(json.dumps({"node_types": {
        "word": {"num_nodes": kinds[target]["num_features"]},
        **{name: {key: about[key] for key in ("num_nodes", "num_classes")
                  if key in about} for name, about in kinds.items()}}}))


def graphmill(options, *arguments):
    try:
        done = subprocess.run(
            [options.program, *map(str, arguments), "--quiet", "--json"],
            text=True, stdout=subprocess.PIPE, timeout=PATIENCE_SECONDS)
    except OSError as error:
        sys.exit(f"cannot start {options.program}: {error.strerror}; "
                 "--program says where graphmill is")
    except subprocess.TimeoutExpired:
        sys.exit(f"graphmill {arguments[0]} has not ended after "
                 f"{PATIENCE_SECONDS} s")
    if done.returncode != 0:
        sys.exit(f"graphmill {arguments[0]} failed: {done.returncode}")
    return json.loads(done.stdout.splitlines()[-1])


def imported(options, work, source, flags):
    """The dataset of a source, made once."""
    data = work / "data" / source
    if data.exists():
        return data
    folder = options.sources / source.removesuffix(WORDS)
    if source.endswith(WORDS):
        try:
            words_as_nodes(folder, work / source)
        except (OSError, ValueError, LookupError) as error:
            sys.exit(f"{folder} is not as `graphmill import npy` reads it, "
                     f"with features as compressed rows: {error!r}")
        folder = work / source
    graphmill(options, "import", "npy", folder, *flags, "--out", data)
    return data


def measure(options, work, example):
    name, source, flags, definition, settings, reference, whose = example
    data = imported(options, work, source, flags)
    shares = []
    for seed in range(1, options.seeds + 1):
        each = [*settings, *options.set, f"seed={seed}"]
        summary = graphmill(
            options, "train", ROOT / "examples" / f"{definition}.yaml",
            "--data", data, "--runs", work / "runs",
            *(word for one in each for word in ("--set", one)))
        shares.append(100 * summary["test"]["accuracy"])
    plain = []
    how = (plain_rgcn.Training() if definition == "imdb"
           else plain_rgcn.SAGE if name.startswith("sage-full-") else None)
    if options.plain and how:
        plain = plain_rgcn.accuracies(data, options.seeds, how)
        reference = statistics.mean(plain)
        whose = (f"plain_rgcn.py: {reference:.1f} +- "
                 f"{plain_rgcn.deviation(plain):.1f}")
    return {"name": name, "definition": f"{definition}.yaml",
            "settings": settings, "accuracies": shares, "plain": plain,
            "mean": statistics.mean(shares),
            "deviation": plain_rgcn.deviation(shares),
            "reference": reference, "whose": whose}


def measure_links(options, work, example):
    def run(command, *arguments):
        if command != "train":
            return graphmill(options, command, *arguments)
        definition, seed, data = arguments
        each = [*example.settings, *options.set, f"seed={seed}"]
        return graphmill(
            options, "train", ROOT / "examples" / f"{definition}.yaml",
            "--data", data, "--runs", work / "runs",
            *(word for one in each for word in ("--set", one)))

    return link_examples.measure(example, options.sources, work,
                                 options.seeds, run)


def standard_error(one):
    """Of the difference of both means, by Welch (1947)."""
    return sum(plain_rgcn.deviation(one[shares]) ** 2 / len(one[shares])
               for shares in ("accuracies", "plain")) ** 0.5


def show(one):
    published = "-" if one["reference"] is None else f"{one['reference']:.1f}"
    settings = "".join(f" --set {each}" for each in one["settings"])
    print(f"{one['name']:19} {one['mean']:5.1f} +- {one['deviation']:3.1f}"
          f"  beside {published:>4} ({one['whose']})"
          f"  {one['definition']}{settings}", flush=True)
    if one["plain"]:
        print(f"{'':19} difference {one['mean'] - one['reference']:+.2f}, "
              f"standard error {standard_error(one):.2f}", flush=True)


def main():
    built = ROOT / "build/actors/graphmill"
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", type=pathlib.Path)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME",
                        choices=[example[0] for example in EXAMPLES]
                        + [example.name for example in LINK_EXAMPLES])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--set", action="append", default=[],
                        metavar="FIELD=VALUE")
    parser.add_argument("--plain", action="store_true",
                        help="train plain_rgcn.py, too")
    parser.add_argument("--program", default=built if built.exists()
                        else shutil.which("graphmill") or built)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.seeds < 1:
        parser.error("--seeds must be 1 or more")
    wanted = [example for example in EXAMPLES
              if not options.only or example[0] in options.only]
    there = [example for example in wanted if
             (options.sources / example[1].removesuffix(WORDS)).is_dir()]
    wanted_links = [example for example in LINK_EXAMPLES
                    if not options.only or example.name in options.only]
    links = [example for example in wanted_links
             if (options.sources / example.source).is_dir()]
    lacking = [(example[0], example[1].removesuffix(WORDS))
               for example in wanted if example not in there]
    lacking += [(example.name, example.source)
                for example in wanted_links if example not in links]
    for name, source in lacking:
        print(f"left out: {name}, for there is no {options.sources / source}",
              file=sys.stderr)
    if not there and not links:
        sys.exit(f"{options.sources} has none of the graphs")
    results, link_results = [], []
    with tempfile.TemporaryDirectory() as work:
        for example in there:
            results.append(measure(options, pathlib.Path(work), example))
            if not options.json:
                show(results[-1])
        for example in links:
            link_results.append(
                measure_links(options, pathlib.Path(work), example))
            if not options.json:
                print(link_examples.text_of(link_results[-1]), flush=True)
    if options.json:
        print(json.dumps({"seeds": options.seeds, "examples": results,
                          "links": link_results}))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)  # As shells give for SIGINT.
