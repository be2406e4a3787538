"""Makes the broken and odd inputs that `partition/broken-inputs.md` lists.

Each maker writes one input into an empty folder and returns the words after
`graphmill`, which are to be said in that folder."""

import json
import os
import shutil

from imports import save, small_set
from support import np

NODES = "id,label,split,f\na,x,train,1\nb,y,val,2\nc,x,test,4\n"
DEFINITION = """dataset: set
sampler: {fanouts: [3, 3]}
model: {hidden: 8}
train: {batch_size: 32, epochs: 1}
"""


def table(edges=b"a,b\nb,c\n", nodes=NODES, *flags, more=None):
    """Files of `import csv`: text, or bytes as they are. `more` is that of
    m.csv, which flags may name."""
    def make(place, _):
        words = ["import", "csv", "--edges", "e.csv"]
        for name, content in (("e.csv", edges), ("n.csv", nodes),
                              ("m.csv", more)):
            if callable(content):
                content(place / name)
            elif content is not None:
                (place / name).write_bytes(
                    content if isinstance(content, bytes)
                    else content.encode())
        if nodes is not None:
            words += ["--nodes", "n.csv"]
        return [*words, *flags, "--out", "out", "--quiet"]
    return make


def columns(text, nodes=NODES):
    """A columns file of `import csv`, beside good tables."""
    make_tables = table("a,b\nb,c\n", nodes, "--columns", "c.yaml")

    def make(place, good):
        (place / "c.yaml").write_text(text)
        return make_tables(place, good)
    return make


def arrays(*flags, meta=None, **changes):
    """A good folder of `import npy`, with these arrays; a function gets the
    path that it is to spoil, None takes the file away."""
    def make(place, _):
        source = place / "source"
        source.mkdir()
        small_set(source)
        if meta is not None:
            (source / "meta.json").write_text(meta)
        for name, array in changes.items():
            path = source / f"{name}.npy"
            if callable(array):
                array(path)
            elif array is None:
                path.unlink()
            else:
                save(source, **{name: array})
        return ["import", "npy", "source", "--out", "out", "--quiet", *flags]
    return make


def dataset(spoil, *words):
    """A dataset folder that is spoilt."""
    def make(place, good):
        shutil.copytree(good / "set", place / "set")
        spoil(place / "set")
        return [*(words or ("inspect", "set"))]
    return make


def parts(spoil):
    def make(place, good):
        shutil.copytree(good / "parts", place / "parts")
        spoil(place / "parts")
        return ["inspect", "parts"]
    return make


def definition(text, *more):
    """A definition, checked for the good dataset."""
    def make(place, good):
        path = place / "d.yaml"
        if callable(text):
            text(path)
        else:
            path.write_bytes(text if isinstance(text, bytes)
                             else text.encode())
        return ["validate", "d.yaml", "--data", str(good / "set"), *more]
    return make


def field(text):
    """A definition with this text in place of what it says of that section."""
    section = text.split(":")[0]
    rest = [line for line in DEFINITION.splitlines()
            if not line.startswith(section + ":")]
    return definition("\n".join([*rest, text, ""]))


def run(spoil, *words):
    """A finished run that is spoilt."""
    def make(place, good):
        shutil.copytree(good / "run", place / "run")
        spoil(place / "run")
        return [*words, "run", "--data", str(good / "set")]
    return make


def weights(spoil):
    """A run that is to begin with the weights of another."""
    def make(place, good):
        shutil.copy(good / "run/weights.safetensors", place / "w.safetensors")
        spoil(place / "w.safetensors")
        (place / "d.yaml").write_text(DEFINITION.replace(
            "hidden: 8", "hidden: 8, weights: w.safetensors"))
        return ["train", "d.yaml", "--data", str(good / "set"), "--runs",
                "runs", "--quiet"]
    return make


def of_other_edges(path):
    """Weights of a relation by another name."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = data[8:8 + size].replace(b"neighbours", b"a__b__c").ljust(size)
    path.write_bytes(data[:8] + header + data[8 + size:])


def to_folder(path):
    if path.exists():
        path.unlink()
    path.mkdir()


def to_loop(path):
    path.unlink(missing_ok=True)
    path.symlink_to(path.name)


def to_pipe(path):
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def cut(path):
    """Leaves half of it."""
    content = path.read_bytes()
    path.write_bytes(content[:len(content) // 2])


def emptied(path):
    path.write_bytes(b"")


def longer(path):
    path.write_bytes(path.read_bytes() + b"\0" * 8)


def within(*names, by):
    """Spoils a file of a folder."""
    return lambda folder: by(folder.joinpath(*names))


def renamed(old, new):
    """Replaces text in a file, of which the bytes may be other than text."""
    def spoil(path):
        content = path.read_bytes()
        assert old.encode() in content, (old, path)
        path.write_bytes(content.replace(old.encode(), new.encode(), 1))
    return spoil


def told(change):
    """Changes what a file of JSON says."""
    def spoil(path):
        document = json.loads(path.read_text())
        change(document)
        path.write_text(json.dumps(document))
    return spoil


def header(text):
    """An .npy with this header and few bytes behind it."""
    def spoil(path):
        line = text.encode().ljust(117) + b"\n"
        path.write_bytes(b"\x93NUMPY\x01\x00"
                         + len(line).to_bytes(2, "little") + line + b"\0" * 64)
    return spoil


def pickled(path):
    np.save(path, np.array([{}, None], dtype=object), allow_pickle=True)


def labels(**changes):
    out = np.arange(40) % 3
    for place, value in changes.items():
        out[int(place[1:])] = value
    return out


def element(place, value):
    """Changes an element of an array."""
    def spoil(path):
        array = np.load(path)
        array.reshape(-1)[place] = value
        np.save(path, array)
    return spoil


def type_told(**changes):
    """A dataset whose JSON says this of its node type."""
    return dataset(within("dataset.json", by=told(
        lambda document: document["node_types"][0].update(changes))))


def meta(**changes):
    """The meta.json of `small_set` with changes; None takes a key away."""
    document = {"name": "small", "num_nodes": 40, "num_classes": 3,
                "num_features": 5, **changes}
    return json.dumps({key: value for key, value in document.items()
                       if value is not None})


def sparse(begin=None, columns=None):
    """Features as compressed rows, with one value in each."""
    return arrays(
        features=None,
        features_indptr=np.arange(41) if begin is None else begin,
        features_indices=np.arange(40) % 5 if columns is None else columns,
        features_values=np.ones(40, np.float32))


def with_not_a_number(path):
    """Makes the last float32 of a file NaN."""
    path.write_bytes(path.read_bytes()[:-4] + b"\0\0\xc0\x7f")


def predicted(nodes):
    """A list of nodes for `predict`: an array, or text."""
    def make(place, good):
        name = "nodes.txt" if isinstance(nodes, str) else "nodes.npy"
        if isinstance(nodes, str):
            (place / name).write_text(nodes)
        else:
            np.save(place / name, nodes)
        return ["predict", str(good / "run"), "--data", str(good / "set"),
                "--nodes", name, "--out", "p.npy", "--quiet"]
    return make
