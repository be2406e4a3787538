"""Trains a softmax regression of nodes and the means of their neighbours, with
NumPy alone. `PYTHONPATH=actors/python python3 examples/own_numpy_model.py DATA`."""

import argparse

import numpy as np

import graphmill


def inputs_of(batch):
    """[seeds, 2 * features + 1]: of each seed, of its neighbours, and a 1."""
    sums = np.zeros((len(batch.x[:batch.batch_size]), batch.x.shape[1]))
    # Rows of lists lie hop by hop: those of the seeds come first.
    begins = batch.indptr[:batch.batch_size + 1]
    rows = np.repeat(np.arange(batch.batch_size), np.diff(begins))
    np.add.at(sums, rows, batch.x[batch.indices[:begins[-1]]])
    means = sums / np.maximum(np.diff(begins), 1)[:, None]
    return np.concatenate([batch.x[:batch.batch_size], means,
                           np.ones((batch.batch_size, 1))], 1)


def probabilities(inputs, weights):
    scores = inputs @ weights
    raised = np.exp(scores - scores.max(1, keepdims=True))
    return raised / raised.sum(1, keepdims=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=1024)
    arguments = parser.parse_args()
    graph = graphmill.open(arguments.data)
    info = graph.info
    options = {"batch_size": arguments.batch_size, "as_": "numpy", "form": "csr",
               "merge_edge_types": True}
    train = graph.loader([15], **options)
    if train.world_size > 1:
        parser.error(f"it trains in one process, and WORLD_SIZE is {train.world_size}: "
                     "see own_model.py")
    validation = graph.loader([-1], split="val", **options)
    weights = np.zeros((2 * info.num_features + 1, info.num_classes))
    for epoch in range(arguments.epochs):
        for batch in train:
            inputs = inputs_of(batch)
            errors = probabilities(inputs, weights)
            errors[np.arange(batch.batch_size), batch.y] -= 1
            weights -= 0.5 * inputs.T @ errors / batch.batch_size
        right = sum(int((probabilities(inputs_of(batch), weights).argmax(1)
                         == batch.y).sum()) for batch in validation)
        seeds = info.node_types[info.target].splits["validation"]
        print(f"epoch {epoch + 1}: validation accuracy {right / seeds:.4f}")


if __name__ == "__main__":
    main()
