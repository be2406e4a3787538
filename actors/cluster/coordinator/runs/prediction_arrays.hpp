#pragma once

#include "actors/cluster/coordinator/runs/prediction_shape.hpp"
#include "actors/cluster/coordinator/runs/told_arrays.hpp"
#include "actors/run/run_observer.hpp"
#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>

namespace graphmill {

/// The arrays of a run that predicts, in its folder and for its owner alone:
/// `logit_arrays` or, of outputs, `output_arrays`. Row i is of node i of the
/// dataset before it was partitioned, or of edge i of a split.
///
/// Rows are written where they belong as ranks tell them, so that nothing is
/// kept in memory; the files have other names until all are there. Each rank is
/// to tell just the rows that are its own: what else a daemon says fails the
/// run.
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

  /// What a rank made of its rows of a step. Fails if it has told of that step
  /// before.
  /// @param rows Nodes, or positions of edges.
  /// @param values [rows, columns]
  result<void> take(const batch_key& key, std::span<const node_id> rows,
                    std::span<const float> values);

  /// Gives the files their names. Fails, and leaves none, unless all rows came.
  result<void> commit();

  /// Removes what is not finished. Nothing may be taken after that.
  void drop() { arrays_.reset(); }

  /// Nodes or edges that are predicted.
  std::int64_t count() const { return shape_.count(); }

private:
  /// The steps of which a rank has told: all before `until`, and `ahead`, of
  /// which there are as many as results overtake each other.
  struct told_steps {
    std::int64_t until = 0;
    std::set<std::int64_t> ahead;

    /// @returns whether it had not told of that step.
    bool add(std::int64_t step);
  };

  result<void> open();
  std::string_view rows_told() const;
  std::string_view values_told() const;

  const std::filesystem::path folder_;
  const prediction_shape shape_;
  std::unique_ptr<told_arrays> arrays_; ///< None before the first row.
  std::int64_t rows_ = 0;               ///< That are there.
  std::map<rank_id, told_steps> told_;
  std::optional<error> failure_;
};

} // namespace graphmill
