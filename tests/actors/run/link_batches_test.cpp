#include "actors/run/member/member.hpp"
#include "actors/run/member/open_member.hpp"
#include "messages/base/random.hpp"
#include "partition/dataset/chosen_task.hpp"
#include "partition/partitioners/partition_dataset.hpp"
#include "partition/writing/dataset_writer.hpp"
#include "pipelines/planning/run_plan.hpp"
#include "tests/partition/shop.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>

#include <spdlog/logger.h>
#include <spdlog/sinks/null_sink.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <tuple>

namespace graphmill::test::link_batches {

namespace {

namespace fs = std::filesystem;
using id_list = std::vector<std::int64_t>;

/// No two edges of a type join the same nodes.
void write_shop(const fs::path& folder) {
  fs::create_directory(folder);
  const auto info = shop_with_tasks(40, 25);
  auto writer = value_of(dataset_writer::create(folder, info, {}));
  random_stream draws{7, 0};
  id_list stars;
  for (const auto type : {0, 2}) {
    std::set<std::pair<node_id, node_id>> edges;
    for (int i = 0; i < 160; ++i)
      edges.emplace(draws.below(40), draws.below(type == 0 ? 25 : 40));
    id_list from;
    id_list to;
    for (const auto& [source, destination] : edges) {
      from.push_back(source);
      to.push_back(destination);
      if (type == 0)
        stars.push_back((source + destination) % 3);
    }
    value_of(writer.append_edges(type, from, to));
    if (type == 0)
      value_of(writer.append_edges(1, to, from));
  }
  const auto choose =
    [&draws](std::span<const task_edge> edges) -> result<task_rows> {
    task_rows out;
    for (std::size_t i = 0; i < edges.size(); ++i)
      if (const auto which = draws.below(6); which != 5)
        out[std::max(which, 2U) - 2].push_back(i);
    return out;
  };
  value_of(writer.set_task(0, {.choose = choose}));
  const auto bytes = std::as_bytes(std::span{stars});
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  value_of(writer.set_task(
    1, {.choose = choose, .labels = {{first, first + bytes.size()}}}));
  value_of(writer.finish());
}

/// Batches as trainers of a member get them.
class recorder {
public:
  void add(std::shared_ptr<minibatch> batch) {
    const std::lock_guard lock{mutex_};
    batches_.push_back(std::move(batch));
    come_.notify_all();
  }
  void fail_by(const error& reason) {
    const std::lock_guard lock{mutex_};
    failure_ = reason.message;
    come_.notify_all();
  }
  std::vector<std::shared_ptr<minibatch>> wait_for(std::size_t count) {
    std::unique_lock lock{mutex_};
    come_.wait_for(lock, patience, [&] {
      return batches_.size() >= count || !failure_.empty();
    });
    CATCH_REQUIRE(failure_ == "");
    CATCH_REQUIRE(batches_.size() == count);
    return std::exchange(batches_, {});
  }

private:
  std::mutex mutex_;
  std::condition_variable come_;
  std::vector<std::shared_ptr<minibatch>> batches_;
  std::string failure_;
};

class recording_trainer {
public:
  using interface = trainer_actor;
  static constexpr const char* name = "recording_trainer";

  recording_trainer(interface::pointer, std::shared_ptr<recorder> to)
    : to_(std::move(to)) {}

  interface::behavior_type make_behavior() {
    return {
      [this](const step_input& input) -> caf::result<step_finished> {
        to_->add(input.batch);
        return step_finished{input.sequence, 0};
      },
      [](const trainer_request&) -> caf::result<trainer_state> {
        return trainer_state{};
      },
      [](const job_done&) {},
    };
  }

private:
  std::shared_ptr<recorder> to_;
};

class listener {
public:
  using interface = run_reports_actor;
  static constexpr const char* name = "listener";

  listener(interface::pointer, std::shared_ptr<recorder> to)
    : to_(std::move(to)) {}

  interface::behavior_type make_behavior() {
    return {
      [](const member_ready&) {},
      [](const step_result&) {},
      [](const trainer_stopped&) {},
      [this](const run_failed& failed) { to_->fail_by(failed.reason); },
    };
  }

private:
  std::shared_ptr<recorder> to_;
};

/// The phases of a run whose trainers record what they get.
class recorded_member {
public:
  recorded_member(const definition& def, const fs::path& data)
    : ranks_(def.trainer.replicas) {
    auto whole = std::make_shared<const partitioned_graph>(
      value_of(partitioned_graph::open(data)));
    auto config = value_of(open_member(
      def, whole, member_share::all(def, *whole), data_use::training));
    config.needs = {};
    config.needs.merged_relations = false;
    config.needs.degrees = true;
    config.needs.original_ids = true;
    run_plan plan; // Batches alone take memory.
    plan.train.bytes = 1 << 20;
    plan.batches_in_flight = 4;
    value_of(settle_storage(config, {}, plan));
    config.log = std::make_shared<spdlog::logger>(
      "test", std::make_shared<spdlog::sinks::null_sink_mt>());
    config.gauges = std::make_shared<dispatcher_gauges>();
    config.sink = [to = to_](caf::actor_system& system,
                             const member_config& member, const stage_table&,
                             const run_reports_actor&) {
      batch_sink out;
      for (std::size_t i = 0; i < member.ranks.size(); ++i)
        out.trainers.push_back(spawn_state<recording_trainer>(system, to));
      return out;
    };
    graph_ = config.graph;
    shards_ = config.shards;
    listener_ = spawn_state<listener>(system_, to_);
    const auto stages = stage_table::of(
      config.def, static_cast<std::size_t>(whole->part_count()), ranks_);
    member_ = spawn_member(system_, std::move(config), stages, listener_);
  }

  ~recorded_member() {
    stop_actor(member_);
    stop_actor(listener_);
  }

  std::vector<std::shared_ptr<minibatch>> run(phase which, std::int64_t batch,
                                              std::int32_t epoch) {
    phase_request request;
    request.phase = which;
    request.epoch = epoch;
    const auto seeds = table_of(graph_, split_of(which))->rows();
    request.steps = (seeds + batch - 1) / batch;
    post(member_, request);
    return to_->wait_for(static_cast<std::size_t>(request.steps) * ranks_);
  }

  const partitioned_graph& graph() const { return *graph_; }
  node_id original(node_type_id type, node_id global) const {
    return shards_[static_cast<std::size_t>(graph_->owner(type, global))]
      ->nodes(type)
      .original(global);
  }

private:
  static caf::actor_system_config&
  with_threads(caf::actor_system_config& config) {
    set_scheduler(config, 2);
    return config;
  }

  std::size_t ranks_;
  std::shared_ptr<recorder> to_ = std::make_shared<recorder>();
  caf::actor_system_config config_;
  caf::actor_system system_{with_threads(config_)};
  std::shared_ptr<const partitioned_graph> graph_;
  std::vector<std::shared_ptr<const shard>> shards_;
  run_reports_actor listener_;
  member_actor member_;
};

/// An edge of the dataset: its type and original ends.
using plain_edge = std::tuple<edge_type_id, node_id, node_id>;

/// What a batch holds, in original ids.
struct plain_row {
  std::int32_t relation = 0;
  std::vector<node_id> nodes; ///< Ends and negatives.
  std::vector<std::vector<node_id>> joint;
  std::int64_t label = -1;
  friend bool operator==(const plain_row&, const plain_row&) = default;
};

struct plain_dataset {
  explicit plain_dataset(const fs::path& folder)
    : data(value_of(dataset::open(folder))) {
    for (edge_type_id e = 0; e < std::ssize(data.info().edge_types); ++e) {
      const auto& arrays = data.edges(e);
      const auto ends = value_of(arrays.indptr.as<std::int64_t>());
      const auto visible = value_of(arrays.visible->as<std::int32_t>());
      for (std::size_t to = 0; to + 1 < ends.size(); ++to)
        for (auto i = ends[to]; i < ends[to] + visible[2 * to]; ++i) {
          const id_span sources{arrays.indices.data(), arrays.indices.size(),
                                arrays.indices.type() == dtype::int64};
          seen.emplace(e, sources[i], static_cast<node_id>(to));
        }
    }
  }
  dataset data;
  std::set<plain_edge> seen; ///< Of level 0.
};

/// Checks a batch against the graph of level 0 without some edges, of which it
/// has all in-edges, and takes its rows.
void take(const recorded_member& member, const plain_dataset& plain,
          const edge_task_info& task, const std::set<plain_edge>& gone,
          const minibatch& batch,
          std::map<std::pair<std::int32_t, edge_id>, plain_row>& rows) {
  const auto& info = member.graph().info();
  const auto& data = batch.data;
  const auto node = [&](node_type_id type, local_id local) {
    return local == seed_batch::none
             ? node_id{-1}
             : member.original(type, data.graph.nodes[type].ids[local]);
  };
  std::vector<std::vector<std::int32_t>> degrees(info.node_types.size());
  for (std::size_t t = 0; t < degrees.size(); ++t)
    degrees[t].resize(data.graph.nodes[t].ids.size());
  for (const auto& [type, from, to] : plain.seen) {
    if (gone.contains({type, from, to}))
      continue;
    const auto end = info.edge_types[type].destination;
    for (std::size_t i = 0; i < degrees[end].size(); ++i)
      degrees[end][i] += node(end, static_cast<local_id>(i)) == to ? 1 : 0;
  }
  for (std::size_t t = 0; t < degrees.size(); ++t)
    CATCH_REQUIRE(std::ranges::equal(data.degrees[t], degrees[t]));
  for (std::size_t e = 0; e < batch.relations.size(); ++e) {
    const auto& relation = batch.relations[e];
    const auto expanded = std::ssize(relation.forward.indptr) - 1;
    for (local_id row = 0; row < expanded; ++row) {
      const auto to = node(relation.destination, row);
      std::set<plain_edge> expected;
      for (const auto& edge : plain.seen)
        if (std::get<0>(edge) == static_cast<edge_type_id>(e)
            && std::get<2>(edge) == to && !gone.contains(edge))
          expected.insert(edge);
      std::set<plain_edge> found;
      const auto& csr = relation.forward;
      for (auto i = csr.indptr[row]; i < csr.indptr[row + 1]; ++i)
        found.emplace(static_cast<edge_type_id>(e),
                      node(relation.source, csr.columns[i]), to);
      CATCH_REQUIRE(found == expected);
    }
  }
  CATCH_REQUIRE(batch.rows);
  const auto& own = *batch.rows;
  CATCH_REQUIRE(data.labels.size() == own.classes.size());
  CATCH_REQUIRE(data.original_seeds.size() == own.rows());
  for (std::size_t r = 0; r < own.rows(); ++r) {
    plain_row row;
    row.relation = own.relations.empty() ? 0 : own.relations[r];
    const auto& about = info.edge_types[static_cast<std::size_t>(
      task.edge_types[static_cast<std::size_t>(row.relation)])];
    for (std::size_t c = 0; c < own.columns; ++c)
      row.nodes.push_back(node(
        c == 1 || (c >= 2 && c < 2 + own.wrong_destinations) ? about.destination
                                                             : about.source,
        own.locals[r * own.columns + c]));
    for (const auto* lists : {&own.joint_destinations, &own.joint_sources})
      for (std::size_t t = 0; t < lists->size(); ++t) {
        auto& list = row.joint.emplace_back();
        for (const auto local : (*lists)[t])
          list.push_back(node(static_cast<node_type_id>(t), local));
      }
    row.label = own.classes.empty() ? -1 : data.labels[r];
    CATCH_REQUIRE(
      rows.emplace(std::pair{row.relation, own.edge_ids[r]}, row).second);
  }
}

struct shape {
  part_id parts = 0; ///< 0: not cut.
  std::uint32_t ranks = 1;
  seed_order order = seed_order::global;
};

definition links_definition(const shape& of, const std::string& task) {
  definition def;
  def.seed = 11;
  def.task = task;
  def.model.kind = model_kind::rgcn;
  def.sampler.fanouts = {-1, -1};
  def.train.batch_size = 23;
  def.evaluate.batch_size = 17;
  def.evaluate.negatives = 5;
  def.evaluate.neighbours = neighbour_use::sampled;
  def.train.seed_order = of.order;
  def.trainer.replicas = of.ranks;
  def.negatives.corrupt = corrupted_end::both;
  def.negatives.count = 3;
  return def;
}

} // namespace

CATCH_TEST_CASE("trainers get the same links for any parts and ranks",
                "[actors][member][links]") {
  temp_folder folder;
  write_shop(folder / "shop");
  const plain_dataset plain{folder / "shop"};
  for (const part_id parts : {2, 3}) {
    partition_options options;
    options.parts = parts;
    options.method = partition_method::random;
    const auto to = folder / std::to_string(parts);
    fs::create_directory(to);
    value_of(partition_dataset(plain.data, options, to));
  }
  for (const auto* name : {"links", "stars"})
    for (const auto kind : {negative_kind::per_edge, negative_kind::joint}) {
      if (name == std::string{"stars"} && kind == negative_kind::joint)
        continue;
      const auto& info = plain.data.info();
      const auto& task = info.tasks[*info.find_task(name)];
      using all_rows = std::map<std::pair<std::int32_t, edge_id>, plain_row>;
      std::map<phase, all_rows> expected;
      for (const auto& of :
           {shape{0, 1}, shape{2, 1, seed_order::local}, shape{3, 2},
            shape{2, 4, seed_order::local}, shape{0, 4}}) {
        CATCH_INFO(name << ", " << of.parts << " parts, " << of.ranks
                        << " ranks");
        auto def = links_definition(of, name);
        def.negatives.kind = kind;
        recorded_member member{def, of.parts == 0
                                      ? folder / "shop"
                                      : folder / std::to_string(of.parts)};
        for (const auto which :
             {phase::train, phase::validation, phase::test}) {
          const auto batches =
            member.run(which, which == phase::train ? 23 : 17, 1);
          all_rows rows;
          std::map<std::int64_t, std::set<plain_edge>> gone; // By step.
          const auto links = name == std::string{"links"};
          if (which == phase::train && links)
            for (const auto& batch : batches)
              for (std::size_t r = 0; r < batch->rows->rows(); ++r) {
                const auto& own = *batch->rows;
                const auto type =
                  task.edge_types[static_cast<std::size_t>(own.relations[r])];
                const auto& about =
                  info.edge_types[static_cast<std::size_t>(type)];
                const auto& nodes = batch->data.graph.nodes;
                const auto from = member.original(
                  about.source,
                  nodes[about.source].ids[own.locals[r * own.columns]]);
                const auto to = member.original(
                  about.destination, nodes[about.destination]
                                       .ids[own.locals[r * own.columns + 1]]);
                auto& edges = gone[batch->data.key.step];
                edges.emplace(type, from, to);
                edges.emplace(type == 0 ? 1 : 2, to, from);
              }
          for (const auto& batch : batches)
            take(member, plain, task, gone[batch->data.key.step], *batch, rows);
          CATCH_REQUIRE(std::cmp_equal(
            rows.size(),
            task.split_counts[static_cast<std::size_t>(split_of(which))]));
          for (const auto& [key, row] : rows) {
            const auto negatives = !links                         ? 0U
                                   : which != phase::train        ? 10U
                                   : kind == negative_kind::joint ? 0U
                                                                  : 6U;
            CATCH_REQUIRE(row.nodes.size() == 2 + negatives);
            CATCH_REQUIRE(
              row.joint.size()
              == (which == phase::train && kind == negative_kind::joint ? 4U
                                                                        : 0U));
            if (!links)
              CATCH_REQUIRE(row.label == (row.nodes[0] + row.nodes[1]) % 3);
          }
          if (!expected.contains(which))
            expected[which] = rows;
          CATCH_REQUIRE(rows == expected[which]);
        }
      }
    }
}

} // namespace graphmill::test::link_batches
