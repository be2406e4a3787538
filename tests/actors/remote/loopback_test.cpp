#include "actors/base/faulty_worker.hpp"
#include "actors/base/worker_pool.hpp"
#include "actors/remote/proxies/feature_proxy.hpp"
#include "actors/remote/proxies/sampling_proxy.hpp"
#include "actors/remote/serving/data_server.hpp"
#include "actors/remote/transport_calls.hpp"
#include "actors/stages/fetcher.hpp"
#include "actors/stages/sampler.hpp"
#include "actors/stages/services/feature_service.hpp"
#include "actors/stages/services/sampling_service.hpp"
#include "pipelines/flow/batch_needs.hpp"
#include "tests/actors/remote/daemons.hpp"
#include "tests/support/result.hpp"

#include <thread>

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

namespace {

/// Daemons of one process, with connections over loopback between them. Daemon
/// p serves part p; daemon 0 samples and fetches.
class loopback {
public:
  loopback(cut_graph parts, call_options calls) : graph_(std::move(parts)) {
    set_scheduler(config_, 3);
    system_ = std::make_unique<caf::actor_system>(config_);
    for (std::size_t p = 0; p < graph_.shards.size(); ++p)
      add(p);
    for (std::size_t p = 1; p < links_.size(); ++p)
      connect(p, calls);
  }

  ~loopback() {
    for (auto& actor : actors_)
      caf::anon_send_exit(actor, caf::exit_reason::kill);
    links_.clear();
  }

  void stop(std::size_t daemon) { links_[daemon].reset(); }

  sampler_actor sampler(bool remote) {
    return own(spawn_sampler(*system_, {graph_.graph,
                                        remote ? far_.sampling : near_.sampling,
                                        2, 1min, pool_, counters_}));
  }
  fetcher_actor fetcher(bool remote) {
    batch_needs needs;
    needs.degrees = true;
    needs.in_weights = true;
    return own(spawn_fetcher(*system_, {graph_.graph,
                                        remote ? far_.features : near_.features,
                                        needs, 2, 1min, pool_, counters_}));
  }

  /// Batches as plain values, all under way at once.
  std::vector<result<std::shared_ptr<fetched_batch>>>
  batches(const memory_graph& graph, bool remote, std::size_t steps) {
    const auto scheme =
      std::make_shared<const sampling_scheme>(scheme_of(graph, {5, 4, 3}));
    const auto from = sampler(remote);
    const auto to = fetcher(remote);
    std::vector<result<std::shared_ptr<fetched_batch>>> out(
      steps, fail(ec::internal, "no answer"));
    caf::scoped_actor self{*system_};
    std::vector<std::thread> askers;
    for (std::size_t s = 0; s < steps; ++s)
      askers.emplace_back(
        [&, s] { out[s] = batch(from, to, graph, scheme, s); });
    for (auto& asker : askers)
      asker.join();
    return out;
  }

  const cut_graph& graph() const { return graph_; }
  remote_counters report() const { return remote_->read(); }

private:
  struct services {
    std::vector<sampling_service_actor> sampling;
    std::vector<feature_service_actor> features;
  };

  template <class Handle>
  Handle own(Handle actor) {
    actors_.push_back(caf::actor_cast<caf::actor>(actor));
    return actor;
  }

  template <class Job, class Answer, class Make>
  worker_actor<Job, Answer> late_pool(Make make) {
    worker_pool_config config;
    config.stage = "service";
    config.workers = 16;
    worker_faults<Job> late;
    late.reply_delay = std::chrono::milliseconds{8};
    return own(worker_actor<Job, Answer>{spawn_state<worker_pool<Job, Answer>>(
      *system_, config, with_faults<Job, Answer>(late, counters_, make),
      counters_)});
  }

  void add(std::size_t p) {
    const auto part = graph_.shards[p];
    near_.sampling.push_back(late_pool<neighbour_job, neighbour_answer>(
      [this, part](caf::actor_system& system) {
        return spawn_sampling_service(system, {part, pool_, counters_});
      }));
    near_.features.push_back(late_pool<gather_job, gather_answer>(
      [this, part](caf::actor_system& system) {
        return spawn_feature_service(system, {part, counters_});
      }));
    const auto name = fmt::format("d{}", p);
    const auto server = own(spawn_data_server(*system_, {name}));
    post(server,
         serve_part{"run", part, near_.sampling[p], near_.features[p], pool_});
    transport_options options;
    options.name = name;
    options.listen = "tcp://127.0.0.1:0";
    options.on_request = [server](incoming_request request) {
      serve_data(server, request);
    };
    links_.push_back(value_of(transport::start(std::move(options))));
  }

  void connect(std::size_t p, const call_options& calls) {
    if (p == 1)
      far_ = {{near_.sampling[0]}, {near_.features[0]}};
    const auto name = fmt::format("d{}", p);
    const remote_part to{
      "run",
      static_cast<part_id>(p),
      name,
      graph_.graph,
      call_of(name, call_over(links_[0], links_[p]->self().address, calls)),
      pool_,
      remote_};
    far_.sampling.push_back(own(spawn_remote_sampling_service(*system_, {to})));
    remote_feature_config features{to};
    features.window = 2;
    features.reply_bytes = 2000;
    far_.features.push_back(
      own(spawn_remote_feature_service(*system_, features)));
  }

  template <class Answer, class Handle, class Job>
  result<Answer> get(const Handle& from, Job job) {
    caf::scoped_actor self{*system_};
    result<Answer> out = fail(ec::internal, "no answer");
    ask(self.ptr(), from, 2min, std::move(job))
      .receive([&out](const Answer& answer) { out = answer; },
               [&out](const caf::error& reason) {
                 out = from_caf(reason, "the actor");
               });
    return out;
  }

  result<std::shared_ptr<fetched_batch>>
  batch(const sampler_actor& from, const fetcher_actor& to,
        const memory_graph& graph,
        const std::shared_ptr<const sampling_scheme>& scheme,
        std::uint64_t step) {
    sample_job job;
    job.stream = step;
    job.scheme = scheme;
    std::vector<node_id> seeds;
    for (auto id : random_seeds(graph, step))
      seeds.push_back(graph_.to_global[graph.target][id]);
    job.seeds = std::make_shared<const batch_seeds>(
      target_seeds(graph_.graph->info(), seeds));
    GRAPHMILL_TRY(auto sampled, get<sample_answer>(from, job));
    fetch_job fetch;
    fetch.graph = sampled.graph;
    GRAPHMILL_TRY(auto fetched, get<fetch_answer>(to, fetch));
    return fetched.batch;
  }

  cut_graph graph_;
  std::shared_ptr<buffer_pool> pool_ = buffer_pool::make(64 << 20);
  std::shared_ptr<stage_counters> counters_ =
    std::make_shared<stage_counters>("stage", 1);
  std::shared_ptr<remote_counters> remote_ =
    std::make_shared<remote_counters>();
  caf::actor_system_config config_;
  std::unique_ptr<caf::actor_system> system_;
  std::vector<caf::actor> actors_;
  services near_;
  services far_;
  std::vector<std::shared_ptr<transport>> links_;
};

memory_graph some_graph() {
  return with_values(random_graph(6, {600, 20}), 6, 40);
}

} // namespace

CATCH_TEST_CASE("batches are the same over loopback",
                "[actors][remote][loopback]") {
  const auto graph = some_graph();
  loopback net{cut(graph, 4, random_assignment(graph, 4, 6)), {}};
  auto here = net.batches(graph, false, 6);
  auto there = net.batches(graph, true, 6);
  for (std::size_t s = 0; s < here.size(); ++s) {
    CATCH_INFO("step " << s);
    const auto a = value_of(std::move(here[s]));
    const auto b = value_of(std::move(there[s]));
    CATCH_CHECK(to_plain(a->graph, net.graph())
                == to_plain(b->graph, net.graph()));
    for (std::size_t t = 0; t < a->features.size(); ++t) {
      CATCH_CHECK(list(a->features[t]) == list(b->features[t]));
      CATCH_CHECK(list(a->degrees[t]) == list(b->degrees[t]));
      CATCH_CHECK(list(a->embedding_rows[t]) == list(b->embedding_rows[t]));
    }
    CATCH_CHECK(list(a->labels) == list(b->labels));
    CATCH_CHECK(list(a->original_seeds) == list(b->original_seeds));
  }
  const auto report = net.report();
  CATCH_CHECK(report.failures == 0);
  CATCH_CHECK(report.rows != 0);
  CATCH_CHECK(report.rows_in == report.rows * 40 * 4);
}

CATCH_TEST_CASE("several labels of a node are the same over loopback",
                "[actors][remote][loopback]") {
  auto graph = some_graph();
  auto& type = graph.nodes[0];
  type.labels.clear();
  type.label_width = 40;
  for (std::int64_t i = 0; i < type.count * type.label_width; ++i)
    type.label_rows.push_back(static_cast<std::uint8_t>(i % 7 == 0));
  loopback net{cut(graph, 3, random_assignment(graph, 3, 8)), {}};
  for (const auto remote : {false, true}) {
    CATCH_INFO("remote " << remote);
    for (auto& got : net.batches(graph, remote, 2)) {
      const auto batch = value_of(std::move(got));
      CATCH_CHECK(batch->labels.empty());
      std::vector<std::uint8_t> want;
      for (auto id : batch->original_seeds)
        want.insert(want.end(), type.label_rows.begin() + id * 40,
                    type.label_rows.begin() + (id + 1) * 40);
      CATCH_CHECK(list(batch->label_rows) == want);
    }
  }
  CATCH_CHECK(net.report().failures == 0);
}

CATCH_TEST_CASE("a daemon that goes is an error, not a hang",
                "[actors][remote][loopback]") {
  const auto graph = some_graph();
  call_options calls;
  calls.deadline = 60s;
  calls.unreachable = 3s;
  loopback net{cut(graph, 3, random_assignment(graph, 3, 6)), calls};
  std::thread end{[&net] {
    std::this_thread::sleep_for(15ms); // In the middle, or not: both are fine.
    net.stop(2);
  }};
  auto first = net.batches(graph, true, 4);
  end.join();
  auto then = net.batches(graph, true, 2);
  for (auto& got : then) {
    const auto reason = error_of(std::move(got));
    CATCH_INFO(to_string(reason));
    CATCH_CHECK((reason.code == ec::unavailable || reason.code == ec::timeout));
    CATCH_CHECK(reason.message.find("part 2 at daemon \"d2\"")
                != std::string::npos);
  }
}
