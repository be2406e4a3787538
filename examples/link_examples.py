"""The examples of links and edges for accuracies.py: how their data are imported,
which measures of the test are printed, and what stands beside them.

`bitcoin-otc-next` and what begins so are in the order of time: 70, 15 and 15 % of
the ratings. They are of values, signs (`-sign`) and pairs (`-links`). Each row sees
the ratings before it, and their values as features of edges. Without times
(`-untimed`) it sees those of training, and without features (`-bare`) no values.
What `-leak` sees tells the answer: a rating's own value, or all pairs of the test,
which it learns, too. It must reach more than all others.

Each seed of `gae-` and `bitcoin-otc` has a split of its own, and so a dataset of
its own. The splits of triples are given, and so is the test of `lastfm`, of
whose other rows each seed has 10 % for validation."""

import csv
import dataclasses
import statistics

import numpy as np

SPLITS = ("train", "val", "test")


@dataclasses.dataclass
class LinkExample:
    name: str
    source: str        # A folder in SOURCES.
    importing: object  # (folder, seed, work) -> arguments of `graphmill import`
    definition: str
    settings: list
    measures: list     # (title, key in `test` of the summary, factor)
    beside: str        # What others reach.
    split_by_seed: bool = True
    baseline: object = None  # (dataset) -> measures that need no model


def citations(folder, seed, _):
    """85, 5 and 10 % of pairs; both directions of a pair are in one split."""
    return ["npy", folder, "--task-kind", "link", "--split-edges", "0.85,0.05,0.1",
            "--by", "pair", "--seed", seed]


def triples(folder, _seed, _work):
    return ["csv", "--task-train", folder / "train.txt",
            "--task-val", folder / "valid.txt",
            "--task-test", folder / "test.txt", "--source", "1",
            "--relation", "2", "--destination", "3", "--no-header",
            "--separator", "tab"]


def listening(folder, seed, work):
    """With a tenth of the training rows for validation."""
    with (folder / "train.csv").open() as given:
        head, *rows = list(csv.reader(given))
    order = np.random.default_rng(seed).permutation(len(rows))
    arguments = ["csv", "--task-test",
                 f"user__listens__artist={folder / 'test.csv'}"]
    for split, chosen in (("val", order[:len(rows) // 10]),
                          ("train", order[len(rows) // 10:])):
        table = work / f"lastfm-{seed}-{split}.csv"
        with table.open("w", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(head)
            writer.writerows(rows[i] for i in np.sort(chosen))
        arguments += [f"--task-{split}", f"user__listens__artist={table}"]
    return [*arguments, "--source", "user", "--destination", "artist",
            "--reverse"]


def trust_table(folder, work):
    """With a column for the sign, and the value once more, as a feature. For a
    leak, `part` has the splits in the order of time, and `all` trains on each."""
    table = work / "trust.csv"
    if not table.exists():
        with (folder / "ratings.csv").open() as given:
            rows = list(csv.DictReader(given))
        cuts = np.quantile([float(row["time"]) for row in rows], [0.7, 0.85])
        with table.open("w", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(["from", "to", "value", "rating", "sign", "time",
                             "part", "all"])
            for row in rows:
                value = float(row["feature"])
                part = SPLITS[np.searchsorted(cuts, float(row["time"]))]
                writer.writerow([row["from"], row["to"], value, value,
                                 "trusts" if value > 0 else "doubts",
                                 row["time"], part, "train"])
    return table


def trust_edges(folder, work, *names):
    """The table as edges of each of the types."""
    lists = [word for name in names for word in
             ("--edges", f"node__{name}__node={trust_table(folder, work)}")]
    return ["csv", *lists, "--source", "from", "--destination", "to",
            "--reverse"]


def labelled(label):
    other = "sign" if label == "value" else "value"
    kind = "edge_value" if label == "value" else "edge_class"
    return ["--ignore", other, "--task-kind", kind, "--task-label", label]


def trust(label):
    def importing(folder, seed, work):
        return [*trust_edges(folder, work, "to"), *labelled(label),
                "--ignore", "time", "--ignore", "rating",
                "--ignore", "part", "--ignore", "all",
                "--split-edges", "0.8,0.1,0.1", "--by", "random",
                "--seed", seed]
    return importing


def next_trust(label, how):
    """@param label None: links."""
    def importing(folder, _seed, work):
        what = labelled(label) if label else ["--ignore", "value", "--ignore",
                                              "sign"]
        what += ["--ignore" if "bare" in how else "--feature", "rating"]
        if label is None and how == "-leak":
            # A copy, all of which carries messages and is learnt.
            return [*trust_edges(folder, work, "to", "seen"), *what,
                    "--ignore", "time", "--task-split", "to=part",
                    "--task-split", "seen=all", "--ignore", "to=all",
                    "--ignore", "seen=part"]
        return [*trust_edges(folder, work, "to"), *what,
                "--ignore", "part", "--ignore", "all",
                "--task-time" if "untimed" in how else "--edge-time", "time",
                "--split-edges", "0.7,0.15,0.15", "--by", "time"]
    return importing


def task_rows(data, split, name):
    (task,) = (data / "tasks").iterdir()
    return np.load(task / f"{split}.{name}.npy")


def by_means(data, labels):
    """Labels of test rows by those that both nodes have in training: the mean
    of all, plus how far the source's and the destination's are from it."""
    edges = {split: task_rows(data, split, "edges") for split in SPLITS}
    overall = labels["train"].mean()
    guess = np.full(len(edges["test"]), overall)
    nodes = max(array.max() for array in edges.values()) + 1
    for end in (0, 1):
        ids = edges["train"][:, end]
        counts = np.bincount(ids, minlength=nodes)
        sums = np.bincount(ids, labels["train"] - overall, minlength=nodes)
        guess += (sums / (counts + 3))[edges["test"][:, end]]  # Towards 0.
    return guess


def value_by_means(data):
    labels = {split: task_rows(data, split, "labels").reshape(-1).astype(float)
              for split in SPLITS}
    errors = labels["test"] - by_means(data, labels)
    spread = labels["test"] - labels["test"].mean()
    return [float((errors ** 2).mean() ** 0.5),
            float(1 - (errors ** 2).sum() / (spread ** 2).sum())]


def area(scores, positive):
    """ROC-AUC, a tie counting one half."""
    order = np.argsort(scores, kind="stable")
    _, place, counts = np.unique(scores[order], return_inverse=True,
                                 return_counts=True)
    ends = np.cumsum(counts)
    ranks = (ends - (counts - 1) / 2)[place]
    marks = positive[order]
    hits = marks.sum()
    return float((ranks[marks].sum() - hits * (hits + 1) / 2)
                 / (hits * (len(marks) - hits)))


def sign_by_means(data):
    labels = {split: task_rows(data, split, "labels").astype(float)
              for split in SPLITS}
    return [100 * area(by_means(data, labels), labels["test"] == 1)]


def edge_bank(data, others=100):
    """Reciprocal ranks of test rows among destinations drawn by chance: a pair
    that was there before comes first. (Poursafaei et al., NeurIPS'22.)"""
    rows = {split: task_rows(data, split, "edges") for split in SPLITS}
    draws = np.random.default_rng(1)
    nodes = max(array.max() for array in rows.values()) + 1
    known = {tuple(pair) for split in SPLITS[:2] for pair in rows[split]}
    ranks = []
    for source, destination in rows["test"]:
        wrong = draws.integers(0, nodes, others)
        score = (source, destination) in known
        scores = np.array([(source, each) in known for each in wrong])
        ranks.append(1 + (scores > score).sum() + (scores == score).sum() / 2)
        known.add((source, destination))
    return [float((1 / np.array(ranks)).mean())]


def most_popular(data, best=20):
    """Recall and NDCG of the test by those artists that most users listen to in
    training, without those that the user is known to listen to."""
    rows = {split: task_rows(data, split, "edges") for split in SPLITS}
    users, artists = (max(array[:, end].max() for array in rows.values()) + 1
                      for end in (0, 1))
    scores = np.tile(np.bincount(rows["train"][:, 1], minlength=artists)
                     .astype(float), (users, 1))
    wanted = np.zeros(scores.shape, bool)
    wanted[tuple(rows["test"].T)] = True
    for split in ("train", "val"):
        scores[tuple(rows[split].T)] = -1
    tested = wanted.any(axis=1)
    first = np.argsort(-scores[tested], axis=1, kind="stable")[:, :best]
    hits = np.take_along_axis(wanted[tested], first, 1)
    counts = wanted[tested].sum(axis=1)
    gains = 1 / np.log2(np.arange(2, best + 2))
    ideal = np.cumsum(gains)[np.minimum(counts, best) - 1]
    return [float((hits.sum(axis=1) / counts).mean()),
            float((hits @ gains / ideal).mean())]


AREAS = [("AUC", "roc_auc", 100), ("AP", "average_precision", 100)]
RANKS = [("MRR", "mrr", 1), ("hits@1", "hits@1", 1), ("hits@10", "hits@10", 1)]
IN_ORDER = ["sampler.time=strict", "sampler.disjoint=true",
            "evaluate.visible=past"]
TOP = [("recall@20", "recall@20", 1), ("NDCG@20", "ndcg@20", 1)]


def next_ratings():
    """Ratings in the order of time: what is learnt, by what rows may see."""
    for name, label, settings, measures, beside, baseline in (
            ("bitcoin-otc-next", "value", [],
             [("RMSE", "rmse", 1), ("R2", "r2", 1)], "means of both nodes",
             value_by_means),
            ("bitcoin-otc-next-sign", "sign",
             ["task=edge_class", "evaluate.metric=roc_auc"],
             [("AUC", "roc_auc", 100)], "means of both nodes", sign_by_means),
            ("bitcoin-otc-next-links", None,
             ["task=link", "evaluate.metric=mrr", "evaluate.negatives=100"],
             [("MRR", "mrr", 1)], "EdgeBank, by its own 100 negatives",
             edge_bank)):
        for how in ("", "-bare", "-untimed", "-untimed-bare", "-leak"):
            untimed = "untimed" in how or (label is None and how == "-leak")
            times = [] if untimed else IN_ORDER
            own = ["decoder.edge_features=true"] if label and how == "-leak" else []
            yield LinkExample(
                name + how, "bitcoin_otc", next_trust(label, how), "ratings",
                [f"dataset={name}{how}", *times, "evaluate.neighbours=sampled",
                 "evaluate.batch_size=64", "train.batch_size=256",
                 "train.epochs=15", *settings, *own],
                measures, beside, split_by_seed=False, baseline=baseline)


LINK_EXAMPLES = [
    LinkExample("gae-cora", "cora", citations, "gae", ["dataset=cora-links"],
                AREAS, "GAE of Kipf and Welling 2016: 91.0, 92.0"),
    LinkExample("gae-citeseer", "citeseer", citations, "gae",
                ["dataset=citeseer-links"], AREAS,
                "GAE of Kipf and Welling 2016: 89.5, 89.9"),
    LinkExample("umls", "umls", triples, "triples", ["dataset=umls"], RANKS,
                "ConvE: 0.94, 0.92, 0.99", split_by_seed=False),
    LinkExample("kinship", "kinship", triples, "triples", ["dataset=kinship"],
                RANKS, "ConvE: MRR 0.83, hits@10 0.98", split_by_seed=False),
    LinkExample("lastfm", "lastfm", listening, "lastfm", ["dataset=lastfm"],
                TOP, "the most popular artists", baseline=most_popular),
    LinkExample("lastfm-lookup", "lastfm", listening, "lastfm",
                ["dataset=lastfm", "model.kind=lookup",
                 "optimizer.embedding_decay=0.6"], TOP,
                "the most popular artists", baseline=most_popular),
    LinkExample("bitcoin-otc", "bitcoin_otc", trust("value"), "ratings",
                ["dataset=bitcoin-otc"], [("RMSE", "rmse", 1), ("R2", "r2", 1)],
                "means of both nodes", baseline=value_by_means),
    LinkExample("bitcoin-otc-sign", "bitcoin_otc", trust("sign"), "ratings",
                ["dataset=bitcoin-otc", "task=edge_class",
                 "evaluate.metric=roc_auc"], [("AUC", "roc_auc", 100)],
                "means of both nodes", baseline=sign_by_means),
    *next_ratings(),
]


def dataset_name(example):
    (name,) = (each.removeprefix("dataset=") for each in example.settings
               if each.startswith("dataset="))
    return name


def measure(example, sources, work, seeds, run):
    """@param run (arguments of graphmill) -> what it told as JSON
    @returns what accuracies.py prints."""
    told, baselines = [], []
    for seed in range(1, seeds + 1):
        folder = work / f"{example.name}-{seed if example.split_by_seed else 0}"
        data = folder / dataset_name(example)
        if not data.exists():
            folder.mkdir()
            run("import", *example.importing(sources / example.source, seed,
                                             work), "--out", data)
        summary = run("train", example.definition, seed, data)
        told.append([factor * summary["test"][key]
                     for _, key, factor in example.measures])
        if example.baseline:
            baselines.append(example.baseline(data))

    def spread(rows):
        return [{"mean": statistics.mean(column),
                 "deviation": statistics.stdev(column) if len(column) > 1
                 else 0.0} for column in zip(*rows)]

    return {"name": example.name, "definition": f"{example.definition}.yaml",
            "settings": example.settings,
            "measures": [title for title, _, _ in example.measures],
            "values": told, "spread": spread(told),
            "baseline": spread(baselines), "beside": example.beside}


def text_of(one):
    def line(spread):
        return ", ".join(f"{title} {each['mean']:.4g} +- {each['deviation']:.2g}"
                         for title, each in zip(one["measures"], spread))

    settings = "".join(f" --set {each}" for each in one["settings"])
    beside = (f"{one['beside']}: {line(one['baseline'])}" if one["baseline"]
              else one["beside"])
    return (f"{one['name']:35} {line(one['spread'])}  beside {beside}"
            f"  {one['definition']}{settings}")
