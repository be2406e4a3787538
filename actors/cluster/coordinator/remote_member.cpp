#include "actors/cluster/coordinator/remote_member.hpp"

#include "actors/cluster/base/calls.hpp"
#include "pipelines/results/named_tensor.hpp"

#include <algorithm>

namespace graphmill {

namespace {

/// An order is answered once, however often it is sent, and a daemon that is
/// lost is known by other means: broken connections are no reason to give up.
constexpr unsigned most_attempts = 1000;

/// Values of one request for weights: 16 MiB.
constexpr std::uint64_t piece_values = std::uint64_t{4} << 20;

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
      [this](const phase_order& order) {
        member_order out{config_.run, member_action::begin};
        out.phase = order.phase;
        out.epoch = order.epoch;
        out.steps = order.steps;
        out.learning_rate = order.learning_rate;
        tell(out);
      },
      [this](const stop_after_step&) {
        tell({config_.run, member_action::stop});
      },
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
    std::vector<named_tensor> tensors;
  };

  error explain(const error& why) const {
    return fail(why.code, "daemon \"{}\": {}", config_.daemon.name,
                why.message);
  }

  void tell(const member_order& order) {
    calls_.call(config_.daemon.address, method::order, encode(order), {},
                [this](const result<payload>& answer) {
                  if (!answer)
                    post(conductor_, run_failed{explain(answer.error())});
                });
  }

  caf::result<member_state> ask_trainers(const trainer_request& request) {
    auto all = std::make_shared<round>();
    all->promise = self_->make_response_promise<member_state>();
    auto promise = all->promise;
    if (request.what == trainer_order::weights) {
      all->state = snapshot_;
      all->shapes = shapes_;
      fetch(all);
      return promise;
    }
    call_options patience;
    patience.deadline = patience_for(request.what);
    patience.attempts = most_attempts;
    calls_.call(
      config_.daemon.address, method::order,
      encode(member_order{config_.run, member_action::trainers, request.what}),
      patience,
      [this, all, what = request.what](const result<payload>& answer) {
        if (auto done = take_states(*all, answer); !done) {
          give_up(all, done.error());
          return;
        }
        if (what == trainer_order::snapshot) {
          snapshot_ = all->state;
          shapes_ = all->shapes;
        }
        all->promise.deliver(std::move(all->state));
      });
    return promise;
  }

  static result<void> take_states(round& all, const result<payload>& answer) {
    if (!answer)
      return answer.error();
    TRY(auto reply, decode_member_reply(answer.value()));
    for (auto& one : reply.trainers) {
      trainer_state state;
      state.rank = one.rank;
      state.digest = std::move(one.digest);
      state.steps = one.steps;
      all.state.trainers.push_back(std::move(state));
    }
    all.shapes = std::move(reply.tensors);
    return ok();
  }

  /// Asks for the next piece of the last snapshot's weights, or answers.
  void fetch(const std::shared_ptr<round>& all) {
    for (;;) {
      auto& tensors = all->tensors;
      if (!tensors.empty()
          && tensors.back().values.size()
               < all->shapes[tensors.size() - 1].size()) {
        fetch_piece(all);
        return;
      }
      if (tensors.size() == all->shapes.size())
        break;
      const auto& shape = all->shapes[tensors.size()];
      tensors.push_back({shape.name, shape.shape, {}});
    }
    auto& trainers = all->state.trainers;
    if (!all->tensors.empty() && !trainers.empty())
      std::min_element(
        trainers.begin(), trainers.end(),
        [](const auto& a, const auto& b) { return a.rank < b.rank; })
        ->parameters = std::make_shared<const std::vector<named_tensor>>(
        std::move(all->tensors));
    all->promise.deliver(std::move(all->state));
  }

  void fetch_piece(const std::shared_ptr<round>& all) {
    const auto index = all->tensors.size() - 1;
    weights_request wanted;
    wanted.run = config_.run;
    wanted.tensor = static_cast<std::uint32_t>(index);
    wanted.offset = all->tensors.back().values.size();
    wanted.count =
      std::min(piece_values, all->shapes[index].size() - wanted.offset);
    calls_.call(config_.daemon.address, method::weights, encode(wanted), {},
                [this, all, wanted](const result<payload>& answer) {
                  if (auto done = take_piece(*all, wanted, answer); !done)
                    give_up(all, done.error());
                  else
                    fetch(all);
                });
  }

  static result<void> take_piece(round& all, const weights_request& wanted,
                                 const result<payload>& answer) {
    if (!answer)
      return answer.error();
    auto& values = all.tensors.back().values;
    values.resize(wanted.offset + wanted.count);
    return decode_weights(answer.value(),
                          std::span{values}.subspan(wanted.offset));
  }

  void give_up(const std::shared_ptr<round>& all, const error& why) {
    all->promise.deliver(to_caf(explain(why)));
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
