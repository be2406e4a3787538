#pragma once

#include "actors/process/host_name.hpp"
#include "messages/wire/cluster.hpp"
#include "partition/dataset/shard.hpp"

#include <filesystem>

namespace graphmill {

/// What every daemon tells the coordinator of its graph and machine. It serves
/// no part and takes no trainer, unless that is added.
/// @param data The folder of the graph.
inline join_request graph_offer(const partitioned_graph& graph,
                                const std::filesystem::path& data) {
  join_request out;
  out.dataset = graph.info().name;
  out.dataset_digest = graph.info().digest;
  out.part_digests = graph.part_digests();
  if (out.part_digests.empty())
    out.part_digests.push_back(graph.info().digest);
  out.slots = 0;
  out.host = host_name();
  out.data = data.string();
  return out;
}

} // namespace graphmill
