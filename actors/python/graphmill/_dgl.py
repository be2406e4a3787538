"""Batches as DGL has them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .errors import Error

if TYPE_CHECKING:
    from .batch import Batch

# What DGL's own datasets call them, and its names of ids.
_NODE_NAMES = {"x": "feat", "n_id": "_ID"}
_EDGE_NAMES = {"e_id": "_ID", "edge_type": "_TYPE"}
_OF_SEEDS = {"y": "label", "seed_time": "seed_time", "input_id": "input_id"}


def triple_of(batch: Batch) -> tuple[Any, Any, list[Any]]:
    """Input nodes, output nodes and blocks, as DGL's DataLoader gives them."""
    try:
        dgl = importlib.import_module("dgl")
    except ImportError as cause:
        raise Error("DGL is not installed: it is what as_=\"dgl\" makes batches "
                    "for", "not_found") from cause
    if batch._layout.row_types or "indptr" in batch._layout.slots:
        raise Error("blocks of DGL are of nodes, and need form=\"coo\"",
                    "invalid_argument")
    if any(name == "edge_index" for name, _ in batch._own):
        raise Error("blocks of DGL have the edges that were sampled, and edge_index "
                    "was assigned", "invalid_argument")
    batch = batch if batch._as_torch else batch.to("cpu")
    blocks = [_block(dgl, batch, hops) for hops in
              range(batch._layout.hops, 0, -1)]
    _label(batch, blocks)
    lay = batch._layout
    ids = {of: batch._array("n_id", of) for of in lay.node_types}
    seeds = ids[lay.target][:batch.batch_size]
    if lay.typed:
        return ids, {lay.target: seeds}, blocks
    return ids[lay.target], seeds, blocks


def _block(dgl: Any, batch: Batch, hops: int) -> Any:
    """What the layer reads that has `hops` of them below its outputs: all edges
    into the nodes that were found one hop before."""
    lay = batch._layout
    sources = {of: batch._found(of)[hops] for of in lay.node_types}
    ends = {of: batch._found(of)[hops - 1] for of in lay.node_types}
    edges: dict[Any, int] = {
        of: sum(counts[:hops]) for of, counts in
        zip(lay.edge_types, batch._edge_counts())}
    pairs = {of: batch._array("edge_index", of)[:, :count]
             for of, count in edges.items()}
    if lay.typed:
        block = dgl.create_block(
            {of: (pair[0], pair[1]) for of, pair in pairs.items()},
            num_src_nodes=sources, num_dst_nodes=ends)
    else:
        none = batch._array("n_id", lay.target)[:0]
        pair = next(iter(pairs.values()), (none, none))
        block = dgl.create_block((pair[0], pair[1]),
                                 num_src_nodes=sources[lay.target],
                                 num_dst_nodes=ends[lay.target])
    rows = {of: batch._found(of)[-1] for of in lay.node_types} | {
        of: sum(counts) for of, counts in zip(lay.edge_types, batch._edge_counts())}
    for name, of in batch._places():
        array = batch._array(name, of)
        # A block has rows of nodes and of edges alone.
        if (name == "edge_index" or of not in rows
                or getattr(array, "shape", ())[:1] != (rows[of],)
                or name in _OF_SEEDS and (name, of) not in batch._own):
            continue
        if of in edges:
            data = block.edges[of].data if lay.typed else block.edata
            data[_EDGE_NAMES.get(name, name)] = array[:edges[of]]
            continue
        name = _NODE_NAMES.get(name, name)
        source = block.srcnodes[of].data if lay.typed else block.srcdata
        source[name] = array[:sources[str(of)]]
        end = block.dstnodes[of].data if lay.typed else block.dstdata
        end[name] = array[:ends[str(of)]]
    return block


def _label(batch: Batch, blocks: list[Any]) -> None:
    """Labels are known of seeds, which the last block ends at."""
    lay = batch._layout
    for name, called in _OF_SEEDS.items():
        if blocks and batch._has((name, lay.target)):
            last = blocks[-1]
            data = (last.dstnodes[lay.target].data if lay.typed
                    else last.dstdata)
            data[called] = batch._array(name, lay.target)[:batch.batch_size]
