"""Graphs of PyG, DGL and OGB, by the attributes that they have."""

from __future__ import annotations

from typing import Any, Callable

from .graph import Found, add_attribute
from .values import CompressedEdges, PairEdges, Refused, edge_index

ONE_EDGE = ("node", "to", "node")


def items_of(store: Any) -> dict[str, Any]:
    """The attributes of a store of PyG, a dict, or any object."""
    keys = getattr(store, "keys", None)
    if keys is None:
        return dict(vars(store))
    keys = keys() if callable(keys) else keys
    return {key: store[key] for key in keys}


def take_edges(data: Any, where: str) -> Any:
    """Takes `edge_index` or `adj_t` out of the attributes of an edge type."""
    index = data.pop("edge_index", None)
    if index is not None:
        if data.get("adj_t") is not None:
            raise Refused(f"{where} has both edge_index and adj_t: delete one")
        return edge_index(index, f"{where}edge_index")
    transposed = data.pop("adj_t", None)
    if transposed is None:
        raise Refused(f"{where or 'the graph '}has neither edge_index nor "
                      "adj_t")
    if hasattr(transposed, "csr"):  # Of torch_sparse.
        indptr, indices, values = transposed.csr()
    elif str(getattr(transposed, "layout", "")) == "torch.sparse_csr":
        indptr, indices = transposed.crow_indices(), transposed.col_indices()
        values = transposed.values()
        if bool((values == 1).all()):
            values = None  # As PyG makes it of edges without weights.
    else:
        raise Refused(f"{where}adj_t is neither a torch_sparse.SparseTensor nor a "
                      "tensor of torch in CSR; save edge_index instead")
    if values is not None:
        data["edge_weight"] = values
    return CompressedEdges(indptr, indices, by_source=False)


def read_data(graph: Any) -> Found:
    """PyG's Data, or OGB's dictionary of one kind of nodes."""
    data = {key: value for key, value in items_of(graph).items()
            if value is not None}
    if "edge_index_dict" in data:
        return read_dicts(data)
    edges = take_edges(data, "")
    return Found("a graph of one node type (edge_index)", {"node": data},
                 {ONE_EDGE: edges}, typed=False, one_store=True)


def read_dicts(data: Any) -> Found:
    """Several types as dictionaries, `edge_index_dict` and its like: OGB."""
    data = dict(data)
    edges: dict[Any, Any] = {
        tuple(key): edge_index(value, f"edge_index_dict[{key}]")
        for key, value in data.pop("edge_index_dict").items()}
    nodes: dict[Any, Any] = {}
    for key in edges:
        for end in (key[0], key[2]):
            nodes.setdefault(end, {})
    edge_data: dict[Any, Any] = {key: {} for key in edges}
    other = {}
    for name, value in data.items():
        bare = name.removesuffix("_dict")
        if not isinstance(value, dict):
            other[name] = value
            continue
        for key, part in value.items():
            if key in nodes or name in ("num_nodes_dict", "x_dict"):
                nodes.setdefault(key, {})[bare] = part
            elif tuple(key) in edge_data:
                edge_data[tuple(key)][bare] = part
            else:
                other[f"{name}[{key}]"] = part
    return Found("a graph of several types (edge_index_dict)", nodes, edges,
                 edge_data, other)


def read_hetero(graph: Any) -> Found:
    """PyG's HeteroData."""
    edges: dict[Any, Any] = {}
    edge_data: dict[Any, Any] = {}
    nodes = {name: items_of(graph[name]) for name in graph.node_types}
    for key in graph.edge_types:
        data = {name: value for name, value in items_of(graph[key]).items()
                if value is not None}
        edges[tuple(key)] = take_edges(data, f"{key}: ")
        edge_data[tuple(key)] = data
    for key in edges:
        for end in (key[0], key[2]):
            nodes.setdefault(end, {})
    known = set(graph.node_types) | set(graph.edge_types)
    other = {}
    for store in getattr(graph, "stores", []):
        if getattr(store, "_key", None) not in known:
            other.update(items_of(store))
    return Found("PyG's HeteroData", nodes, edges, edge_data, other)


def read_dgl(graph: Any) -> Found:
    """A DGLGraph of one or several types."""
    if getattr(graph, "is_block", False):
        raise Refused("a block of DGL is a sampled batch and not a graph")
    nodes = {name: {**items_of(graph.nodes[name].data),
                    "num_nodes": int(graph.num_nodes(name))}
             for name in graph.ntypes}
    edges, edge_data = {}, {}
    for key in graph.canonical_etypes:
        ends = graph.edges(etype=key, form="uv", order="eid")
        edges[key] = PairEdges(*ends)
        edge_data[key] = items_of(graph.edges[key].data)
    if list(graph.canonical_etypes) == [("_N", "_E", "_N")]:
        return Found("a DGLGraph of one node type", {"node": nodes["_N"]},
                     {ONE_EDGE: edges["_N", "_E", "_N"]},
                     {ONE_EDGE: edge_data["_N", "_E", "_N"]}, typed=False)
    return Found("a DGLGraph of several types", nodes, edges, edge_data)


def by_node_type(found: Found, given: Any, what: str) -> dict[str, Any]:
    """What stands beside a graph: for its one type, or a dictionary by type."""
    if not isinstance(given, dict):
        if len(found.nodes) > 1:
            raise Refused(f"{what} of a graph of several types must be a "
                          "dictionary by node type")
        given = {next(iter(found.nodes)): given}
    for name in given:
        if name not in found.nodes:
            raise Refused(f"{what} of {name!r} are given, which is no node "
                          "type")
    return dict(given)


def add_labels(found: Found, labels: Any) -> None:
    for name, values in by_node_type(found, labels, "labels").items():
        if values is not None:
            add_attribute(found.nodes[name], "labels", values)


def add_split(found: Found, split: Any) -> None:
    """A `split_idx`: {'train': ids or {type: ids}, 'valid': ..., 'test': ...}.
    """
    for which, ids in split.items():
        if which not in ("train", "val", "valid", "test"):
            raise Refused(f"split_idx has {which!r}; train, valid and test are "
                          "expected")
        key = f"{'val' if which == 'valid' else which}_idx"
        for name, part in by_node_type(found, ids, f"{which} ids").items():
            add_attribute(found.nodes[name], key, part)


def read_ogb(dataset: Any, read: Callable[[Any], Found]) -> Found:
    """A dataset of OGB with one graph, of nodes or links."""
    if len(dataset) != 1:
        raise Refused(f"the dataset has {len(dataset)} graphs, and one is "
                      "expected")
    graph = dataset[0]
    labels = None
    if isinstance(graph, tuple):
        graph, labels = graph
    found = read(graph)
    found.kind = f"a dataset of OGB, {found.kind}"
    if labels is not None:
        add_labels(found, labels)
    if hasattr(dataset, "get_idx_split"):
        add_split(found, dataset.get_idx_split())
    else:
        found.notes.append("the edges are those of the graph that messages "
                           "pass along; there are no tasks of links yet")
        found.other["edge_split"] = dataset.get_edge_split()
    return found
