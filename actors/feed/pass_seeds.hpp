#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/dataset/shard.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace graphmill {

/// Makes seeds of the ids that a consumer gives. The ids of a partitioned
/// dataset are looked up in an array that is read once and kept, 8 bytes a
/// node.
class pass_seeds {
public:
  pass_seeds() = default;

  /// @param most Seeds of a pass.
  /// @param ascend Whether the times of the seeds must.
  explicit pass_seeds(
    std::shared_ptr<const partitioned_graph> graph,
    std::int64_t most = std::numeric_limits<std::int64_t>::max(),
    bool ascend = false)
    : graph_(std::move(graph)), most_(most), ascend_(ascend) {}

  /// Global ids, in the order of these ids. Fails unless they are different
  /// nodes of the target type.
  result<std::shared_ptr<const std::vector<node_id>>>
  of(const std::vector<node_id>& ids);

private:
  std::shared_ptr<const partitioned_graph> graph_;
  std::int64_t most_ = 0;
  bool ascend_ = false;
  std::vector<node_id> global_; ///< By original id; empty: not read yet.
};

} // namespace graphmill
