#include "actors/feed/joined/feed_keeper.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/base/calls.hpp"
#include "actors/feed/joined/feed_claim.hpp"
#include "actors/feed/loop_verdict.hpp"

#include <fmt/ranges.h>

#include <chrono>
#include <utility>

namespace graphmill {

namespace {

class feed_keeper {
public:
  using interface = feed_keeper_actor;
  using clock = feed_claim::clock;
  static constexpr const char* name = "feed keeper";

  feed_keeper(interface::pointer self, feed_keeper_config config)
    : self_(self), config_(std::move(config)), calls_(self, config_.net),
      claim_(std::chrono::seconds{config_.def.recovery.wait}) {}

  interface::behavior_type make_behavior() {
    return {
      [this](const consumer_joined&) { look_again(); },
      [this](const consumer_refused& refused) {
        carry_out(claim_.give_up(refused.reason));
      },
      [this](const feed_begun& of) {
        claim_.begun(of.run);
        tell_waits();
      },
      [this](const feed_share_ended& of) {
        claim_.share_ended(of.run, clock::now());
        look();
      },
      [this](const consumer_fed&) { claim_.fed(); },
      [this](const wanted_verdict&) { judge(); },
      [this](const call_ended& ended) { calls_.ended(ended); },
      [this](const feed_tick&) { look_again(); },
    };
  }

  bool crashed(const caf::error& reason) {
    carry_out(claim_.give_up(from_caf(reason, "the keeper of the feed")));
    return true;
  }

private:
  using task = feed_claim::task;

  void look_again() {
    post_later(handle_of<interface>(self_), timeouts::question_look,
               feed_tick{});
    look();
  }

  void look() { carry_out(claim_.due(clock::now())); }

  void carry_out(task next) {
    switch (next) {
    case task::none:
      break;
    case task::ask:
      call(method::feed, encode_definition_body(config_.def),
           [this](const result<payload>& answer) {
             carry_out(claim_.asked(answer
                                      ? decode_run_id(answer.value())
                                      : result<std::string>{answer.error()},
                                    clock::now()));
           });
      break;
    case task::look:
      call(method::feed_state, encode(feed_state_request{claim_.run()}),
           [this](const result<payload>& answer) {
             carry_out(claim_.told(answer
                                     ? decode_feed_state_reply(answer.value())
                                     : result<feed_state_reply>{answer.error()},
                                   clock::now()));
           });
      break;
    case task::end:
      config_.failed(claim_.failure());
      break;
    }
    tell_waits();
  }

  void judge() {
    if (claim_.run().empty()) {
      config_.judged(fail(ec::unavailable, "no run feeds this loader now{}{}",
                          claim_.waits().empty() ? "" : ": ", claim_.waits()));
      return;
    }
    call(method::health, encode(health_request{claim_.run(), {}}),
         [this](const result<payload>& answer) {
           auto known = answer ? decode_run_health(answer.value())
                               : result<run_health>{answer.error()};
           config_.judged(known ? result<verdict>{loop_verdict(known.value())}
                                : result<verdict>{known.error()});
         });
  }

  /// Another coordinator may lead when this one does not answer. Who reads the
  /// reason may not know that there is one, and where.
  void call(method what, payload data,
            std::function<void(result<payload>)> then) {
    calls_.call(config_.coordinators[turn_], what, std::move(data),
                within(timeouts::question, timeouts::question_unreachable),
                [this, then = std::move(then)](result<payload> answer) {
                  if (!answer
                      && (answer.error().code == ec::unavailable
                          || answer.error().code == ec::timeout)) {
                    turn_ = (turn_ + 1) % config_.coordinators.size();
                    answer = fail(answer.error().code,
                                  "asking the coordinator at {}: {}",
                                  fmt::join(config_.coordinators, ", "),
                                  answer.error().message);
                  }
                  then(std::move(answer));
                });
  }

  void tell_waits() {
    if (claim_.waits() == told_)
      return;
    told_ = claim_.waits();
    config_.waits(told_);
  }

  interface::pointer self_;
  feed_keeper_config config_;
  remote_calls<interface> calls_;
  feed_claim claim_;
  std::size_t turn_ = 0; ///< The coordinator that is asked.
  std::string told_;
};

} // namespace

feed_keeper_actor spawn_feed_keeper(caf::actor_system& system,
                                    feed_keeper_config config) {
  return spawn_state<feed_keeper>(system, std::move(config));
}

} // namespace graphmill
