"""Metrics of classes, by their definitions and numpy alone."""

import numpy as np


def confusion(labels, predictions, classes):
    out = np.zeros((classes, classes), int)
    np.add.at(out, (labels, predictions), 1)
    return out


def f1_by_class(counts):
    """F1 of each class, not a number for one that nobody has or was taken
    for."""
    both = counts.sum(0) + counts.sum(1)
    right = 2.0 * np.diag(counts)
    return np.divide(right, both, out=np.full(len(counts), np.nan),
                     where=both > 0)


def mean_ranks(scores):
    """Ranks from 1, equal scores sharing the mean of theirs."""
    values, which, counts = np.unique(scores, return_inverse=True,
                                      return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[which]


def roc_auc(scores, own):
    """By the sum of ranks: Mann and Whitney's U over all pairs."""
    count = own.sum()
    ranks = mean_ranks(scores)[own].sum() - count * (count + 1) / 2
    return ranks / (count * (~own).sum())


def average_precision(scores, own):
    """The area under the steps of precision over recall, equal scores at
    once."""
    thresholds = np.unique(scores)[::-1]
    recall_before, area = 0.0, 0.0
    for threshold in thresholds:
        taken = scores >= threshold
        right = (taken & own).sum()
        recall = right / own.sum()
        area += (recall - recall_before) * right / taken.sum()
        recall_before = recall
    return area


def log_odds(logits):
    """Of each class against all others together."""
    out = np.empty(logits.shape)
    for c in range(logits.shape[1]):
        others = np.delete(logits, c, axis=1).astype(np.float64)
        out[:, c] = logits[:, c] - np.logaddexp.reduce(others, axis=1)
    return out


def rates(scores, own):
    """Recall and false-positive rate of each distinct score, from the largest
    down."""
    for threshold in np.unique(scores)[::-1]:
        taken = scores >= threshold
        yield (threshold, (taken & own).sum() / own.sum(),
               (taken & ~own).sum() / (~own).sum())


def recall_at_fpr(scores, own, rate):
    return max((recall for _, recall, wrong in rates(scores, own)
                if wrong <= rate), default=0.0)


def precision_at_k(scores, own, count):
    """Of equal scores at the edge, as many as fit, each by the share of the
    class among them."""
    found, left = 0.0, min(count, len(scores))
    most = left
    for score in np.unique(scores)[::-1]:
        here = scores == score
        fit = min(left, here.sum())
        found += fit * (here & own).sum() / here.sum()
        left -= fit
        if left == 0:
            break
    return found / most


def best_f1_threshold(scores, own):
    """The largest F1 of any threshold, and the score that it is at."""
    best = (0.0, np.inf)
    for score in np.unique(scores)[::-1]:
        taken = scores >= score
        f1 = 2 * (taken & own).sum() / (own.sum() + taken.sum())
        if f1 > best[0]:
            best = (f1, score)
    return best
