"""Learns which links exist with a GraphSAGE of PyTorch on Graphmill's batches: your
own encoder, scores and loss. `PYTHONPATH=actors/python python3 examples/own_links.py
data/links`; under torchrun, each process trains on its share of every batch."""

import argparse
import os

import torch
from own_model import Sage
from torch.nn.functional import binary_cross_entropy_with_logits

import graphmill


def ranks_of(h, batch):
    """The rank of each link among its negatives, with half of those that have the
    same score."""
    source = h[batch.src_index][:, None]
    score = (source * h[batch.dst_pos_index][:, None]).sum(2)
    wrong = (source * h[batch.dst_neg_index]).sum(2)
    # Where all nodes are linked to the source, there are none.
    wrong.masked_fill_(batch.dst_neg_index < 0, -torch.inf)
    return 1 + (wrong > score).sum(1) + (wrong == score).sum(1) / 2


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("--task", default="link")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=512)
    arguments = parser.parse_args()
    torch.manual_seed(1)
    graph = graphmill.open(arguments.data)
    options = {"fanouts": [10, 5], "task": arguments.task, "merge_edge_types": True,
               "batch_size": arguments.batch_size}
    train = graphmill.LinkLoader(graph, **options)
    validation = graphmill.LinkLoader(
        graph, split="val", negatives={"mode": "triplet", "count": 50}, rank=0,
        world_size=1, **options)
    own = model = Sage([graph.info.num_features, 64, 32])
    if train.world_size > 1:
        torch.distributed.init_process_group("gloo")
        model = torch.nn.parallel.DistributedDataParallel(own)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    for epoch in range(arguments.epochs):
        model.train()
        losses = []
        for batch in train:
            h = model(batch)
            source, destination = batch.edge_label_index
            loss = binary_cross_entropy_with_logits(
                (h[source] * h[destination]).sum(1), batch.edge_label,
                reduction="sum")
            # The mean over the links of all processes, whose gradients are averaged.
            loss = loss * train.world_size / batch.global_batch_size
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(float(loss))
        if int(os.environ.get("RANK", 0)) == 0:
            own.eval()
            with torch.no_grad():
                ranks = torch.cat([ranks_of(own(batch), batch)
                                   for batch in validation])
            print(f"epoch {epoch + 1}: loss {sum(losses) / len(losses):.4f}, "
                  f"validation mrr {(1 / ranks).mean():.4f}, "
                  f"hits@10 {(ranks <= 10).float().mean():.4f}")


if __name__ == "__main__":
    main()
