#include "actors/cluster/coordinator/runs/remote_member.hpp"

#include "actors/cluster/base/calls.hpp"
#include "actors/cluster/base/tensor_pieces.hpp"
#include "pipelines/results/named_tensor.hpp"
#include "pipelines/results/run_positions.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

/// A request is answered once, however often it is sent, and a daemon that is
/// lost is known by other means: broken connections are no reason to give up.
constexpr unsigned most_attempts = 1000;

/// Values of one order to load: 1 MiB, for orders share their channel with
/// beats.
constexpr std::uint64_t given_values = std::uint64_t{1} << 18;

using proxy_actor = member_actor::extend<takes<call_ended>>;

class remote_member {
public:
  using interface = proxy_actor;
  static constexpr const char* name = "remote_member";

  remote_member(interface::pointer self, remote_member_config config,
                run_reports_actor conductor)
    : self_(self), config_(std::move(config)), calls_(self, config_.net),
      conductor_(std::move(conductor)) {}

  interface::behavior_type make_behavior() {
    return {
      [this](const phase_request& request) {
        auto out = new_order(member_action::begin);
        out.phase = request.phase;
        out.epoch = request.epoch;
        out.steps = request.steps;
        out.learning_rate = request.learning_rate;
        out.first_step = request.first;
        out.from = wire_form(request.from, request.before);
        tell(out);
      },
      [this](const stop_after_step&) { tell(new_order(member_action::stop)); },
      [this](const trainer_request& request) { return ask_trainers(request); },
      [this](const call_ended& ended) { calls_.ended(ended); },
    };
  }

private:
  using promise_type = caf::typed_response_promise<member_state>;

  /// What a request to the trainers has brought so far.
  struct round {
    promise_type promise;
    member_state state;
    std::vector<tensor_shape> shapes;
    tensor_intake tensors;
    bool checkpoint = false; ///< And not of the snapshot.
  };

  /// A state that is given to the trainers, piece by piece.
  struct gift {
    std::shared_ptr<round> answers;
    std::shared_ptr<const std::vector<named_tensor>> state;
    std::int64_t steps = 0;
    std::size_t tensor = 0;
    std::uint64_t offset = 0;
  };

  /// The run goes on as after the loss of a daemon that does not obey.
  error explain(const error& reason) const {
    const auto disobeys = reason.code == ec::superseded;
    if (disobeys && config_.on_superseded)
      config_.on_superseded(reason);
    return fail(disobeys ? ec::unavailable : reason.code, "daemon \"{}\": {}",
                config_.daemon.name, reason.message);
  }

  member_request new_order(member_action action) const {
    member_request out{config_.run, action};
    out.attempt = config_.attempt;
    return out;
  }

  void tell(const member_request& request) {
    calls_.call(config_.daemon.address, method::order, encode(request), {},
                [this](const result<payload>& answer) {
                  if (!answer)
                    post(conductor_, run_failed{explain(answer.error())});
                });
  }

  caf::result<member_state> ask_trainers(const trainer_request& request) {
    auto answers = std::make_shared<round>();
    answers->promise = self_->make_response_promise<member_state>();
    auto promise = answers->promise;
    if (request.action == trainer_action::weights) {
      answers->state = snapshot_;
      answers->tensors = tensor_intake{shapes_};
      fetch(answers);
      return promise;
    }
    if (request.action == trainer_action::restore && request.state)
      give(std::make_shared<gift>(gift{answers, request.state, request.steps}));
    else
      order_trainers(request.action, 0, answers);
    return promise;
  }

  /// Orders something of the trainers, and answers with what they say.
  void order_trainers(trainer_action action, std::int64_t restored_steps,
                      const std::shared_ptr<round>& answers) {
    auto request = new_order(member_action::trainers);
    request.trainers = action;
    request.restored_steps = restored_steps;
    call_options patience;
    patience.deadline = patience_for(action);
    patience.attempts = most_attempts;
    calls_.call(config_.daemon.address, method::order, encode(request),
                patience,
                [this, answers, action](const result<payload>& answer) {
                  if (auto done = take_states(*answers, answer); !done)
                    give_up(answers, done.error());
                  else
                    take_up(answers, action);
                });
  }

  void take_up(const std::shared_ptr<round>& answers, trainer_action action) {
    if (action == trainer_action::checkpoint) {
      answers->checkpoint = true;
      answers->tensors = tensor_intake{answers->shapes};
      fetch(answers);
      return;
    }
    if (action == trainer_action::snapshot) {
      snapshot_ = answers->state;
      shapes_ = answers->shapes;
    }
    answers->promise.deliver(std::move(answers->state));
  }

  /// Sends the next piece; after the last one the trainers take over.
  void give(const std::shared_ptr<gift>& what) {
    if (what->tensor == what->state->size()) {
      order_trainers(trainer_action::restore, what->steps, what->answers);
      return;
    }
    const auto& tensor = (*what->state)[what->tensor];
    const auto count =
      std::min(given_values, tensor.values.size() - what->offset);
    auto load = new_order(member_action::load);
    load.tensor = {tensor.name, tensor.shape};
    load.offset = what->offset;
    auto message = encode(load);
    message.bulk =
      encode_weights(std::span{tensor.values}.subspan(what->offset, count))
        .bulk;
    what->offset += count;
    if (what->offset == tensor.values.size()) {
      ++what->tensor;
      what->offset = 0;
    }
    calls_.call(config_.daemon.address, method::order, message, {},
                [this, what](const result<payload>& answer) {
                  if (answer)
                    give(what);
                  else
                    give_up(what->answers, answer.error());
                });
  }

  result<void> take_states(round& answers,
                           const result<payload>& answer) const {
    if (!answer)
      return answer.error();
    GRAPHMILL_TRY(auto reply, decode_member_reply(answer.value()));
    auto room = config_.most_values;
    for (const auto& tensor : reply.tensors) {
      if (tensor.size() > room)
        return fail(ec::invalid_data,
                    "it tells of more values than the model's state has, {}",
                    config_.most_values);
      room -= tensor.size();
    }
    for (auto& trainer : reply.trainers) {
      trainer_state state;
      state.rank = trainer.rank;
      state.digest = std::move(trainer.digest);
      state.steps = trainer.steps;
      answers.state.trainers.push_back(std::move(state));
    }
    answers.shapes = std::move(reply.tensors);
    return ok();
  }

  /// Asks for the next piece of the last snapshot's weights, or of the last
  /// checkpoint, or answers.
  void fetch(const std::shared_ptr<round>& answers) {
    if (auto wanted = answers->tensors.next(config_.run)) {
      wanted->checkpoint = answers->checkpoint;
      calls_.call(config_.daemon.address, method::weights, encode(*wanted), {},
                  [this, answers](const result<payload>& answer) {
                    auto taken = answer ? answers->tensors.take(answer.value())
                                        : result<void>{answer.error()};
                    if (taken)
                      fetch(answers);
                    else
                      give_up(answers, taken.error());
                  });
      return;
    }
    auto tensors = answers->tensors.done();
    auto& trainers = answers->state.trainers;
    if (!tensors.empty() && !trainers.empty())
      std::min_element(
        trainers.begin(), trainers.end(),
        [](const auto& a, const auto& b) { return a.rank < b.rank; })
        ->parameters =
        std::make_shared<const std::vector<named_tensor>>(std::move(tensors));
    answers->promise.deliver(std::move(answers->state));
  }

  void give_up(const std::shared_ptr<round>& answers, const error& reason) {
    answers->promise.deliver(to_caf(explain(reason)));
  }

  interface::pointer self_;
  remote_member_config config_;
  remote_calls<interface> calls_;
  run_reports_actor conductor_;
  member_state snapshot_;            ///< The last one,
  std::vector<tensor_shape> shapes_; ///< and of its weights.
};

} // namespace

member_actor spawn_remote_member(caf::actor_system& system,
                                 remote_member_config config,
                                 run_reports_actor conductor) {
  return spawn_state<remote_member>(system, std::move(config),
                                    std::move(conductor));
}

} // namespace graphmill
