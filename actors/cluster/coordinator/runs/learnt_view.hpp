#pragma once

#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"
#include "partition/dataset/label_sets.hpp"
#include "partition/dataset/shard.hpp"
#include "pipelines/results/learnt_from.hpp"

#include <filesystem>
#include <memory>
#include <optional>

namespace graphmill {

/// The dataset of a cluster, as a run sees it.
struct learnt_view {
  std::shared_ptr<const partitioned_graph> graph;
  /// What the outputs are of a run that predicts with weights which have learnt
  /// other labels than those of the dataset; none: the dataset says it.
  std::optional<label_meaning> learnt = {};
};

/// How a run that uses weights sees a dataset: its labels need not be there, or
/// be the same, if it predicts. Fails if the weights are of no use there: if
/// they have learnt labels of another kind, or, of another dataset, rows of its
/// nodes, features or times that mean something else, or, of a run that
/// measures a split, other labels than those there.
/// @param from Of the weights. @param data The folder of the graph.
result<learnt_view>
view_by(const definition& def, const learnt_from& from,
        const std::shared_ptr<const partitioned_graph>& graph,
        const std::filesystem::path& data);

} // namespace graphmill
