#pragma once

#include "messages/base/buffer.hpp"
#include "messages/base/error.hpp"
#include "partition/dataset/dataset.hpp"
#include "pipelines/flow/batch.hpp"
#include "pipelines/flow/feed/batch_form.hpp"
#include "pipelines/flow/seed_batch.hpp"
#include "pipelines/flow/seed_table.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace graphmill {

/// An array of a batch, as a consumer gets it: row by row, without gaps.
/// Borrowed from its `formed_batch`.
struct formed_array {
  const void* data = nullptr; ///< Null if it is empty.
  std::int64_t rows = 0;
  std::int64_t columns = 0; ///< 0: it has one dimension.
};

/// A batch in the form that a consumer wants. Owns the arrays.
struct formed_batch : minibatch {
  std::vector<formed_array> arrays; ///< As `slots_of` lists them.
  /// found[node type][hop]: as `node_list::found`.
  std::vector<std::vector<std::int64_t>> found;
  /// edges[edge type][hop - 1]: edges that a hop has sampled. One list in all
  /// if edge types are merged.
  std::vector<std::vector<std::int64_t>> edges;

  std::vector<pod_vector<std::int64_t>> numbers; ///< Behind some arrays.
  std::vector<pod_vector<float>> values;         ///< Likewise.
  std::vector<pod_vector<std::uint8_t>> bytes;   ///< Likewise.
};

/// Lays a batch out. Values depend neither on parts nor on anything else that
/// the form does not name. Fails with `invalid_argument` if edge types of
/// several node types are to be merged, with `invalid_data` on packed rows that
/// are not sound, and with `out_of_memory`; the batch is lost then.
/// @param rows Of the seeds' table, in the order of the seeds.
/// @param edges What these rows have besides, if they are edges; else null.
/// @param pool Where new arrays take their memory from; null: the heap.
/// @param until `batch_seeds::until` of the rows; needed by ages with trees.
result<formed_batch> form_batch(fetched_batch data,
                                std::span<const seed_row> rows,
                                const seed_batch* edges, const batch_form& form,
                                const dataset_info& info,
                                const std::shared_ptr<buffer_pool>& pool,
                                std::span<const std::int64_t> until = {});

} // namespace graphmill
