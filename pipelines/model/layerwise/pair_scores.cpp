#include "pipelines/model/layerwise/pair_scores.hpp"

#include "messages/base/buffer.hpp"
#include "pipelines/flow/seed_batch.hpp"
#include "pipelines/kernels/thread_team.hpp"
#include "pipelines/model/passes/link_head.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <new>
#include <utility>

namespace graphmill {

namespace {

/// Edges that meet the decoder together.
constexpr std::size_t edges_of_block = 8192;

/// Blocks that products leave for the next ones.
constexpr std::size_t kept_pair_bytes = std::size_t{64} << 20;

/// The outputs that edges read, by node type, and who reads them.
struct gathered_ends {
  std::vector<std::vector<float>> rows;
  seed_batch batch;

  std::vector<const_matrix> views(std::int64_t width) const {
    std::vector<const_matrix> out;
    for (const auto& one : rows)
      out.push_back({one.data(), std::ssize(one) / width, width});
    return out;
  }
};

gathered_ends gather_ends(const model_layout& layout,
                          std::span<const const_matrix> outputs,
                          std::span<const named_edge> edges) {
  const auto width = static_cast<std::size_t>(layout.output_width);
  gathered_ends out;
  out.rows.resize(layout.table_of.size());
  out.batch.columns = 2;
  for (const auto& edge : edges) {
    const auto& ends =
      layout.decoder->ends[static_cast<std::size_t>(edge.relation)];
    for (const auto& [type, node] :
         {std::pair{ends.source, edge.source},
          std::pair{ends.destination, edge.destination}}) {
      const auto place = static_cast<std::size_t>(
        std::ranges::find(layout.outputs, type) - layout.outputs.begin());
      auto& rows = out.rows[static_cast<std::size_t>(type)];
      out.batch.locals.push_back(static_cast<local_id>(rows.size() / width));
      const auto* from = outputs[place].row(node);
      rows.insert(rows.end(), from, from + width);
    }
    out.batch.relations.push_back(edge.relation);
  }
  return out;
}

} // namespace

result<std::vector<float>> score_pairs(const model_layout& layout,
                                       const parameter_store& parameters,
                                       std::span<const const_matrix> outputs,
                                       std::span<const named_edge> edges,
                                       unsigned threads,
                                       const std::function<bool()>& stopped) {
  try {
    thread_team team{threads};
    const auto pool = buffer_pool::make(kept_pair_bytes);
    std::vector<float> out;
    for (std::size_t begin = 0; begin < edges.size(); begin += edges_of_block) {
      if (stopped && stopped())
        return fail(ec::cancelled, "stopped by the user");
      const auto block = gather_ends(
        layout, outputs,
        edges.subspan(begin, std::min(edges_of_block, edges.size() - begin)));
      const auto views = block.views(layout.output_width);
      link_head head{{.layout = &layout,
                      .parameters = &parameters,
                      .rows = &block.batch,
                      .team = &team,
                      .pool = pool},
                     views};
      const auto logits = head.forward();
      out.insert(out.end(), logits.data, logits.data + logits.size());
    }
    return out;
  } catch (const std::bad_alloc&) {
    return fail(ec::out_of_memory,
                "no memory left for the scores of {} edges; list fewer",
                edges.size());
  } catch (const std::exception& e) {
    return fail(ec::internal, "cannot score edges: {}", e.what());
  }
}

} // namespace graphmill
