#pragma once

#include "actors/base/interfaces.hpp"
#include "messages/base/buffer.hpp"
#include "messages/base/caught.hpp"
#include "messages/wire/data.hpp"
#include "partition/dataset/shard.hpp"
#include "partition/sampling/excluded_edges.hpp"
#include "partition/sampling/id_table.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <vector>

namespace graphmill {

/// A sample request of another daemon while the local service answers it.
struct pending_sample {
  sample_request request;
  std::uint64_t bytes = 0; ///< Of the answer's arrays, at the most.
  std::vector<pod_vector<node_id>> ids; ///< Per query.
  std::vector<excluded_lists> excluded; ///< Per query.
  /// As in `time_limits`.
  struct limits {
    std::vector<std::int64_t> until;
    std::vector<std::int64_t> rows;
    /// As in `neighbour_request`.
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
    const node_subset* among = nullptr;
  };
  std::vector<limits> times; ///< Per query.
  /// The nodes of each type among which sources are looked up, numbered.
  struct numbered_nodes {
    pod_vector<node_id> ids;
    std::unique_ptr<id_table> numbers;
    node_subset subset;
  };
  std::vector<numbered_nodes> among;
  std::vector<std::shared_ptr<neighbour_reply>> answers; ///< Per query.
  std::size_t missing = 0;
  bool over = false;

  /// What query number `i` asks of the part.
  neighbour_request asked(std::size_t i) const;
};

/// A gather request of another daemon while the local service answers it.
struct pending_gather {
  gather_request request;
  std::uint64_t bytes = 0;              ///< Of the values.
  std::vector<pod_vector<node_id>> ids; ///< Per query.
  /// Per query: original ids of edges whose features are wanted, or none.
  std::vector<pod_vector<edge_id>> edges;
  std::vector<excluded_lists>
    excluded; ///< Of each query per edge type, or none.
  std::vector<std::vector<excluded_view>> views; ///< Per query: of its lists.
  std::vector<pod_vector<std::byte>> values;     ///< Per query and kind.
};

/// What a request takes while it is answered: its ids in memory, those of edges
/// to exclude included, the values, and up to half of them again while they are
/// encoded.
template <class Work>
std::uint64_t cost_of(const Work& work) {
  std::uint64_t bytes = work.bytes + work.bytes / 2;
  for (const auto& ids : work.ids)
    bytes += ids.size() * sizeof(node_id);
  for (const auto& lists : work.excluded)
    bytes += lists.byte_size();
  if constexpr (requires { work.among; })
    for (const auto& nodes : work.among)
      bytes += nodes.ids.size() * (sizeof(node_id) + 2 * sizeof(local_id));
  return bytes;
}

/// Checks a request against the part and reads its arrays: types, ids, and that
/// the answer fits into a message.
/// @param from The message that the request was decoded from.
/// @param most_bytes The largest answer to queries with `among`: their sizes
/// are not known in advance.
result<std::shared_ptr<pending_sample>>
read_sample(const shard& part, sample_request request, const payload& from,
            const std::shared_ptr<buffer_pool>& pool, std::uint64_t most_bytes);
result<std::shared_ptr<pending_gather>>
read_gather(const shard& part, gather_request request, const payload& from,
            const std::shared_ptr<buffer_pool>& pool);

/// Whether the answer to a query has turned out larger than a message may be.
bool is_too_large(const pending_sample& request);

/// The jobs of the local service. They point into the memory of the request.
std::vector<neighbour_job>
jobs_of(const std::shared_ptr<pending_sample>& request);

/// Answers a request for a slice of one node's sources.
result<payload> answer_slice(const shard& part, pending_sample& request,
                             const std::shared_ptr<buffer_pool>& pool);

/// Makes room for the values, and the job that writes them there.
gather_job job_of(const shard& part,
                  const std::shared_ptr<pending_gather>& request,
                  const std::shared_ptr<buffer_pool>& pool);

/// The answers, once the service is done. Large arrays are not copied.
result<payload> encode(const shard& part, const pending_sample& request);
result<payload> encode(const shard& part,
                       const std::shared_ptr<pending_gather>& request,
                       const std::shared_ptr<buffer_pool>& pool);
result<payload> too_large_answer();

/// Makes an answer; what is thrown on the way becomes an error.
template <class Encode>
result<payload> encoded(Encode encode) {
  try {
    return encode();
  } catch (const std::bad_alloc&) {
    return fail(ec::out_of_memory, "no memory for an answer");
  } catch (...) {
    return caught("encode an answer");
  }
}

} // namespace graphmill
