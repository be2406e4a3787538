"""The examples of links and edges for accuracies.py: how their data are imported,
which measures of the test are printed, and what stands beside them.

`bitcoin-otc-next` and what begins so are in the order of time: 70, 15 and 15 % of
the ratings. They are of values, signs (`-sign`) and pairs (`-links`). Each row sees
the ratings before it, and their values as features of edges. Without times
(`-untimed`) it sees those of training, and without features (`-bare`) no values.
What `-leak` sees tells the answer: a rating's own value, or each pair once more, as
the last edge before its time. It must reach more than all others.

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
    beside: str        # What others reach; may be empty.
    split_by_seed: bool = True
    # (who, (dataset) -> measures that need no model)
    baselines: tuple = ()


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
    leak, `before` is a moment before the time."""
    table = work / "trust.csv"
    if not table.exists():
        with (folder / "ratings.csv").open() as given:
            rows = list(csv.DictReader(given))
        with table.open("w", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(["from", "to", "value", "rating", "sign", "time",
                             "before"])
            for row in rows:
                value = float(row["feature"])
                writer.writerow([row["from"], row["to"], value, value,
                                 "trusts" if value > 0 else "doubts",
                                 row["time"], f"{float(row['time']) - 0.5:.6f}"])
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
                "--ignore", "time", "--ignore", "rating", "--ignore", "before",
                "--split-edges", "0.8,0.1,0.1", "--by", "random",
                "--seed", seed]
    return importing


def next_trust(label, how):
    """@param label None: links."""
    def importing(folder, _seed, work):
        what = labelled(label) if label else ["--ignore", "value", "--ignore",
                                              "sign"]
        what += ["--ignore" if "bare" in how else "--feature", "rating"]
        what += ["--split-edges", "0.7,0.15,0.15", "--by", "time"]
        if label is None and how == "-leak":
            # A copy that is no row, and so is not held out.
            return [*trust_edges(folder, work, "to", "seen"), *what,
                    "--task-edges", "to", "--edge-time", "to=time",
                    "--edge-time", "seen=before", "--ignore", "to=before",
                    "--ignore", "seen=time"]
        return [*trust_edges(folder, work, "to"), *what, "--ignore", "before",
                "--task-time" if "untimed" in how else "--edge-time", "time"]
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


def ranked(data, score_of, others=100):
    """The MRR of test rows, in the order of time, among as many destinations
    as Graphmill draws: by chance, and none to which the source has a link in any
    split.
    @param score_of (rows before, source, destinations) -> scores."""
    rows = {split: task_rows(data, split, "edges") for split in SPLITS}
    draws = np.random.default_rng(1)
    nodes = max(array.max() for array in rows.values()) + 1
    links = {tuple(pair) for pairs in rows.values() for pair in pairs}
    before = Before(nodes)
    for split in SPLITS[:2]:
        for pair in rows[split]:
            before.add(*pair)
    total = 0
    for source, destination in rows["test"]:
        places = [destination]
        while len(places) <= others:
            wrong = draws.integers(0, nodes)
            if (source, wrong) not in links:
                places.append(wrong)
        score, *wrong = map(tuple, np.reshape(score_of(before, source, places),
                                              (others + 1, -1)))
        total += 1 / (1 + sum(each > score for each in wrong)
                      + wrong.count(score) / 2)
        before.add(source, destination)
    return [float(total / len(rows["test"]))]


class Before:
    """The links so far, and how many each destination got."""

    def __init__(self, nodes):
        self.pairs, self.counts = set(), np.zeros(nodes, int)

    def add(self, source, destination):
        self.pairs.add((source, destination))
        self.counts[destination] += 1


def edge_bank(data):
    """A pair that was there before comes first. (Poursafaei et al.,
    NeurIPS'22.)"""
    return ranked(data, lambda before, source, places: [
        (source, each) in before.pairs for each in places])


def most_linked(data):
    """Destinations that got more links before come first."""
    return ranked(data, lambda before, _, places: before.counts[places])


def answers_first(data):
    """A pair that was there before the other way round comes first, then
    destinations that got more links."""
    return ranked(data, lambda before, source, places: [
        ((each, source) in before.pairs, before.counts[each])
        for each in places])


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
LATEST_COPY = ["sampler.latest=true", "sampler.fanouts={default: [5, 5], "
               "node__seen__node: [1, 0], node__rev_seen__node: [1, 0]}"]
VALUE_BESIDE = (("means of both nodes", value_by_means),)
SIGN_BESIDE = (("means of both nodes", sign_by_means),)
LINKS_BESIDE = (("EdgeBank", edge_bank), ("the most linked", most_linked),
                ("answers, then the most linked", answers_first))
POPULAR_BESIDE = (("the most popular artists", most_popular),)
TOP = [("recall@20", "recall@20", 1), ("NDCG@20", "ndcg@20", 1)]


def next_ratings():
    """Ratings in the order of time: what is learnt, by what rows may see."""
    for name, label, settings, measures, baselines in (
            ("bitcoin-otc-next", "value", [],
             [("RMSE", "rmse", 1), ("R2", "r2", 1)], VALUE_BESIDE),
            ("bitcoin-otc-next-sign", "sign",
             ["task=edge_class", "evaluate.metric=roc_auc"],
             [("AUC", "roc_auc", 100)], SIGN_BESIDE),
            ("bitcoin-otc-next-links", None,
             ["task=link", "evaluate.metric=mrr", "evaluate.negatives=100"],
             [("MRR", "mrr", 1)], LINKS_BESIDE)):
        for how in ("", "-bare", "-untimed", "-untimed-bare", "-leak"):
            own = [] if "untimed" in how else IN_ORDER
            if how == "-leak" and label is None:
                own = [*own, *LATEST_COPY]
            else:
                own = [*own, "sampler.fanouts=[5, 5]"]
                if how == "-leak":
                    own.append("decoder.edge_features=true")
            yield LinkExample(
                name + how, "bitcoin_otc", next_trust(label, how), "ratings",
                [f"dataset={name}{how}", *own, "evaluate.neighbours=sampled",
                 "evaluate.batch_size=64", "evaluate.every=2",
                 "train.batch_size=256", "train.epochs=6", *settings],
                measures, "", split_by_seed=False,
                baselines=() if how else baselines)


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
                TOP, "", baselines=POPULAR_BESIDE),
    LinkExample("lastfm-lookup", "lastfm", listening, "lastfm",
                ["dataset=lastfm", "model.kind=lookup",
                 "optimizer.embedding_decay=0.6"], TOP, "",
                baselines=POPULAR_BESIDE),
    LinkExample("bitcoin-otc", "bitcoin_otc", trust("value"), "ratings",
                ["dataset=bitcoin-otc"], [("RMSE", "rmse", 1), ("R2", "r2", 1)],
                "", baselines=VALUE_BESIDE),
    LinkExample("bitcoin-otc-sign", "bitcoin_otc", trust("sign"), "ratings",
                ["dataset=bitcoin-otc", "task=edge_class",
                 "evaluate.metric=roc_auc"], [("AUC", "roc_auc", 100)], "",
                baselines=SIGN_BESIDE),
    *next_ratings(),
]


def dataset_name(example):
    (name,) = (each.removeprefix("dataset=") for each in example.settings
               if each.startswith("dataset="))
    return name


def measure(example, sources, work, seeds, run):
    """@param run (arguments of graphmill) -> what it told as JSON
    @returns what accuracies.py prints."""
    told, beside = [], {who: [] for who, _ in example.baselines}
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
        for who, measured in example.baselines:
            if not beside[who] or example.split_by_seed:
                beside[who].append(measured(data))

    def spread(rows):
        return [{"mean": statistics.mean(column),
                 "deviation": statistics.stdev(column) if len(column) > 1
                 else 0.0} for column in zip(*rows)]

    return {"name": example.name, "definition": f"{example.definition}.yaml",
            "settings": example.settings,
            "measures": [title for title, _, _ in example.measures],
            "values": told, "spread": spread(told),
            "baselines": {who: spread(rows) for who, rows in beside.items()},
            "beside": example.beside}


def text_of(one):
    def line(spread):
        return ", ".join(f"{title} {each['mean']:.4g} +- {each['deviation']:.2g}"
                         for title, each in zip(one["measures"], spread))

    settings = "".join(f" --set {each}" for each in one["settings"])
    beside = "; ".join([one["beside"]] * bool(one["beside"]) + [
        f"{who}: {line(spread)}" for who, spread in one["baselines"].items()])
    return (f"{one['name']:35} {line(one['spread'])}  beside {beside}"
            f"  {one['definition']}{settings}")
