#include "actors/stages/fetcher.hpp"

#include "actors/base/request_watch.hpp"
#include "messages/base/random.hpp"
#include "partition/dataset/chosen_task.hpp"
#include "partition/sampling/rows/packed_rows.hpp"
#include "pipelines/flow/thinned_nodes.hpp"

#include <algorithm>

namespace graphmill {

namespace {

/// Rows below which cutting a request in pieces does not pay.
constexpr std::size_t least_fetch_chunk = 16384;

/// The nodes of one type that one part owns, with their rows in the batch.
struct owned_nodes {
  std::vector<node_id> ids;
  std::vector<local_id> rows;
};

/// What is asked about nodes that lose in-edges.
struct thinned_weights {
  thinned_nodes nodes;
  std::vector<excluded_view> excluded; ///< Of `nodes`, per edge type.
  std::vector<float> sums;             ///< Weights of the in-edges left.
};

/// One batch being fetched.
struct fetching {
  std::shared_ptr<sampled_subgraph> graph;
  std::shared_ptr<fetched_batch> batch;
  /// owned[type][part]; empty when one part owns all.
  std::vector<std::vector<owned_nodes>> owned;
  std::vector<thinned_weights> thinned;
  /// [edge type][part] Which edges a part owns, by their destinations; empty
  /// when one part owns all.
  std::vector<std::vector<owned_nodes>> owned_edges;
  /// Of rows that are edges, per edge type of the task and part, and their
  /// original ids.
  std::vector<owned_nodes> owned_rows;
  std::vector<std::vector<edge_id>> row_ids;
  caf::typed_response_promise<fetch_answer> promise;
  edge_level level = all_levels;
  std::size_t missing = 0;
  std::uint64_t bytes = 0;
  bool over = false;
};

/// A number that other batches of the run do not have, most likely.
std::uint64_t number_of(const batch_key& key) {
  auto out = mix64(static_cast<std::uint64_t>(key.phase) + 1);
  out = mix64(out + static_cast<std::uint64_t>(key.epoch));
  out = mix64(out + static_cast<std::uint64_t>(key.step));
  return mix64(out + static_cast<std::uint64_t>(key.rank));
}

class fetcher {
public:
  using interface = fetcher_actor;
  static constexpr const char* name = "fetcher";

  fetcher(interface::pointer self, fetcher_config config)
    : self_(self), config_(std::move(config)) {}

  interface::behavior_type make_behavior() {
    return {
      [this](const fetch_job& job) { return begin(job); },
    };
  }

private:
  using work = std::shared_ptr<fetching>;

  caf::result<fetch_answer> begin(const fetch_job& job) {
    if (job.graph->nodes.empty()) // One that was killed had ended just then.
      return to_caf(
        fail(ec::unavailable, "the batch was lost with an earlier fetcher"));
    auto state = std::make_shared<fetching>();
    state->graph = job.graph;
    state->level = job.level;
    state->promise = self_->make_response_promise<fetch_answer>();
    auto promise = state->promise;
    if (config_.needs.row_features != 0
        && (!job.rows || job.rows->edge_ids.size() != job.rows->rows()))
      return to_caf(fail(ec::invalid_argument,
                         "the decoder reads features of edges, and the edges "
                         "of the batch are none of the dataset's"));
    std::vector<std::pair<part_id, gather_job>> jobs;
    {
      busy_scope busy{*config_.counters};
      allocate(*state, job.key);
      find_owners(*state);
      if (job.seeds && config_.needs.degrees)
        find_thinned(*state, *job.seeds);
      jobs = plan_jobs(state);
      if (config_.needs.row_features != 0)
        plan_rows(state, *job.rows, jobs);
    }
    state->missing = jobs.size();
    for (auto& [part, piece] : jobs)
      requests_
        .ask(self_, config_.services[part], config_.timeout, std::move(piece))
        .then(
          [this, state](const gather_answer& answer) {
            state->bytes += answer.bytes;
            if (--state->missing == 0)
              finish(state);
          },
          [this, state](const caf::error& reason) {
            if (!std::exchange(state->over, true))
              state->promise.deliver(
                to_caf(from_caf(reason, "a feature service")));
          });
    if (jobs.empty())
      finish(state);
    return promise;
  }

  const dataset_info& info() const { return config_.graph->info(); }

  std::size_t seeds_of(const fetching& state) const {
    return static_cast<std::size_t>(
      state.graph->nodes[info().target].found.front());
  }

  void allocate(fetching& state, const batch_key& key) {
    auto batch = std::make_shared<fetched_batch>();
    batch->key = key;
    for (std::size_t t = 0; t < info().node_types.size(); ++t) {
      const auto count = state.graph->nodes[t].ids.size();
      const auto width = row_form::of(info().node_types[t]).floats();
      auto& features = batch->features.emplace_back(config_.pool);
      auto& rows = batch->embedding_rows.emplace_back(config_.pool);
      auto& degrees = batch->degrees.emplace_back(config_.pool);
      if (width > 0)
        features.resize(count * width);
      if (width == 0 || config_.needs.original_ids)
        rows.resize(count);
      if (config_.needs.degrees)
        degrees.resize(count);
      auto& in_weights = batch->in_weights.emplace_back(config_.pool);
      if (config_.needs.in_weights)
        in_weights.resize(count);
    }
    for (std::size_t e = 0;
         config_.needs.edge_features && e < info().edge_types.size(); ++e)
      batch->edge_features.emplace_back(config_.pool)
        .resize(state.graph->edges[e].places.size()
                * static_cast<std::size_t>(info().edge_types[e].feature_width));
    batch->labels = pod_vector<std::int64_t>{config_.pool};
    batch->label_rows = pod_vector<std::uint8_t>{config_.pool};
    batch->original_seeds = pod_vector<node_id>{config_.pool};
    state.batch = batch;
    if (info().chosen_task)
      return;
    batch->original_seeds.resize(seeds_of(state));
    const auto& target = info().node_types[info().target];
    if (target.has_label_rows())
      batch->label_rows.resize(
        seeds_of(state) * static_cast<std::size_t>(target.label_bytes()));
    else if (target.class_count > 0)
      batch->labels.resize(seeds_of(state));
  }

  void find_owners(fetching& state) {
    if (config_.graph->part_count() == 1)
      return;
    const auto parts = static_cast<std::size_t>(config_.graph->part_count());
    state.owned.resize(info().node_types.size());
    for (std::size_t t = 0; t < state.owned.size(); ++t) {
      state.owned[t].resize(parts);
      const auto& ids = state.graph->nodes[t].ids;
      for (std::size_t i = 0; i < ids.size(); ++i) {
        const auto part =
          config_.graph->owner(static_cast<node_type_id>(t), ids[i]);
        state.owned[t][part].ids.push_back(ids[i]);
        state.owned[t][part].rows.push_back(static_cast<local_id>(i));
      }
    }
  }

  void find_thinned(fetching& state, const batch_seeds& seeds) {
    for (auto& nodes : thinned_nodes_of(*config_.graph, *state.graph, seeds)) {
      auto& asked = state.thinned.emplace_back();
      for (const auto& lists : nodes.excluded)
        asked.excluded.push_back(lists.view());
      asked.sums.resize(nodes.ids.size());
      asked.nodes = std::move(nodes);
    }
  }

  /// Puts degrees and sums of weights in place that do not count what the batch
  /// is without.
  void thin_out(fetching& state) {
    for (const auto& [nodes, excluded, sums] : state.thinned)
      for (std::size_t i = 0; i < nodes.rows.size(); ++i) {
        const auto row = static_cast<std::size_t>(nodes.rows[i]);
        state.batch->degrees[nodes.type][row] -= nodes.lost[i];
        if (config_.needs.in_weights)
          state.batch->in_weights[nodes.type][row] = sums[i];
      }
  }

  /// What one part is to write for nodes [from, to) of those it owns.
  void add_items(fetching& state, gather_job& job, node_type_id type,
                 std::span<const node_id> ids, std::span<const local_id> rows) {
    auto& batch = *state.batch;
    const auto first = job.items.size();
    if (!batch.features[type].empty())
      job.items.push_back(
        {gather_kind::features, type, ids, rows, batch.features[type].data()});
    if (!batch.embedding_rows[type].empty())
      job.items.push_back({gather_kind::original_ids, type, ids, rows,
                           batch.embedding_rows[type].data()});
    if (!batch.degrees[type].empty())
      job.items.push_back(
        {gather_kind::degrees, type, ids, rows, batch.degrees[type].data()});
    if (!batch.in_weights[type].empty())
      job.items.push_back({gather_kind::in_weights, type, ids, rows,
                           batch.in_weights[type].data()});
    for (auto i = first; i < job.items.size(); ++i)
      job.items[i].level = state.level;
  }

  void add_seed_items(fetching& state, gather_job& job,
                      std::span<const node_id> ids,
                      std::span<const local_id> rows) {
    auto& batch = *state.batch;
    job.items.push_back({gather_kind::original_ids, info().target, ids, rows,
                         batch.original_seeds.data()});
    if (!batch.labels.empty())
      job.items.push_back(
        {gather_kind::labels, info().target, ids, rows, batch.labels.data()});
    if (!batch.label_rows.empty())
      job.items.push_back({gather_kind::labels, info().target, ids, rows,
                           batch.label_rows.data()});
  }

  std::vector<std::pair<part_id, gather_job>> plan_jobs(const work& state) {
    std::vector<std::pair<part_id, gather_job>> jobs;
    for (part_id part = 0; part < config_.graph->part_count(); ++part)
      for (std::size_t t = 0; t < info().node_types.size(); ++t)
        plan_type(state, part, static_cast<node_type_id>(t), jobs);
    for (std::size_t e = 0; e < state->batch->edge_features.size(); ++e)
      plan_edges(state, static_cast<edge_type_id>(e), jobs);
    for (auto& [nodes, excluded, sums] : state->thinned)
      if (config_.needs.in_weights)
        jobs.emplace_back(nodes.part, gather_job{{{gather_kind::in_weights,
                                                   nodes.type,
                                                   nodes.ids,
                                                   {},
                                                   sums.data(),
                                                   excluded,
                                                   state->level}},
                                                 state,
                                                 number_of(state->batch->key)});
    return jobs;
  }

  /// The places that each part is asked for, with the rows of their features.
  std::vector<owned_nodes> edges_by_part(const fetching& state,
                                         edge_type_id type) const {
    std::vector<owned_nodes> out(
      static_cast<std::size_t>(config_.graph->part_count()));
    const auto& list = state.graph->edges[static_cast<std::size_t>(type)];
    const auto destination =
      info().edge_types[static_cast<std::size_t>(type)].destination;
    const auto& ids = state.graph->nodes[destination].ids;
    const auto owner_of = [&](std::size_t row) {
      return static_cast<std::size_t>(
        config_.graph->owner(destination, ids[row]));
    };
    // Lists that grow would take more than what is reserved for them.
    std::vector<std::size_t> counts(out.size());
    for (std::size_t row = 0; row + 1 < list.indptr.size(); ++row)
      counts[owner_of(row)] +=
        static_cast<std::size_t>(list.indptr[row + 1] - list.indptr[row]);
    for (std::size_t part = 0; part < out.size(); ++part) {
      out[part].ids.reserve(counts[part]);
      out[part].rows.reserve(counts[part]);
    }
    for (std::size_t row = 0; row + 1 < list.indptr.size(); ++row) {
      auto& part = out[owner_of(row)];
      for (auto e = list.indptr[row]; e < list.indptr[row + 1]; ++e) {
        part.ids.push_back(list.places[static_cast<std::size_t>(e)]);
        part.rows.push_back(static_cast<local_id>(e));
      }
    }
    return out;
  }

  /// Asks for features of edges, beside all else, so that no hop waits for
  /// them.
  void plan_edges(const work& state, edge_type_id type,
                  std::vector<std::pair<part_id, gather_job>>& jobs) {
    auto& out = state->batch->edge_features[static_cast<std::size_t>(type)];
    if (out.empty())
      return;
    const auto number = number_of(state->batch->key);
    const auto add = [&](part_id part, std::span<const edge_id> places,
                         std::span<const local_id> rows, float* to) {
      const auto pieces = std::clamp<std::size_t>(
        places.size() / least_fetch_chunk, 1, config_.chunks);
      const auto width = static_cast<std::size_t>(
        info().edge_types[static_cast<std::size_t>(type)].feature_width);
      for (std::size_t p = 0; p < pieces; ++p) {
        const auto from = places.size() * p / pieces;
        const auto count = places.size() * (p + 1) / pieces - from;
        gather_item item{gather_kind::edge_features, type,
                         places.subspan(from, count),
                         rows.empty() ? rows : rows.subspan(from, count),
                         rows.empty() ? to + from * width : to};
        jobs.emplace_back(part, gather_job{{item}, state, number});
      }
    };
    if (config_.graph->part_count() == 1)
      return add(0, state->graph->edges[static_cast<std::size_t>(type)].places,
                 {}, out.data());
    state->owned_edges.resize(info().edge_types.size());
    auto& owned = state->owned_edges[static_cast<std::size_t>(type)];
    owned = edges_by_part(*state, type);
    for (std::size_t part = 0; part < owned.size(); ++part)
      if (!owned[part].ids.empty())
        add(static_cast<part_id>(part), owned[part].ids, owned[part].rows,
            out.data());
  }

  /// Asks for the features of the rows' own edges, which are known by their
  /// destinations and original ids.
  void plan_rows(const work& state, const seed_batch& rows,
                 std::vector<std::pair<part_id, gather_job>>& jobs) {
    const auto& types = chosen_task(info())->edge_types;
    const auto parts = static_cast<std::size_t>(config_.graph->part_count());
    state->owned_rows.resize(types.size() * parts);
    state->row_ids.resize(types.size() * parts);
    auto& out = state->batch->row_features;
    out = pod_vector<float>{config_.pool};
    out.resize(rows.rows()
               * static_cast<std::size_t>(config_.needs.row_features));
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      const auto relation = static_cast<std::size_t>(
        rows.relations.empty() ? 0 : rows.relations[i]);
      const auto type = info()
                          .edge_types[static_cast<std::size_t>(types[relation])]
                          .destination;
      const auto id =
        rows.nodes[static_cast<std::size_t>(type)]
                  [static_cast<std::size_t>(rows.locals[i * rows.columns + 1])];
      const auto at =
        relation * parts
        + static_cast<std::size_t>(config_.graph->owner(type, id));
      state->owned_rows[at].ids.push_back(id);
      state->owned_rows[at].rows.push_back(static_cast<local_id>(i));
      state->row_ids[at].push_back(rows.edge_ids[i]);
    }
    for (std::size_t at = 0; at < state->owned_rows.size(); ++at) {
      const auto& owned = state->owned_rows[at];
      if (owned.ids.empty())
        continue;
      gather_item item{gather_kind::edge_features, types[at / parts], owned.ids,
                       owned.rows, out.data()};
      item.edges = state->row_ids[at];
      jobs.emplace_back(
        static_cast<part_id>(at % parts),
        gather_job{{item}, state, number_of(state->batch->key)});
    }
  }

  void plan_type(const work& state, part_id part, node_type_id type,
                 std::vector<std::pair<part_id, gather_job>>& jobs) {
    std::span<const node_id> ids = state->graph->nodes[type].ids.span();
    std::span<const local_id> rows;
    auto seeds =
      type == info().target && !info().chosen_task ? seeds_of(*state) : 0;
    if (!state->owned.empty()) {
      ids = state->owned[type][part].ids;
      rows = state->owned[type][part].rows;
      // Rows ascend, so the part's seeds stand at the front.
      seeds = static_cast<std::size_t>(
        std::lower_bound(rows.begin(), rows.end(), static_cast<local_id>(seeds))
        - rows.begin());
    }
    if (ids.empty())
      return;
    const auto pieces = std::clamp<std::size_t>(ids.size() / least_fetch_chunk,
                                                1, config_.chunks);
    for (std::size_t p = 0; p < pieces; ++p) {
      const auto from = ids.size() * p / pieces;
      const auto count = ids.size() * (p + 1) / pieces - from;
      gather_job job{{}, state, number_of(state->batch->key)};
      if (rows.empty() && from != 0) {
        piece_rows(*state, from, count, type, job, ids);
      } else {
        add_items(*state, job, type, ids.subspan(from, count),
                  rows.empty() ? rows : rows.subspan(from, count));
      }
      if (p == 0 && seeds != 0)
        add_seed_items(*state, job, ids.first(seeds),
                       rows.empty() ? rows : rows.first(seeds));
      if (!job.items.empty())
        jobs.emplace_back(part, std::move(job));
    }
  }

  /// A piece of rows in order that does not begin at row 0: shifts the targets.
  void piece_rows(fetching& state, std::size_t from, std::size_t count,
                  node_type_id type, gather_job& job,
                  std::span<const node_id> ids) {
    add_items(state, job, type, ids.subspan(from, count), {});
    const auto width = row_form::of(info().node_types[type]).floats();
    for (auto& item : job.items) {
      auto* bytes = static_cast<std::byte*>(item.out);
      switch (item.kind) {
      case gather_kind::features:
        item.out = bytes + from * width * sizeof(float);
        break;
      case gather_kind::degrees:
        item.out = bytes + from * sizeof(std::int32_t);
        break;
      case gather_kind::in_weights:
        item.out = bytes + from * sizeof(float);
        break;
      default:
        item.out = bytes + from * sizeof(std::int64_t);
      }
    }
  }

  void finish(const work& state) {
    if (std::exchange(state->over, true))
      return;
    thin_out(*state);
    // Only now, so that a fetcher that ends earlier leaves the job as it was.
    state->batch->graph = std::move(*state->graph);
    config_.counters->item_done(state->bytes);
    state->promise.deliver(fetch_answer{state->batch});
  }

  interface::pointer self_;
  fetcher_config config_;
  request_watch requests_;
};

} // namespace

fetcher_actor spawn_fetcher(caf::actor_system& system, fetcher_config config) {
  return spawn_state<fetcher>(system, std::move(config));
}

batch_stage fetching_by(fetcher_actor actor) {
  return make_stage<fetch_answer>(
    "fetcher", std::move(actor),
    [](batch_in_making& batch) {
      return fetch_job{batch.key, std::move(batch.graph),
                       batch.seeds->excluded.empty() ? nullptr : batch.seeds,
                       batch.scheme->level,
                       batch.edges ? batch.seeds : nullptr};
    },
    [](batch_in_making& batch, const fetch_answer& answer) {
      batch.fetched = answer.batch;
    });
}

} // namespace graphmill
