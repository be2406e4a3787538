#pragma once

#include "messages/base/buffer.hpp"
#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/dataset/shard.hpp"
#include "pipelines/flow/batch.hpp"
#include "pipelines/model/passes/sparse_input.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace graphmill {

/// A graph of which all parts are in this process, as it was before it was cut:
/// nodes go by their original ids, so that what is computed does not depend on
/// the partitioning. Takes 8 bytes for each node of a dataset that is cut, and
/// nothing else. Never changes; any number of threads may ask it.
class original_graph {
public:
  /// Fails if a part is missing, a type has 2^31 nodes or more, or ids that
  /// parts have on record are not those of all nodes.
  static result<original_graph>
  create(std::shared_ptr<const partitioned_graph> graph,
         std::vector<std::shared_ptr<const shard>> shards);

  const dataset_info& info() const { return graph_->info(); }
  std::int64_t count(node_type_id type) const {
    return info().node_types[type].count;
  }

  /// The in-neighbours of nodes [begin, end) over some edge types into the same
  /// type, those of one edge type after those of another one, in the order of
  /// their lists. @param level Edges of higher levels are left out.
  /// @param weights Whether weights are wanted: if edges of any of the types
  /// have some, those of the others weigh 1.
  /// @param out Receives end - begin rows.
  result<void> neighbours(std::span<const edge_type_id> types, node_id begin,
                          node_id end, edge_level level, bool weights,
                          csr& out) const;

  /// The features of the edges that `neighbours` gives, in its order, checked
  /// as `gather_edge_features` does. All types have equally many.
  /// @param out Receives them: [edges, feature width]
  result<void> edge_features(std::span<const edge_type_id> types, node_id begin,
                             node_id end, edge_level level, bool rounded,
                             pod_vector<float>& out) const;

  /// In-degrees of all nodes of a type, over all edge types.
  /// @param level Edges of higher levels do not count.
  result<pod_vector<std::int32_t>> in_degrees(node_type_id type,
                                              edge_level level) const;

  /// Sums of the weights of the in-edges of all nodes of a type (`in_weight`).
  /// @param level As above.
  result<pod_vector<float>> in_weights(node_type_id type,
                                       edge_level level) const;

  /// Feature rows of nodes [begin, end), checked as `gather_features` does.
  /// @param out [end - begin, feature width]
  result<void> features(node_type_id type, node_id begin, node_id end,
                        bool rounded, float* out) const;

  /// The same rows as a sparse matrix, of a type whose rows are packed
  /// (`row_form`).
  result<sparse_input> sparse_features(node_type_id type, node_id begin,
                                       node_id end, bool rounded) const;

  /// All feature rows of a type where they lie, if they lie in one piece as
  /// float32 in the order of original ids; else null.
  const float* features_in_place(node_type_id type) const;

private:
  struct place {
    const shard* part = nullptr;
    node_id global = 0;
  };
  /// How nodes of a type are numbered. Empty: as they were.
  struct numbering {
    std::vector<local_id> to_global;
    std::vector<local_id> to_original;
  };

  /// Nodes of a part, and the rows that they are asked for as.
  struct wanted_rows {
    std::vector<node_id> ids;
    std::vector<local_id> rows;
  };

  /// A node's list of an edge type, as far as a level is seen.
  struct seen_list {
    const shard* part = nullptr;
    std::int64_t begin = 0; ///< In the part's array.
    std::int64_t end = 0;
  };
  result<seen_list> list_of(edge_type_id type, node_id original,
                            edge_level level) const;

  result<void> number(node_type_id type);
  std::vector<wanted_rows> by_part(node_type_id type, node_id begin,
                                   node_id end) const;
  place place_of(node_type_id type, node_id original) const;

  std::shared_ptr<const partitioned_graph> graph_;
  std::vector<std::shared_ptr<const shard>> shards_;
  std::vector<numbering> numbers_; ///< Per node type.
};

} // namespace graphmill
