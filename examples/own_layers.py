"""Predicts all nodes with the model of own_model.py, layer by layer, from all of
their neighbours. Memory holds one batch; layers are files.

    python3 examples/own_model.py data/wordnet --checkpoint model.pt
    python3 examples/own_layers.py data/wordnet model.pt logits.npy

Each layer is computed once for each node. In batches of whole neighbourhoods,
nodes that many others lead to would be computed again and again."""

import argparse
import pathlib

import numpy as np
import torch
from numpy.lib.format import open_memmap
from own_model import Sage

import graphmill


def all_layers(model, graph, out, batch_size=4096):
    """The outputs of the last layer, in the file `out`: [nodes, classes]."""
    count = graph.info.node_types[graph.info.target].count
    before = None
    for number, layer in enumerate(model.layers, 1):
        is_last = number == len(model.layers)
        place = out if is_last else out.with_name(f"{out.name}.{number}")
        after = open_memmap(place, "w+", np.float32,
                            (count, layer.own.out_features))
        with graph.loader([-1], seeds=np.arange(count), split="test",
                          shuffle=False, batch_size=batch_size, rank=0,
                          world_size=1, merge_edge_types=True) as loader:
            for batch in loader:
                x = (batch.x if before is None else
                     torch.from_numpy(before[batch.n_id.numpy()]))
                h = layer(x, batch.edge_index, batch.batch_size)
                seeds = batch.n_id[:batch.batch_size].numpy()
                after[seeds] = (h if is_last else h.relu()).numpy()
        if before is not None:
            pathlib.Path(before.filename).unlink()
        before = after
    after.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("model", help="a checkpoint of own_model.py")
    parser.add_argument("out", type=pathlib.Path, help="[nodes, classes] float32")
    parser.add_argument("--batch-size", type=int, default=4096)
    arguments = parser.parse_args()
    graph = graphmill.open(arguments.data)
    model = Sage([graph.info.num_features, 64, graph.info.num_classes])
    model.load_state_dict(torch.load(arguments.model)["model"])
    model.eval()
    with torch.no_grad():
        all_layers(model, graph, arguments.out, arguments.batch_size)


if __name__ == "__main__":
    main()
