#include "actors/stages/training/ddp_group.hpp"
#include "actors/stages/training/gradient_group.hpp"
#include "actors/stages/training/trainer.hpp"
#include "pipelines/gradients/gradient_set.hpp"
#include "tests/actors/remote/rank_daemons.hpp"
#include "tests/pipelines/model/batches.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/memory_rendezvous.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/result.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace graphmill::test {

namespace {

using namespace std::chrono_literals;

/// Actors on a real scheduler, for their groups talk over real connections.
struct world {
  rank_daemons daemons{3}; ///< One for each rank.
  caf::actor_system_config settings;
  std::optional<caf::actor_system> system;
  std::shared_ptr<memory_rendezvous> store =
    std::make_shared<memory_rendezvous>();
  std::shared_ptr<orphan_threads> orphans = std::make_shared<orphan_threads>();
  std::shared_ptr<stage_counters> counters =
    std::make_shared<stage_counters>("group", 1);
  std::vector<gradient_group_actor> groups; ///< Per rank.

  world() {
    set_scheduler(settings, 2);
    system.emplace(settings);
  }

  ~world() {
    for (const auto& group : groups)
      stop_actor(group);
    groups.clear();
    system.reset();
  }

  ddp_group_config config(rank_id rank, rank_id ranks, gradient_shape shape) {
    const group_options options{
      .run = "test", .rank = rank, .ranks = ranks, .slow_after = 50ms};
    return {.options = options,
            .shape = std::move(shape),
            .link = daemons.link(options),
            .store = store,
            .orphans = orphans,
            .counters = counters};
  }

  void over_daemons(rank_id ranks, const gradient_shape& shape) {
    for (rank_id r = 0; r < ranks; ++r)
      groups.push_back(spawn_ddp_group(*system, config(r, ranks, shape)));
  }

  void in_one_process(rank_id ranks) {
    groups.assign(static_cast<std::size_t>(ranks),
                  spawn_gradient_group(*system, {ranks, counters}));
  }

  /// Asks and waits for the answer, in any thread.
  template <class Answer, class Handle, class Message>
  result<Answer> answer(const Handle& actor, const Message& message) {
    result<Answer> out = error{};
    caf::scoped_actor self{*system};
    ask(self.ptr(), actor, patience, message)
      .receive([&](const Answer& got) { out = got; },
               [&](const caf::error& reason) { out = from_caf(reason, "it"); });
    return out;
  }

  result<reduced_gradients> contribute(const contribution& part) {
    return answer<reduced_gradients>(
      groups[static_cast<std::size_t>(part.rank)], part);
  }
};

std::shared_ptr<gradient_set> ones(std::int64_t size) {
  auto out = std::make_shared<gradient_set>();
  for (std::int64_t i = 0; i < size; ++i)
    out->dense.push_back(1.0f);
  return out;
}

/// What a conductor hears of a trainer.
struct hearing {
  std::mutex mutex;
  std::condition_variable changed;
  std::int64_t steps = 0;
  std::vector<error> failures;
};

class listener {
public:
  using interface = run_reports_actor;
  static constexpr const char* name = "listener";

  listener(interface::pointer, std::shared_ptr<hearing> heard)
    : heard_(std::move(heard)) {}

  interface::behavior_type make_behavior() {
    return {
      [](const member_ready&) {},
      [this](const step_result&) { note([this] { ++heard_->steps; }); },
      [](const trainer_stopped&) {},
      [this](const run_failed& how) {
        note([this, &how] { heard_->failures.push_back(how.reason); });
      },
    };
  }

private:
  template <class F>
  void note(const F& change) {
    std::lock_guard lock{heard_->mutex};
    change();
    heard_->changed.notify_all();
  }

  std::shared_ptr<hearing> heard_;
};

struct training {
  static constexpr std::int64_t steps = 4;

  toy_graph graph;
  definition def;
  rank_id ranks = 1;
  bool early = false;

  std::shared_ptr<minibatch> batch(std::int64_t step, rank_id rank) const {
    std::vector<node_id> seeds; // Rank 1 has none in the second step.
    for (node_id s = step; s < 20; ++s)
      if (s % ranks == rank && !(step == 1 && rank == 1))
        seeds.push_back(s);
    auto out = std::make_shared<minibatch>(make_batch(graph, def, seeds));
    out->data.key.rank = rank;
    out->data.key.step = step;
    out->global_seeds = 20;
    return out;
  }

  /// Some steps of one rank's trainer; the digest of the weights after them.
  std::string run(world& in, rank_id rank) const {
    const auto heard = std::make_shared<hearing>();
    const auto ear = spawn_state<listener>(*in.system, heard);
    trainer_config config;
    config.rank = rank;
    config.model = value_of(replica::create(def, graph.info));
    config.group = in.groups[static_cast<std::size_t>(rank)];
    config.early = early;
    config.conductor = ear;
    config.counters = in.counters;
    const auto trainer = spawn_trainer(*in.system, config);
    const auto work = std::make_shared<phase_work>();
    work->learning_rate = 0.1;
    for (std::int64_t step = 0; step < steps; ++step)
      if (const auto done = in.answer<step_finished>(
            trainer, step_input{std::uint64_t(step), batch(step, rank), work});
          !done)
        return to_string(done.error());
    {
      std::unique_lock lock{heard->mutex};
      heard->changed.wait_for(lock, patience, [&] {
        return heard->steps == steps || !heard->failures.empty();
      });
    }
    const auto state = in.answer<trainer_state>(trainer, trainer_request{});
    stop_actor(trainer);
    stop_actor(ear);
    if (!heard->failures.empty())
      return to_string(heard->failures.front());
    return state ? state.value().digest : to_string(state.error());
  }

  std::vector<std::string> run_all(world& in) const {
    std::vector<std::string> out(static_cast<std::size_t>(ranks));
    std::vector<std::thread> threads;
    for (rank_id r = 0; r < ranks; ++r)
      threads.emplace_back([&, r] { out[std::size_t(r)] = run(in, r); });
    for (auto& thread : threads)
      thread.join();
    return out;
  }
};

} // namespace

CATCH_TEST_CASE("training over daemons ends with the weights of one process",
                "[actors][ddp]") {
  const auto ranks = GENERATE(1, 2, 3);
  const auto kind = GENERATE(model_kind::sage, model_kind::rgcn);
  CATCH_INFO(ranks << " ranks, model " << int(kind) << ", seed 11");
  std::mt19937_64 random{11};
  training work;
  work.ranks = ranks;
  work.graph = random_graph(
    random, kind == model_kind::sage
              ? toy_options{.nodes = {40}, .widths = {5}}
              : toy_options{.nodes = {40, 30}, // The second one has a table.
                            .widths = {5, 0},
                            .edges = {{1, 0}, {0, 1}}});
  work.def = small_definition(kind, 2);
  const auto shape =
    value_of(replica::create(work.def, work.graph.info))->shape();
  CATCH_CHECK(shape.tables.empty() == (kind == model_kind::sage));
  world one, many;
  one.in_one_process(ranks);
  many.over_daemons(ranks, shape);
  const auto wanted = work.run_all(one);
  CATCH_CHECK(wanted.front().size() == 32);
  CATCH_CHECK(wanted.front() == wanted.back());
  work.early = true;
  CATCH_CHECK(work.run_all(many) == wanted);
}

CATCH_TEST_CASE("a stop at one rank makes the same sum the last one for all",
                "[actors][ddp]") {
  world in;
  in.over_daemons(3, {10, {}});
  for (std::int64_t step = 0; step < 3; ++step) {
    if (step == 2)
      post(in.groups[1], stop_after_step{});
    std::vector<result<reduced_gradients>> sums(3, error{});
    std::vector<std::thread> threads;
    for (rank_id r = 0; r < 3; ++r)
      threads.emplace_back([&, r] {
        sums[std::size_t(r)] =
          in.contribute({step, r, ones(10), {0.25, r, r + 1}});
      });
    for (auto& thread : threads)
      thread.join();
    for (const auto& sum : sums) {
      CATCH_CHECK(value_of(sum).last == (step == 2));
      batch_metrics all;
      for (const auto& part : value_of(sum).metrics)
        all += part;
      CATCH_CHECK(all.seeds == 6);
      CATCH_CHECK(all.correct == 3);
      CATCH_CHECK(all.loss_sum == 0.75);
      CATCH_CHECK(value_of(sum).sum->dense[9] == 3.0f);
    }
  }
  const auto report = in.counters->report();
  CATCH_CHECK(report.items == 9);
  CATCH_CHECK(report.bytes > 9 * 2 * 10 * sizeof(float));
}

CATCH_TEST_CASE("a missing rank is named in the answer", "[actors][ddp]") {
  world in;
  for (rank_id r = 0; r < 2; ++r) {
    auto config = in.config(r, 2, {10, {}});
    config.options.step_timeout = 300ms;
    config.options.names = {"left", "right"};
    in.groups.push_back(spawn_ddp_group(*in.system, config));
  }
  const auto reason = error_of(in.contribute({0, 0, ones(10)}));
  CATCH_CHECK(reason.code == ec::timeout);
  CATCH_CHECK(reason.message
              == "rank 1 (right) is missing from the gradient group of 2 "
                 "(generation 0) in step 0: nothing has come within 0.3 s");
  CATCH_CHECK(error_of(in.contribute({1, 0, ones(10)})).message
              == reason.message);
}

CATCH_TEST_CASE("a group that is ended answers what is open", "[actors][ddp]") {
  world in;
  in.over_daemons(2, {10, {}});
  result<reduced_gradients> got = error{};
  std::thread waiting{[&] { got = in.contribute({0, 0, ones(10)}); }};
  std::this_thread::sleep_for(100ms); // Most likely it waits for rank 1.
  stop_actor(in.groups[0]);
  waiting.join();
  const auto reason = error_of(got);
  CATCH_INFO(reason.message);
  CATCH_CHECK((reason.code == ec::cancelled || reason.code == ec::unavailable));
}

CATCH_TEST_CASE("a group that nobody joins ends without a wait",
                "[actors][ddp]") {
  const auto begun = std::chrono::steady_clock::now();
  {
    world in;
    in.groups.push_back(spawn_ddp_group(*in.system, in.config(0, 2, {10, {}})));
  }
  CATCH_CHECK(std::chrono::steady_clock::now() - begun < patience);
}

CATCH_TEST_CASE("what a group cannot work with is refused", "[actors][ddp]") {
  world in;
  in.over_daemons(1, {1, {}});
  in.groups.push_back(in.groups.front());
  CATCH_CHECK(error_of(in.contribute({0, 1, ones(1)})).message
              == "rank 1 has contributed to the group of rank 0");
  CATCH_CHECK(error_of(in.contribute({0, 0, ones(2)})).code == ec::internal);
}

} // namespace graphmill::test
