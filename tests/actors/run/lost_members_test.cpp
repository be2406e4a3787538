#include "actors/run/conductor.hpp"
#include "pipelines/results/named_tensor.hpp"
#include "tests/support/actors.hpp"
#include "tests/support/catch.hpp"

#include <set>

namespace graphmill::test {

namespace {

/// A member with one trainer, as those of other daemons are: it brings weights
/// only when asked for them alone.
class distant_member {
public:
  using interface = member_actor;
  static constexpr const char* name = "distant_member";

  struct script {
    rank_id rank = 0;
    std::int64_t steps = 0;
    std::string digest = "equal";
    std::set<trainer_action> silent; ///< Orders that are never answered.
    std::set<trainer_action> failing;
    std::vector<trainer_action> heard;
    std::vector<caf::typed_response_promise<member_state>> open;
  };

  distant_member(interface::pointer self, std::shared_ptr<script> given,
                 run_reports_actor conductor)
    : self_(self), script_(std::move(given)), conductor_(std::move(conductor)) {
  }

  interface::behavior_type make_behavior() {
    return {
      // Does one step, and is at the next from then on.
      [this](const phase_request& request) {
        step_result told;
        told.key = {request.phase, request.epoch, 0, script_->rank};
        post(conductor_, told);
      },
      // Told by the test here: answer now.
      [this](const stop_after_step&) {
        for (auto& promise : std::exchange(script_->open, {}))
          promise.deliver(state_of(trainer_action::fill_cache));
      },
      [this](const trainer_request& request) { return answer(request.action); },
    };
  }

private:
  caf::result<member_state> answer(trainer_action action) {
    script_->heard.push_back(action);
    if (script_->silent.contains(action)) {
      script_->open.push_back(self_->make_response_promise<member_state>());
      return script_->open.back();
    }
    if (script_->failing.contains(action))
      return to_caf(fail(ec::unavailable, "the connection broke"));
    return state_of(action);
  }

  member_state state_of(trainer_action action) const {
    trainer_state state;
    state.rank = script_->rank;
    state.digest = script_->digest;
    state.steps = script_->steps;
    if (action == trainer_action::weights
        || action == trainer_action::checkpoint)
      state.parameters = std::make_shared<const std::vector<named_tensor>>(
        std::vector{named_tensor{std::to_string(script_->rank), {1}, {1.0f}}});
    return member_state{{state}};
  }

  interface::pointer self_;
  std::shared_ptr<script> script_;
  run_reports_actor conductor_;
};

/// A run of three ranks on a simulated clock, which does not move.
struct lost_members_scene {
  std::vector<std::shared_ptr<distant_member::script>> members;
  std::vector<member_actor> handles;
  std::optional<run_outcome> outcome;
  std::vector<training_state> checkpoints;
  int missed_checkpoints = 0;
  simulation sim;
  conductor_actor conductor;

  explicit lost_members_scene(definition def = {},
                              std::optional<run_point> pause_at = {}) {
    for (rank_id r = 0; r < 3; ++r) {
      members.push_back(std::make_shared<distant_member::script>());
      members.back()->rank = r;
    }
    def.train.epochs = 5;
    def.train.batch_size = 100;
    conductor_config config{
      def, 3, {300, 0, 0}, course::training(def, false, false, 3), {}, {}};
    config.members = [this](caf::actor_system& system,
                            const run_reports_actor& reports) {
      std::vector<member_actor> out;
      for (const auto& member : members)
        out.push_back(
          sim.own(spawn_state<distant_member>(system, member, reports)));
      handles = out;
      return out;
    };
    config.pause_at = pause_at;
    config.observer.on_end = [this](run_outcome how) { outcome = how; };
    config.observer.on_checkpoint_due = [](bool) { return true; };
    config.observer.on_checkpoint = [this](training_state state) {
      checkpoints.push_back(std::move(state));
    };
    config.observer.on_checkpoint_missed = [this](const error&) {
      ++missed_checkpoints;
    };
    conductor = sim.own(spawn_conductor(sim.system(), std::move(config)));
  }

  void start() {
    post(conductor, start_run{});
    sim.run();
    CATCH_REQUIRE_FALSE(outcome);
  }

  void lose(std::size_t member) {
    post(conductor, member_lost{member, fail(ec::unavailable, "it is lost")});
    sim.run();
  }

  /// The run has ended for the loss.
  void check_failed(const std::string& reason = "it is lost") {
    CATCH_REQUIRE(outcome);
    CATCH_REQUIRE(outcome->failure);
    CATCH_CHECK(outcome->failure->message == reason);
  }

  void check_failed_without_weights() {
    check_failed("it is lost; the weights after 1 training step are lost: no "
                 "trainer could send them");
    CATCH_CHECK(outcome->parameters == nullptr);
    CATCH_CHECK(outcome->digest.empty());
  }

  /// And has the weights of a rank.
  void check_weights_of(const char* rank) {
    check_failed();
    CATCH_REQUIRE(outcome->parameters);
    CATCH_CHECK(outcome->parameters->front().name == rank);
    CATCH_CHECK(outcome->digest == "equal");
  }
};

} // namespace

CATCH_TEST_CASE("replicas that differ end the run after the epoch",
                "[actors][conductor]") {
  lost_members_scene f;
  f.members[1]->digest = "another";
  f.start();
  for (std::int64_t step = 1; step < 3; ++step)
    for (rank_id rank = 0; rank < 3; ++rank) {
      step_result told;
      told.key = {phase::train, 0, step, rank};
      post(f.conductor, told);
    }
  f.sim.run();
  CATCH_REQUIRE(f.outcome);
  CATCH_REQUIRE(f.outcome->failure);
  CATCH_CHECK(f.outcome->failure->message.find(
                "the weights of rank 1 differ from those of rank 0")
              != std::string::npos);
}

CATCH_TEST_CASE("a member that is lost is not waited for",
                "[actors][conductor]") {
  lost_members_scene f;
  f.start();
  f.members[2]->silent = {trainer_action::snapshot};
  f.lose(2);
  f.check_weights_of("0");
  CATCH_CHECK(f.members[2]->heard.empty());
}

CATCH_TEST_CASE("without rank 0 another rank gives the weights",
                "[actors][conductor]") {
  lost_members_scene f;
  f.start();
  f.lose(0);
  f.check_weights_of("1");
  CATCH_CHECK(f.members[0]->heard.empty());
}

CATCH_TEST_CASE("the weights are those of the rank with the most steps",
                "[actors][conductor]") {
  lost_members_scene f;
  for (int r = 0; r < 3; ++r)
    f.members[r]->steps = r == 1 ? 7 : 6; // The others missed the last sum.
  f.start();
  f.lose(2);
  f.check_weights_of("1");
  CATCH_CHECK(f.outcome->train_steps == 7);
}

CATCH_TEST_CASE("a member may be lost while it is asked",
                "[actors][conductor]") {
  const auto at = GENERATE(trainer_action::snapshot, trainer_action::weights);
  lost_members_scene f;
  f.start();
  f.members[0]->silent = {at};
  f.lose(2);
  CATCH_REQUIRE_FALSE(f.outcome);
  f.lose(0);
  f.check_weights_of("1");
}

CATCH_TEST_CASE("the weights are asked for until a member has them",
                "[actors][conductor]") {
  lost_members_scene f;
  f.start();
  f.members[0]->failing = {trainer_action::weights};
  f.members[1]->failing = {trainer_action::weights};
  f.lose(2);
  f.check_failed_without_weights();
}

CATCH_TEST_CASE("a run whose members are all lost ends without weights",
                "[actors][conductor]") {
  lost_members_scene f;
  f.start();
  for (const auto& member : f.members)
    member->silent = {trainer_action::snapshot};
  f.lose(1);
  f.lose(2);
  CATCH_REQUIRE_FALSE(f.outcome);
  f.lose(0);
  f.check_failed_without_weights();
}

CATCH_TEST_CASE("a member that is lost while its cache is filled ends the run",
                "[actors][conductor]") {
  definition def;
  def.fetch.cache = 1000;
  lost_members_scene f{def};
  f.members[1]->silent = {trainer_action::fill_cache};
  f.start();
  f.lose(1);
  f.check_failed();
  CATCH_CHECK(f.members[0]->heard == std::vector{trainer_action::fill_cache});
}

CATCH_TEST_CASE("no end waits for results that do not come",
                "[actors][conductor]") {
  // Of the first step all ranks have told.
  const std::int64_t steps = GENERATE(1, 2);
  definition def;
  def.checkpoint.keep = 1;
  lost_members_scene f{def};
  f.members[0]->steps = steps;
  f.start();
  // As a trainer says that was told to end, whose results are lost with it.
  post(f.conductor, run_failed{fail(ec::cancelled, "it is shutting down")});
  f.sim.run();
  f.check_failed("it is shutting down");
  CATCH_CHECK(f.members[0]->heard.front() == trainer_action::checkpoint);
  CATCH_CHECK(f.checkpoints.size() == (steps == 1 ? 1 : 0));
  CATCH_CHECK(f.missed_checkpoints == (steps == 1 ? 0 : 1));
}

CATCH_TEST_CASE("one who does not want to wait waits for no pause",
                "[actors][conductor][sizes]") {
  lost_members_scene f{{}, run_point{0, 1}};
  f.members[0]->silent = {trainer_action::checkpoint};
  f.start(); // All ranks have told of the only step, and one is asked.
  CATCH_CHECK(f.members[0]->heard == std::vector{trainer_action::checkpoint});
  post(f.conductor, cancel_run{true});
  f.sim.run();
  f.check_failed("stopped by the user");
  CATCH_CHECK_FALSE(f.outcome->paused);
  CATCH_CHECK(f.members[0]->heard.size() == 1); // Not once more.
}

CATCH_TEST_CASE("a member that is lost while the run pauses fails it",
                "[actors][conductor][sizes]") {
  lost_members_scene f{{}, run_point{0, 1}};
  f.members[0]->silent = {trainer_action::checkpoint};
  for (const auto& member : f.members)
    member->steps = 1;
  f.start();
  f.lose(0);
  f.check_weights_of("1");
  CATCH_CHECK_FALSE(f.outcome->paused);
}

CATCH_TEST_CASE("filling a cache may take hours", "[actors][conductor]") {
  using namespace std::chrono_literals;
  definition def;
  def.fetch.cache = 1000;
  lost_members_scene f{def};
  f.members[1]->silent = {trainer_action::fill_cache};
  f.start();
  f.sim.advance(12h, 1min);
  CATCH_REQUIRE_FALSE(f.outcome);
  post(f.handles[1], stop_after_step{});
  f.sim.run();
  CATCH_REQUIRE_FALSE(f.outcome);
  f.lose(1);
  f.check_weights_of("0"); // So it has begun to train.
}

} // namespace graphmill::test
