"""Sentences of the programs, in words of Python: those speak of definitions and of
flags, and users of this package of arguments."""

from __future__ import annotations

import re
from typing import Mapping

# The field of a definition that an argument of a loader sets.
FIELDS = {
    "seed": "seed", "labels": "labels", "sampler.fanouts": "fanouts",
    "sampler.replace": "replace", "sampler.method": "method",
    "sampler.walks": "walks", "sampler.walk_length": "walk_length",
    "sampler.restart": "restart", "sampler.subgraph": "subgraph_type",
    "sampler.time": "time", "sampler.latest": "latest", "sampler.window": "window",
    "sampler.disjoint": "disjoint", "train.batch_size": "batch_size",
    "evaluate.batch_size": "batch_size", "train.seed_order": "seed_order",
    "sampler.replicas": "threads", "sampler.threads": "threads",
    "fetch.threads": "threads", "budget.bytes": "budget",
    "budget.batches": "prefetch"}
# Those of a LinkLoader alone.
FIELDS_OF_LINKS = {"task": "task", "train.exclude": "exclude"}
FIELDS_OF_NEGATIVES = {"negatives.count": "count", "evaluate.negatives": "count",
                       "negatives.kind": "kind", "negatives.corrupt": "corrupt",
                       "negatives.weight": "weight"}

_OWN = {**FIELDS, **FIELDS_OF_LINKS, "train.shuffle": "shuffle"}
_VALUES = {"true": "True", "false": "False", "all": "-1"}

_FLAGS_OF_FEEDS = {
    "--memory": "`memory`", "--storage": "`storage`", "--key": "`key`",
    "--insecure": "`insecure`", "--data": "`data`",
    "--edge-time": "`edge_time` of graphmill.import_",
    "--node-time": "`node_time` of graphmill.import_",
    "--task-negatives": "edge={\"negatives\": NAME} of graphmill.import_"}
_FLAGS_OF_IMPORTS = frozenset((
    "--by", "--like", "--renumber-labels", "--reverse", "--sparse", "--split-edges",
    "--task-edges", "--undirected", "--normalise"))
_FLAGS_OF_PREDICTIONS = {
    "--all": "`neighbours=None`", "--neighbours": "`neighbours`", "--data": "`data`",
    "--pairs": "`pairs`", "--nodes": "`nodes`", "--logits": "`logits`",
    "--embeddings": "`embeddings`", "--probabilities": "`probabilities`"}
# Arguments of `import_` as the command has them: one value, several, or pairs.
_FLAGS_OF_ONE = {"weight", "edge-attr", "edge-time", "node-time", "time-unit",
                 "split-index", "undirected", "name"}
_FLAGS_OF_LISTS = {"ignore", "no-label"}
_FLAGS_OF_PAIRS = {"rename", "edge", "num-nodes"}
_COLUMNS = {"source": "`ends`", "destination": "`ends`", "id": "`id_column`"}

# Of words that mean something else here.
_SENTENCES = (
    (r"so that \S+ would see no neighbour; sample some, or use `kind: mlp`",
     "which takes no neighbours: give numbers above 0, -1 for all neighbours, or None "
     "for [10, 10]; for seeds alone, give overrides=[\"model.kind=mlp\"]"),
    (r"predict the edges of a split \(--split\), which have times",
     "give `split` in place of `pairs`"),
    (r"(`fanouts`.*)\ball or 0", r"\1-1 or 0"), (r"(`fanouts` has) `all`", r"\1 -1"),
    (r" seeds, or all\b", " seeds"))

_WORD = r"[A-Z]+\b"  # That stands for a value, as in --edge-time COLUMN.
_SET = re.compile(r'^--set ([\w.]+)=(?:.*?[^"])?: ')  # Of JSON, "key": goes on.
_LOADER = re.compile(r"^loader:\d+:\d+: ")  # The definition that nobody has written.
_FILE = re.compile(r"^\S+:\d+:\d+: ")
_FIELD = re.compile(r"`([a-z]+(?:\.[a-z_]+)?)(?:: ([^`]+))?`")


def of_loaders(text: str) -> str:
    """What the engine of a loader has said. Lines about a file of a definition keep
    the names of fields, which are those of the file."""
    # Fields that one argument sets have one fault.
    lines = dict.fromkeys(map(_line, text.split("\n")))
    return _flags("\n".join(lines), _FLAGS_OF_FEEDS)


def of_predictions(text: str) -> str:
    """What ``graphmill predict`` has said."""
    return _flags(text, _FLAGS_OF_PREDICTIONS, "options")


def of_imports(text: str) -> str:
    """What `import_` has said: its arguments are flags of ``to_graphmill``, which
    says the same."""
    text = text.replace("--source and --destination", "ends=(SOURCE, DESTINATION)")
    text = re.sub(r" \(of the command: [^)]*\)", "", text)
    text = re.sub(r"(=\S+|\}) \(--[^)]*\)", r"\1", text)  # Both are told.

    def said(found: re.Match[str]) -> str:
        flag, value = found[1], found[2] or ""
        name, (key, _, of) = flag.replace("-", "_"), value.partition("=")
        if flag in _FLAGS_OF_PAIRS and value:
            return (f"{name}={{{_literal(key)}: {_literal(of)}}}" if of else
                    f"{name}[{key!r}]")
        if flag in _FLAGS_OF_LISTS and value:
            return f"{name}=[{_literal(value)}]"
        if flag in _FLAGS_OF_PAIRS | _FLAGS_OF_LISTS | _FLAGS_OF_ONE:
            return f"{name}={_literal(value)}" if value else f"`{name}`"
        if flag in _COLUMNS:
            return _COLUMNS[flag]
        return f"`--{' '.join(filter(None, found.groups()))}` of `import_flags`"
    return re.sub(r"--([a-z][a-z-]*)(?: (?![a-z]+ )([^\s;:()]+?)(?=[;:,)]?(?:\s|$)))?",
                  said, text)


def _literal(text: str) -> str:
    """A value, or a word that stands for one."""
    return text if re.fullmatch(r"\d+|[A-Z]+", text) else repr(text)


def _line(line: str) -> str:
    if _FILE.match(line) and not _LOADER.match(line):
        return line
    line = _LOADER.sub("", line)
    field = _SET.match(line)
    line = _FIELD.sub(_field, _SET.sub("", line))
    for pattern, text in _SENTENCES:
        line = re.sub(pattern, text, line)
    if field is None or line.startswith("`"):  # That says what it is about.
        return line
    return f"{_argument(field[1])}: {line}"


def _argument(path: str) -> str:
    """What the field is called here."""
    if path in FIELDS_OF_NEGATIVES:
        return f"`{FIELDS_OF_NEGATIVES[path]}` of negatives"
    return _OWN.get(path, path)


def _field(found: re.Match[str]) -> str:
    path, value = found[1], found[2]
    if path in FIELDS_OF_NEGATIVES:
        name = FIELDS_OF_NEGATIVES[path]
        return (f"`{name}` of negatives" if value is None else
                f"`negatives={{\"{name}\": {_value(value)}}}`")
    name = _OWN.get(path, "")
    if not name or "." not in path and value is None:
        return found[0]
    return f"`{name}`" if value is None else f"`{name}={_value(value)}`"


def _value(text: str) -> str:
    """A value of a definition as Python has it."""
    return _VALUES.get(text) or (text if re.fullmatch(r"[-\d.\[\], ]+", text)
                                 else f'"{text}"')


def _flags(text: str, arguments: Mapping[str, str],
           otherwise: str = "import_flags") -> str:
    def said(found: re.Match[str]) -> str:
        flag = found[1]
        if flag in arguments:
            return arguments[flag]
        if flag not in _FLAGS_OF_IMPORTS and otherwise == "import_flags":
            return found[0]  # Of a command that the user types, such as a daemon's.
        return f"`{found[0]}` of `{otherwise}`"
    return re.sub(rf"(--[a-z][a-z-]*)(?: {_WORD}| time\b)?", said, text)
