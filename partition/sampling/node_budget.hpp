#pragma once

#include "messages/base/buffer.hpp"
#include "messages/base/ids.hpp"
#include "partition/sampling/id_table.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace graphmill {

/// The nodes of one type that a batch may still take, and how much its nodes
/// want each: the budget of HGSampling (Hu et al., "Heterogeneous graph
/// transformer", WWW'20). A node in the batch shares 1 among the sources of its
/// sampled in-edges of a type. A hop takes nodes in proportion to the squares
/// of their sums, without replacement.
///
/// Sums are whole numbers in units of 2^-32, and what is drawn of a node
/// depends on the step's key, the hop and the first of the edges that propose
/// the node: by edge type, and then by original id. So a hop takes the same
/// nodes in whatever order they are proposed, and for any parts.
class node_budget {
public:
  /// In-edges of each type by which a node proposes at the most. Of longer
  /// lists so many are drawn.
  static constexpr std::int32_t most_proposals = 520;

  /// @param universe Nodes of the type.
  node_budget(std::int64_t universe, std::shared_ptr<buffer_pool> pool);

  /// Nodes that are in the batch, and not to be taken again.
  void hold(std::span<const node_id> ids);

  /// Takes what a node of the batch proposes by its in-edges of one type.
  /// @param sources Global ids. @param edges Their edges, by original ids.
  void propose(edge_type_id type, std::span<const node_id> sources,
               std::span<const edge_id> edges);

  /// Takes nodes out, no more than there are, which are held then.
  /// @returns global ids, in the order in which they were proposed first.
  std::vector<node_id> take(std::int64_t count, std::uint64_t key, int hop);

private:
  struct proposed {
    std::uint64_t sum = 0;
    edge_type_id type = 0; ///< Of the first edge.
    edge_id edge = 0;
    bool held = false;
  };
  /// Numbers nodes: where they are in `nodes_`.
  std::span<const local_id> places(std::span<const node_id> ids);

  id_table table_;
  pod_vector<node_id> ids_;
  std::vector<proposed> nodes_; ///< Beside `ids_`.
  std::vector<local_id> places_;
};

} // namespace graphmill
