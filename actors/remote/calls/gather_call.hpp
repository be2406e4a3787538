#pragma once

#include "messages/wire/data.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/dataset/shard.hpp"
#include "partition/sampling/excluded_edges.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace graphmill {

/// Where the values of one kind go: row `rows[i]` of `out`, or row i without
/// `rows`, for the i-th id of a request. Elements are float for features,
/// int32 for degrees, else int64.
struct value_target {
  gather_kind kind = gather_kind::unset;
  std::span<const local_id> rows;
  void* out = nullptr;
};

/// What is wanted of some nodes, or edges, of one type. Of edges it is their
/// features alone.
struct remote_values {
  node_type_id type = 0;
  std::span<const node_id> ids;
  std::vector<value_target> targets;
  /// Per edge type: in-edges that sums of weights go without. Empty: of none.
  std::span<const excluded_view> excluded{};
  edge_level level = all_levels; ///< Of edges that degrees and sums count.
  bool of_edges = false; ///< `ids` are places, or destinations with `edges`.
  std::span<const edge_id> edges{}; ///< [ids] Original ids, or none.
};

/// A job whose values are asked of another daemon in several calls.
struct remote_gather {
  explicit remote_gather(std::shared_ptr<const void> owner)
    : owner(std::move(owner)) {}
  virtual ~remote_gather() = default;

  std::vector<remote_values> wanted;
  std::shared_ptr<const void> owner; ///< Keeps ids and targets alive.
  std::size_t missing = 0;           ///< Calls.
  std::uint64_t bytes = 0;           ///< Written so far.
  bool over = false;                 ///< Answered or failed.
};

/// What one message asks, for one job.
struct gather_call {
  struct piece {
    std::size_t values = 0; ///< Position in `wanted`.
    std::size_t from = 0;
    std::size_t count = 0;
  };
  std::shared_ptr<remote_gather> of;
  std::vector<piece> pieces;

  bool wanted() const { return !of->over; }

  /// Encodes what is asked. @param ids_bytes Of ids in the message.
  result<payload> encoded(const std::string& run, part_id part, bool half,
                          std::uint64_t& ids_bytes) const;
};

/// Bytes of arrays received, by kind.
struct gathered_bytes {
  std::uint64_t rows = 0; ///< Number of feature rows of nodes.
  std::uint64_t features = 0;
  std::uint64_t values = 0;
};

/// Cuts a job into calls whose answers have at most `reply_bytes`, or one node.
std::vector<gather_call> cut_calls(const dataset_info& info,
                                   const std::shared_ptr<remote_gather>& job,
                                   std::uint64_t reply_bytes, bool half);

/// Writes the answer to a call into the job's targets. Checks everything first:
/// fails without having written anything if the message does not fit.
/// Features must be as exact as `half` says.
result<gathered_bytes> scatter(const dataset_info& info,
                               const gather_call& call, bool half,
                               const payload& from);

} // namespace graphmill
