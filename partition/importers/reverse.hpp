#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/writing/dataset_writer.hpp"

#include <span>
#include <string>

namespace graphmill {

/// What the reverse of an edge type is called: "rev_<name>", or a name derived
/// from that where it would be too long.
std::string reverse_name(const std::string& name);

/// Appends the reverse of a declared edge type, as below.
/// @returns its id.
edge_type_id add_reverse_type(dataset_info& info, edge_type_id of);

/// Appends the reverse of each declared edge type, from its destinations to its
/// sources. The reverse of type t of n is type n + t.
/// @param info The dataset before a `dataset_writer` is made for it, which
/// declares all types up front.
void add_reverse_types(dataset_info& info);

/// Appends edges to a type and, swapped, to its reverse. Fails as
/// `dataset_writer::append_edges` does; the writer is then not to be finished,
/// for the two types may differ.
/// @param reverse The reverse type; -1 if there is none.
/// @param sources, destinations [edges] The ends of each edge.
/// @param weights [edges] If the type has weights, as its reverse has then.
/// @param features [edges, width] Likewise.
result<void> append_both_ways(dataset_writer& writer, edge_type_id type,
                              edge_type_id reverse,
                              std::span<const node_id> sources,
                              std::span<const node_id> destinations,
                              std::span<const float> weights = {},
                              std::span<const float> features = {});

} // namespace graphmill
