#pragma once

#include "actors/run/run_observer.hpp"
#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "messages/definition/definition.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/files/file_io.hpp"
#include "pipelines/definition/metric_choice.hpp"
#include "pipelines/task/task_traits.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>

namespace graphmill {

/// What a run that predicts gives, and by whom.
struct prediction_shape {
  std::int64_t nodes = 0; ///< Of the target type.
  std::int64_t classes = 0;
  task_traits task = task_of(label_kind::classes);
  std::int64_t batch_size = 1; ///< Nodes of a step, in the order of their ids.
  rank_id ranks = 1;           ///< That each take a run of these.
  std::optional<threshold_choice> threshold = {}; ///< Of the definition.

  std::int64_t steps() const { return (nodes + batch_size - 1) / batch_size; }

  /// Of a run by this definition, which has been checked against the dataset.
  static prediction_shape of(const definition& def, const dataset_info& info,
                             rank_id ranks);
};

/// The arrays of a run that predicts, in its folder and for its owner alone:
///
///   logits.npy       [nodes, classes] float32
///   predictions.npy  [nodes] int64 classes, or [nodes, classes] uint8: 1 for
///                    each label that a node is said to have, or values:
///                    [nodes] float32, or [nodes, classes] if there are several
///
/// Row i is of node i of the dataset before it was partitioned. Rows are
/// written where they belong as ranks tell them, so that nothing is kept in
/// memory; the files have other names until all are there. Each rank is to tell
/// just the nodes that are its own: what else a daemon says fails the run.
///
/// One thread at a time: that of the CONDUCTOR while it is there, then whoever
/// files the run.
class prediction_arrays {
public:
  prediction_arrays(std::filesystem::path folder, prediction_shape shape)
    : folder_(std::move(folder)), shape_(std::move(shape)) {}

  /// Has a conductor's results written, each of which it takes once. Progress
  /// is that of the whole pass, whatever piece is on.
  static void observe(const std::shared_ptr<prediction_arrays>& self,
                      run_observer& by);

  /// What a rank made of its nodes of a step. Fails if it has told of that step
  /// before.
  /// @param logits [nodes, classes]
  result<void> take(const batch_key& key, std::span<const node_id> nodes,
                    std::span<const float> logits);

  /// Gives the files their names. Fails, and leaves none, unless all rows came.
  result<void> commit();

  /// Removes what is not finished. Nothing may be taken after that.
  void drop() { files_.reset(); }

  std::int64_t nodes() const { return shape_.nodes; }

private:
  struct files {
    scratch_file logits;
    scratch_file predictions;
    std::uint64_t logits_at = 0; ///< Where the first row begins.
    std::uint64_t predictions_at = 0;
  };

  /// The steps of which a rank has told: all before `until`, and `ahead`, of
  /// which there are as many as results overtake each other.
  struct told_steps {
    std::int64_t until = 0;
    std::set<std::int64_t> ahead;

    /// @returns whether it had not told of that step.
    bool add(std::int64_t step);
  };

  result<void> open();
  result<void> write(std::int64_t begin, std::span<const float> logits);

  const std::filesystem::path folder_;
  const prediction_shape shape_;
  std::optional<files> files_; ///< None before the first row.
  std::int64_t rows_ = 0;      ///< That are there.
  std::map<rank_id, told_steps> told_;
  std::optional<error> failure_;
};

} // namespace graphmill
