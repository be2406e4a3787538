"""What a state of a loader says of its settings, in words of arguments."""

from __future__ import annotations

import json
from typing import Any

_OWN = "settings", "batch_size", "split", "shuffle", "drop_last", "seeds"
_OF_LINKS = "rows", "negatives", "edge_types"

# Settings of an engine that several arguments make up, in the order of their values.
_PARTS = {"time": ("time", "latest", "window", "disjoint", "evaluate.visible"),
          "seed_order": ("seed_order", "parts", "world_size"),
          "walks": ("walks", "walk_length", "restart"),
          "negatives": ("negatives.kind", "negatives.count", "negatives.corrupt",
                        "negatives.weight", "evaluate.negatives")}
_CALLED = {"subgraph": "subgraph_type", "edge_fanouts": "fanouts by edge type",
           "precision": "fetch.precision", "neighbours": "evaluate.neighbours"}
# Engines count these words (messages/definition/definition_words.hpp).
_WORDS = {"method": ("uniform", "weighted", "labor", "pinsage", "hgt", "saint"),
          "time": ("none", "ignore", "strict", "inclusive"),
          "evaluate.visible": ("training", "past"),
          "subgraph_type": ("directional", "bidirectional", "induced"),
          "negatives.kind": ("per_edge", "joint", "given"),
          "negatives.corrupt": ("destination", "source", "both", "pair"),
          "negatives.weight": ("uniform", "degree"), "exclude": ("pair", "none")}
_NONE = object()


def differences(then: str, now: str) -> list[str]:
    """What differs between the settings of a state and those of a loader, one text
    each. Empty: nothing."""
    if then == now:
        return []
    try:
        before, here = _named(json.loads(then)), _named(json.loads(now))
    except (ValueError, TypeError, AttributeError):
        return [f"its definition is {then}, and that of this loader is {now}"]
    if before == here:
        return []
    out = []
    for name in [*before, *(name for name in here if name not in before)]:
        old, new = before.get(name, _NONE), here.get(name, _NONE)
        # What only some settings have, such as a window of time, may say nothing.
        if old == new or (_NONE in (old, new) and not (new if old is _NONE else old)):
            continue
        if name == "seeds" and None not in (old, new):
            out.append("seeds are others")  # Of which there are digests alone.
        elif name == "seeds":
            out.append("seeds are " + ("given in the state and not here" if new is None
                                       else "given here and not in the state"))
        else:
            out.append(f"{name} is {_text(name, old)} in the state and "
                       f"{_text(name, new)} here")
    return out or [f"its definition is {then}, and that of this loader is {now}"]


def _named(identity: list[Any]) -> dict[str, Any]:
    settings, *own = identity[:len(_OWN)]
    out: dict[str, Any] = {}
    for name, value in settings.items():
        if name in _PARTS:
            out.update(zip(_PARTS[name], value))
        else:
            out[_CALLED.get(name, name)] = value
    out.update(zip(_OWN[1:], own))
    trains = out.get("split") == "train"
    shuffles = out.get("shuffle")
    out["shuffle"] = (out.pop("train_shuffle", True)
                      and (trains if shuffles is None else shuffles))
    if trains:
        out.pop("evaluate.negatives", None)
    out.update(zip((f"{name} of a LinkLoader" for name in _OF_LINKS),
                   identity[len(_OWN):]))
    return out


def _text(name: str, value: Any) -> str:
    if value is _NONE:
        return "not given"
    words = _WORDS.get(name, ())
    if isinstance(value, int) and not isinstance(value, bool) and value < len(words):
        return repr(words[value])
    return repr(value)
