#pragma once

#include <cstdint>
#include <vector>

namespace graphmill {

/// Sums and counts of a step or an evaluation. Those of several batches or
/// ranks are added, and divided in the end, so that each seed counts the same
/// in a batch of any size. Value type.
struct batch_metrics {
  double loss_sum = 0; ///< Sum of per-seed losses.
  /// Labelled seeds with the right class, or with all labels right.
  std::int64_t correct = 0;
  std::int64_t seeds = 0; ///< Labelled seeds.

  batch_metrics& operator+=(const batch_metrics& other) {
    loss_sum += other.loss_sum;
    correct += other.correct;
    seeds += other.seeds;
    return *this;
  }
  double loss() const { return seeds == 0 ? 0 : loss_sum / double(seeds); }
  double accuracy() const {
    return seeds == 0 ? 0 : double(correct) / double(seeds);
  }
};

/// The outputs of inference, in seed order.
struct batch_output {
  std::vector<std::int64_t> predictions; ///< [seeds] class of largest logit.
  std::vector<float> logits;             ///< [seeds, classes], or labels.
  std::vector<float> embeddings;         ///< [seeds, embedding_width]
  std::int64_t embedding_width = 0;      ///< Input width of the last layer.
};

} // namespace graphmill
