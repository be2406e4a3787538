#include "actors/feature_service.hpp"

#include "actors/worker_pool.hpp"
#include "partition/gather.hpp"

#include <cstdint>

namespace graphmill {

namespace {

class feature_service {
public:
  using interface = feature_service_actor;
  static constexpr const char* name = "feature_service";

  feature_service(interface::pointer, feature_service_config config)
    : config_(std::move(config)) {}

  interface::behavior_type make_behavior() {
    return {
      [this](const gather_job& job) { return answer(job); },
    };
  }

private:
  caf::result<gather_answer> answer(const gather_job& job) {
    crash_if_told(job);
    busy_scope busy{*config_.counters};
    gather_answer out;
    for (const auto& item : job.items) {
      auto bytes = gather(item);
      if (!bytes)
        return to_caf(bytes.error());
      out.bytes += bytes.value();
    }
    if (auto fault = mapped_file::first_fault())
      return to_caf(*fault);
    config_.counters->item_done(out.bytes);
    return out;
  }

  /// Copies one item; returns the bytes written.
  result<std::uint64_t> gather(const gather_item& item) {
    const auto& nodes = config_.part->nodes(item.type);
    for (auto id : item.ids)
      if (id < nodes.begin || id >= nodes.end)
        return fail(ec::invalid_argument,
                    "node {} of type {} is not in part {}, which owns {} to {}",
                    id, config_.part->info().node_types[item.type].name,
                    config_.part->part(), nodes.begin, nodes.end);
    switch (item.kind) {
    case gather_kind::features:
      return gather_rows(item);
    case gather_kind::labels:
      if (nodes.labels.empty() && !item.ids.empty())
        return fail(ec::not_found, "node type {} has no labels",
                    config_.part->info().node_types[item.type].name);
      gather_values(nodes.labels, nodes.begin, item.ids, item.rows,
                    static_cast<std::int64_t*>(item.out));
      return item.ids.size() * sizeof(std::int64_t);
    case gather_kind::degrees:
    case gather_kind::out_degrees:
      gather_degrees(item);
      return item.ids.size() * sizeof(std::int32_t);
    case gather_kind::original_ids:
      for (std::size_t i = 0; i < item.ids.size(); ++i)
        static_cast<node_id*>(item.out)[row_of(item, i)] =
          nodes.original(item.ids[i]);
      return item.ids.size() * sizeof(node_id);
    }
    return fail(ec::invalid_argument, "unknown kind of data to gather");
  }

  result<std::uint64_t> gather_rows(const gather_item& item) {
    TRYV(gather_features(*config_.part, item.type, item.ids, item.rows,
                         static_cast<float*>(item.out), config_.half));
    const auto& info = config_.part->info().node_types[item.type];
    return item.ids.size() * static_cast<std::uint64_t>(info.feature_width)
           * sizeof(float);
  }

  static std::size_t row_of(const gather_item& item, std::size_t i) {
    return item.rows.empty() ? i : static_cast<std::size_t>(item.rows[i]);
  }

  void gather_degrees(const gather_item& item) {
    const auto in = item.kind == gather_kind::degrees;
    auto* out = static_cast<std::int32_t*>(item.out);
    const auto& info = config_.part->info();
    const auto begin = config_.part->nodes(item.type).begin;
    for (std::size_t i = 0; i < item.ids.size(); ++i)
      out[row_of(item, i)] = 0;
    for (std::size_t e = 0; e < info.edge_types.size(); ++e) {
      const auto& type = info.edge_types[e];
      if ((in ? type.destination : type.source) != item.type)
        continue;
      const auto& edges = config_.part->edges(static_cast<edge_type_id>(e));
      const auto degrees = in ? edges.in_degrees : edges.out_degrees;
      for (std::size_t i = 0; i < item.ids.size(); ++i)
        out[row_of(item, i)] +=
          degrees[static_cast<std::size_t>(item.ids[i] - begin)];
    }
  }

  feature_service_config config_;
};

} // namespace

feature_service_actor spawn_feature_service(caf::actor_system& system,
                                            feature_service_config config) {
  return spawn_state<feature_service>(system, std::move(config));
}

} // namespace graphmill
