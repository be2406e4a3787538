#include "actors/feed/pass_seeds.hpp"

#include "pipelines/flow/seed_table.hpp"

#include <algorithm>

namespace graphmill {

result<std::shared_ptr<const std::vector<node_id>>>
pass_seeds::of(const std::vector<node_id>& ids) {
  const auto& info = graph_->info();
  const auto& target = info.node_types[static_cast<std::size_t>(info.target)];
  if (std::ssize(ids) > most_)
    return fail(ec::invalid_argument,
                "seeds has {} nodes, and a batch has {} at most", ids.size(),
                most_);
  for (const auto id : ids)
    if (id < 0 || id >= target.count)
      return fail(ec::invalid_argument,
                  "seeds has node {}, but ids of type \"{}\" go from 0 to {}",
                  id, target.name, target.count - 1);
  auto sorted = ids;
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted);
      twice != sorted.end())
    return fail(ec::invalid_argument,
                "seeds has node {} twice: a batch has each seed once", *twice);
  auto out = std::make_shared<std::vector<node_id>>(ids);
  if (!graph_->keeps_ids()) {
    if (global_.empty()) {
      GRAPHMILL_TRY(global_, graph_->order(info.target));
    }
    for (auto& id : *out)
      id = global_[static_cast<std::size_t>(id)];
  }
  if (ascend_)
    GRAPHMILL_TRYV(
      check_order_of_time(*table_of(*graph_, out), "seeds", std::ssize(ids)));
  return std::shared_ptr<const std::vector<node_id>>{std::move(out)};
}

} // namespace graphmill
