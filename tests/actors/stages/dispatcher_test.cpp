#include "actors/stages/dispatcher.hpp"

#include "actors/stages/batcher.hpp"
#include "actors/stages/fetcher.hpp"
#include "actors/stages/sampler.hpp"
#include "pipelines/flow/batch_size.hpp"
#include "tests/actors/stages/stages.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <spdlog/sinks/ostream_sink.h>

#include <numeric>
#include <sstream>

namespace graphmill::test {

namespace {

using namespace std::chrono_literals;

/// A trainer that keeps batches until it is told to finish the oldest.
class dummy_trainer {
public:
  using interface = trainer_actor;
  static constexpr const char* name = "dummy_trainer";
  struct script {
    bool hold = false;
    std::vector<std::uint64_t> orders;
    std::vector<std::shared_ptr<const phase_work>> works;
    std::vector<caf::typed_response_promise<step_finished>> promises;
  };

  dummy_trainer(interface::pointer self, std::shared_ptr<script> what)
    : self_(self), script_(std::move(what)) {}

  interface::behavior_type make_behavior() {
    return {
      [this](const step_input& input) -> caf::result<step_finished> {
        script_->orders.push_back(input.order);
        script_->works.push_back(input.work);
        auto promise = self_->make_response_promise<step_finished>();
        if (script_->hold)
          script_->promises.push_back(promise);
        else
          promise.deliver(step_finished{input.order, 0});
        return promise;
      },
      [](const trainer_request&) -> caf::result<trainer_state> {
        return trainer_state{};
      },
      // Told by the test here: finish the oldest batch.
      [this](const lane_done&) {
        const auto order =
          script_->orders[script_->orders.size() - script_->promises.size()];
        auto promise = script_->promises.front();
        script_->promises.erase(script_->promises.begin());
        promise.deliver(step_finished{order, 0});
      },
    };
  }

private:
  interface::pointer self_;
  std::shared_ptr<script> script_;
};

/// Someone who is told of failures.
class listener {
public:
  using interface = caf::typed_actor<takes<run_failed>>;
  static constexpr const char* name = "listener";

  listener(interface::pointer, std::shared_ptr<std::vector<error>> heard)
    : heard_(std::move(heard)) {}

  interface::behavior_type make_behavior() {
    return {
      [this](const run_failed& failed) { heard_->push_back(failed.why); }};
  }

private:
  std::shared_ptr<std::vector<error>> heard_;
};

memory_graph ring() {
  auto graph = cycle(12);
  auto& nodes = graph.nodes.front();
  nodes.width = 2;
  nodes.features.assign(24, 1.0f);
  nodes.labels.assign(12, 0);
  nodes.train.resize(12);
  std::iota(nodes.train.begin(), nodes.train.end(), node_id{0});
  return graph;
}

/// A dispatcher between dummies, over a ring of 12 nodes.
struct fixture {
  // Before the actors, which use them until they end.
  std::ostringstream log;
  simulation sim;
  cut_graph data = whole(ring());
  led_stage<sample_job, sample_answer> sampler;
  led_stage<fetch_job, fetch_answer> fetcher;
  led_stage<assemble_job, assemble_answer> batcher;
  std::vector<std::shared_ptr<dummy_trainer::script>> trainers;
  std::vector<trainer_actor> trainer_handles;
  std::shared_ptr<std::vector<error>> failures =
    std::make_shared<std::vector<error>>();
  std::shared_ptr<dispatcher_gauges> gauges =
    std::make_shared<dispatcher_gauges>();
  std::shared_ptr<const sampling_plan> plan;
  dispatcher_actor dispatcher;

  explicit fixture(credit_limits limits = {1 << 30, 100},
                   std::size_t ranks = 1) {
    sampling_plan all;
    all.fanouts = {{-1}};
    plan = std::make_shared<const sampling_plan>(all);
    sampler.spawn(sim, [this](const sample_job& job) {
      return sample_answer{std::make_shared<sampled_subgraph>(value_of(
        sample(*data.graph, data.shards, *job.plan, job.stream, *job.seeds)))};
    });
    fetcher.spawn(sim, [](const fetch_job&) {
      return fetch_answer{std::make_shared<fetched_batch>()};
    });
    batcher.spawn(sim, [](const assemble_job&) {
      return assemble_answer{std::make_shared<minibatch>()};
    });
    for (std::size_t r = 0; r < ranks; ++r) {
      trainers.push_back(std::make_shared<dummy_trainer::script>());
      trainer_handles.push_back(
        sim.own(spawn_state<dummy_trainer>(sim.system(), trainers.back())));
    }
    dispatcher = sim.own(spawn_dispatcher(sim.system(), config(limits)));
    sim.run();
  }

  dispatcher_config config(credit_limits limits) {
    dispatcher_config out;
    out.graph = data.graph;
    out.limits = limits;
    out.stage_timeout = 1min;
    out.patience = 10s;
    out.stages = {sampling_by(sampler.handle, out.graph, out.needs),
                  fetching_by(fetcher.handle), assembling_by(batcher.handle)};
    out.trainers = trainer_handles;
    for (rank_id r = 0; r < std::ssize(trainer_handles); ++r)
      out.ranks.push_back(r);
    out.conductor = sim.own(spawn_state<listener>(sim.system(), failures));
    out.log = std::make_shared<spdlog::logger>(
      "test", std::make_shared<spdlog::sinks::ostream_sink_st>(log));
    out.gauges = gauges;
    return out;
  }

  void begin(std::int64_t batch_size, std::int32_t epoch = 0) {
    epoch_plan_options options;
    options.batch_size = batch_size;
    options.ranks = static_cast<rank_id>(trainers.size());
    auto work = std::make_shared<phase_work>();
    work->epoch = epoch;
    work->plan = std::make_shared<const epoch_plan>(
      data.graph->seeds(split::train), options, 1, phase::train, epoch);
    work->sampling = plan;
    work->steps = work->plan->steps();
    post(dispatcher, begin_phase{work});
    sim.run();
  }

  void finish_oldest(std::size_t rank) {
    post(trainer_handles[rank], lane_done{});
    sim.run();
  }

  std::vector<std::int64_t> sampled_steps() const {
    std::vector<std::int64_t> out;
    for (const auto& job : sampler.jobs())
      out.push_back(job.key.step);
    return out;
  }

  /// The most that a batch of so many seeds may hold.
  std::uint64_t bound(std::int64_t seeds) const {
    const auto& info = data.graph->info();
    return bytes_of(bound_of(info, *plan, seeds), info, {}, *plan);
  }
};

using orders = std::vector<std::uint64_t>;
using steps = std::vector<std::int64_t>;

} // namespace

CATCH_TEST_CASE("all batches of a phase go through, in order",
                "[actors][dispatcher]") {
  fixture f;
  f.begin(2);
  CATCH_CHECK(f.sampled_steps() == steps{0, 1, 2, 3, 4, 5});
  CATCH_CHECK(f.trainers[0]->orders == orders{0, 1, 2, 3, 4, 5});
  CATCH_CHECK(f.failures->empty());
  f.begin(4, 1); // Orders go on, steps begin anew.
  CATCH_CHECK(f.trainers[0]->orders == orders{0, 1, 2, 3, 4, 5, 6, 7, 8});
  CATCH_CHECK(f.sampler.jobs().back().key.epoch == 1);
  CATCH_CHECK(f.sampler.jobs().back().key.step == 2);
}

CATCH_TEST_CASE("as many batches are in flight as there are credits",
                "[actors][dispatcher]") {
  fixture f{{1 << 30, 3}};
  f.trainers[0]->hold = true;
  f.begin(2);
  CATCH_CHECK(f.sampled_steps() == steps{0, 1, 2});
  f.finish_oldest(0);
  CATCH_CHECK(f.sampled_steps() == steps{0, 1, 2, 3});
  f.finish_oldest(0);
  f.finish_oldest(0);
  CATCH_CHECK(f.sampled_steps() == steps{0, 1, 2, 3, 4, 5});
}

CATCH_TEST_CASE("bytes are reserved by bound, and given back when known",
                "[actors][dispatcher]") {
  fixture probe;
  const auto bound = probe.bound(2);
  fixture f{{2 * bound, 100}};
  f.sampler.script->hold = true;
  f.trainers[0]->hold = true;
  f.begin(2);
  CATCH_CHECK(f.sampled_steps() == steps{0, 1});
  CATCH_CHECK(f.gauges->peak_bytes == 2 * bound);
  f.sampler.answer(f.sim, 0);
  f.sampler.answer(f.sim, 1);
  // They turned out smaller, but not by enough for a third one's bound.
  CATCH_CHECK(f.trainers[0]->orders == orders{0, 1});
  CATCH_CHECK(f.sampled_steps() == steps{0, 1});
  f.finish_oldest(0);
  CATCH_CHECK(f.sampled_steps() == steps{0, 1, 2});
  CATCH_CHECK(f.gauges->peak_bytes == 2 * bound);
  CATCH_CHECK(f.gauges->oversize == 0);
}

CATCH_TEST_CASE("a batch above the whole budget runs alone, and is counted",
                "[actors][dispatcher]") {
  fixture f{{1, 100}};
  f.trainers[0]->hold = true;
  f.begin(4);
  CATCH_CHECK(f.sampled_steps() == steps{0});
  f.finish_oldest(0);
  CATCH_CHECK(f.sampled_steps() == steps{0, 1});
  f.finish_oldest(0);
  f.finish_oldest(0);
  CATCH_CHECK(f.trainers[0]->orders == orders{0, 1, 2});
  CATCH_CHECK(f.gauges->oversize == 3);
}

CATCH_TEST_CASE("trainers get their batches in step order whatever comes first",
                "[actors][dispatcher]") {
  fixture f{{1 << 30, 100}, 2};
  f.batcher.script->hold = true;
  f.begin(4); // Three steps on two ranks: orders 0 to 5.
  CATCH_REQUIRE(f.batcher.jobs().size() == 6);
  for (auto late : {5, 2, 4, 1})
    f.batcher.answer(f.sim, static_cast<std::size_t>(late));
  CATCH_CHECK(f.trainers[0]->orders.empty());
  CATCH_CHECK(f.trainers[1]->orders == orders{1});
  f.batcher.answer(f.sim, 0);
  CATCH_CHECK(f.trainers[0]->orders == orders{0, 2, 4});
  f.batcher.answer(f.sim, 3);
  CATCH_CHECK(f.trainers[1]->orders == orders{1, 3, 5});
}

CATCH_TEST_CASE("a rank without seeds takes part all the same",
                "[actors][dispatcher]") {
  fixture f{{1 << 30, 100}, 3};
  f.begin(2);
  std::size_t empty = 0;
  for (const auto& job : f.sampler.jobs())
    empty += job.seeds->empty();
  CATCH_CHECK(empty == 6); // One rank of three in each of six steps.
  for (const auto& trainer : f.trainers)
    CATCH_CHECK(trainer->orders.size() == 6);
}

CATCH_TEST_CASE("a batch that a stage loses is begun anew",
                "[actors][dispatcher]") {
  fixture f{{1 << 30, 1}};
  f.fetcher.script->hold = true;
  f.begin(12);
  f.fetcher.answer(f.sim, 0, fail(ec::unavailable, "it is gone"));
  CATCH_CHECK(f.sampler.jobs().size() == 1); // Not at once.
  f.sim.advance(49ms);
  CATCH_CHECK(f.sampler.jobs().size() == 1);
  f.sim.advance(51ms);
  CATCH_CHECK(f.sampler.jobs().size() == 2);
  f.fetcher.answer(f.sim, 1, fail(ec::crashed, "it burnt"));
  f.sim.advance(99ms);
  CATCH_CHECK(f.sampler.jobs().size() == 2);
  f.sim.advance(101ms);
  f.fetcher.answer(f.sim, 2);
  CATCH_CHECK(f.trainers[0]->orders == orders{0});
  CATCH_CHECK(f.failures->empty());
  CATCH_CHECK(f.gauges->retried == 2);
  CATCH_CHECK(f.sampled_steps() == steps{0, 0, 0});
  const auto& jobs = f.sampler.jobs();
  CATCH_CHECK(jobs[2].stream == jobs[0].stream);
  CATCH_CHECK(*jobs[2].seeds == *jobs[0].seeds);
  CATCH_CHECK(f.log.str().find("step 1, rank 0: it burnt; beginning it anew")
              != std::string::npos);
}

CATCH_TEST_CASE("batches lost together do not come back together",
                "[actors][dispatcher]") {
  fixture f{{1 << 30, 6}};
  f.sampler.script->hold = true;
  f.begin(2);
  CATCH_REQUIRE(f.sampler.jobs().size() == 6);
  for (std::size_t i = 0; i < 6; ++i)
    f.sampler.answer(f.sim, i, fail(ec::timeout, "no answer"));
  auto before = f.sampler.jobs().size();
  std::size_t most = 0;
  for (int ms = 0; ms < 100; ++ms) {
    f.sim.advance(1ms);
    most = std::max(most, f.sampler.jobs().size() - before);
    before = f.sampler.jobs().size();
  }
  CATCH_CHECK(before == 12);
  CATCH_CHECK(most < 6);
}

CATCH_TEST_CASE("a batch lost three times fails the run, by name and cause",
                "[actors][dispatcher]") {
  fixture f{{1 << 30, 1}};
  f.sampler.script->hold = true;
  f.begin(2);
  for (std::size_t i = 0; i < 3; ++i) {
    f.sampler.answer(f.sim, i, fail(ec::crashed, "crash {}", i));
    f.sim.advance(1s);
  }
  CATCH_REQUIRE(f.failures->size() == 1);
  CATCH_CHECK(f.failures->front().message
              == "batch of phase train, epoch 1, step 1, rank 0 failed 3 "
                 "times, last in the sampler: crash 2");
  CATCH_CHECK(f.sampler.jobs().size() == 3);
}

CATCH_TEST_CASE("an error that would come again fails the run at once",
                "[actors][dispatcher]") {
  fixture f{{1 << 30, 1}};
  f.fetcher.script->hold = true;
  f.begin(2);
  f.fetcher.answer(f.sim, 0, fail(ec::io, "features.npy was shortened"));
  CATCH_REQUIRE(f.failures->size() == 1);
  CATCH_CHECK(f.failures->front().code == ec::io);
  CATCH_CHECK(f.failures->front().message
              == "batch of phase train, epoch 1, step 1, rank 0 failed in the "
                 "fetcher: features.npy was shortened");
}

CATCH_TEST_CASE("stages that shut down do not fail a run that is ending",
                "[actors][dispatcher]") {
  fixture f;
  f.sampler.script->hold = true;
  f.begin(12);
  f.sampler.answer(f.sim, 0, fail(ec::cancelled, "shutting down"));
  CATCH_CHECK(f.failures->empty());
  CATCH_CHECK(f.sampler.jobs().size() == 1);
  // But if it goes on, the batch is not waited for for ever.
  f.sim.advance(19s, 1s);
  CATCH_CHECK(f.failures->empty());
  f.sim.advance(1s, 1s);
  CATCH_REQUIRE(f.failures->size() == 1);
  CATCH_CHECK(f.failures->front().code == ec::unavailable);
}

CATCH_TEST_CASE("a stage that does not answer in time loses its batch",
                "[actors][dispatcher]") {
  fixture f{{1 << 30, 1}};
  f.sampler.script->hold = true;
  f.begin(12);
  f.sim.advance(61s);
  CATCH_CHECK(f.sampler.jobs().size() == 2);
  f.sampler.answer(f.sim, 0); // Too late: nobody waits for it.
  CATCH_CHECK(f.trainers[0]->orders.empty());
  f.sampler.answer(f.sim, 1);
  CATCH_CHECK(f.trainers[0]->orders == orders{0});
}

CATCH_TEST_CASE("batches that wait in line for a slow trainer do not fail",
                "[actors][dispatcher]") {
  fixture f{{1 << 30, 6}};
  f.trainers[0]->hold = true;
  f.begin(2);
  for (int i = 0; i < 6; ++i) {
    f.sim.advance(50s, 1s); // Of a minute.
    f.finish_oldest(0);
  }
  CATCH_CHECK(f.failures->empty());
  f.begin(12, 1);
  f.sim.advance(61s, 1s);
  CATCH_REQUIRE(f.failures->size() == 1);
  CATCH_CHECK(f.failures->front().code == ec::timeout);
}

CATCH_TEST_CASE("credit held for long is reported once, with its holder",
                "[actors][dispatcher]") {
  fixture f{{1 << 30, 2}};
  f.batcher.script->hold = true;
  f.begin(2);
  f.sim.advance(9s);
  CATCH_CHECK(f.log.str().empty());
  f.sim.advance(30s);
  const auto text = f.log.str();
  CATCH_INFO(text);
  const std::string report = "step 1, rank 0 has been in the batcher for 1";
  CATCH_REQUIRE(text.find(report) != std::string::npos);
  CATCH_CHECK(text.find(report, text.find(report) + 1) == std::string::npos);
  CATCH_CHECK(text.find("step 2") == std::string::npos);
}

} // namespace graphmill::test
