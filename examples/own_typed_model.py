"""Trains a model of PyTorch on a graph with several types of nodes or edges: a
layer for each edge type, and a learnt vector for each node of a type without
features. `PYTHONPATH=actors/python python3 examples/own_typed_model.py DATA`;
under torchrun, each process trains on its share of every batch."""

import argparse

import torch
from torch import nn
from torch.nn.functional import cross_entropy, relu

import graphmill


class TypedLayer(nn.Module):
    def __init__(self, inputs, outputs, edge_types):
        super().__init__()
        self.own = nn.ModuleDict(
            {name: nn.Linear(width, outputs) for name, width in inputs.items()})
        self.others = nn.ModuleDict(
            {"__".join(kind): nn.Linear(inputs[kind[0]], outputs, bias=False)
             for kind in edge_types})

    def forward(self, x, batch, hops):
        """The nodes that `hops` more layers read, but for this one's last hop."""
        rows = {name: sum(counts[:hops])
                for name, counts in batch.num_sampled_nodes.items()}
        out = {name: self.own[name](x[name][:rows[name]]) for name in x}
        for kind, pairs in batch.edge_index_dict.items():
            source, _, end = kind
            count = sum(batch.num_sampled_edges[kind][:hops])
            begins, ends = pairs[0, :count], pairs[1, :count]
            sums = x[source].new_zeros(rows[end], x[source].shape[1])
            sums = sums.index_add_(0, ends, x[source][begins])
            degrees = torch.bincount(ends, minlength=rows[end]).clamp_(min=1)
            means = sums / degrees[:, None]
            out[end] = out[end] + self.others["__".join(kind)](means)
        return out


class TypedModel(nn.Module):
    def __init__(self, info, hidden, layers):
        super().__init__()
        types = info.node_types.values()
        self.vectors = nn.ModuleDict({each.name: nn.Embedding(each.count, hidden)
                                      for each in types if not each.features})
        inputs = {each.name: each.features or hidden for each in types}
        kinds = list(info.edge_types)
        self.layers = nn.ModuleList(TypedLayer(
            inputs if number == 0 else dict.fromkeys(inputs, hidden), hidden, kinds)
            for number in range(layers))
        self.last = nn.Linear(hidden, info.num_classes)
        self.target = info.target

    def forward(self, batch):
        x = {name: self.vectors[name](batch[name].n_id)
             if name in self.vectors else batch[name].x
             for name in batch.node_types}
        for number, layer in enumerate(self.layers):
            x = layer(x, batch, len(self.layers) - number)
            x = {name: relu(rows) for name, rows in x.items()}
        return self.last(x[self.target])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=1024)
    arguments = parser.parse_args()
    torch.manual_seed(1)
    graph = graphmill.open(arguments.data)
    options = {"fanouts": [10, 5], "batch_size": arguments.batch_size}
    train = graph.loader(**options)
    validation = graph.loader(split="val", rank=0, world_size=1, **options)
    own = model = TypedModel(graph.info, 32, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    if train.world_size > 1:
        torch.distributed.init_process_group("gloo")
        # The last layer's rows of other types than the target are not used.
        model = nn.parallel.DistributedDataParallel(own, find_unused_parameters=True)
    for epoch in range(arguments.epochs):
        for batch in train:
            loss = cross_entropy(model(batch), batch.y, reduction="sum")
            # The mean over the seeds of all processes, whose gradients are averaged.
            loss = loss * train.world_size / batch.global_batch_size
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if train.rank == 0:
            with torch.no_grad():
                right = sum(int((own(batch).argmax(1) == batch.y).sum())
                            for batch in validation)
            seeds = graph.info.node_types[graph.info.target].splits["validation"]
            print(f"epoch {epoch + 1}: validation accuracy {right / seeds:.4f}")


if __name__ == "__main__":
    main()
