#pragma once

#include "actors/base/caf_compat.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <typeinfo>
#include <unordered_map>
#include <utility>

namespace graphmill {

/// Sends the requests of an actor and limits their waits. One per state object,
/// used only in its handlers.
///
/// A request fails with a time-out when the asked actor has been silent for as
/// long as the request allows: it has answered neither this request nor another
/// one of the same watch. So waiting behind others is no failure, and a hanging
/// actor is still noticed. Time in which the process was stopped counts for a
/// minute of each stop at most.
///
/// CAF 0.17 would keep a timer for every request until it expires, long after
/// the answer. Here the actor has one, for the earliest limit.
class request_watch {
public:
  /// What `ask` returns: chain `.then(on_value, on_error)`.
  template <class Response>
  class asked {
  public:
    asked(request_watch* watch, Response response)
      : watch_(watch), response_(std::move(response)) {}

    /// @param on_value Receives the answer. @param on_error Receives a
    /// `caf::error`.
    template <class Value, class Error>
    void then(Value on_value, Error on_error) {
      const auto id = response_.id();
      response_.then(
        settled(watch_, id, std::move(on_value), &Value::operator()),
        [watch = watch_, id,
         on_error = std::move(on_error)](const caf::error& reason) mutable {
          watch->answered(id, "an answer that did not come",
                          [&on_error, &reason] { on_error(reason); });
        });
    }

  private:
    template <class Value, class Answer>
    static auto settled(request_watch* watch, caf::message_id id,
                        Value on_value, void (Value::*)(Answer) const) {
      return [watch, id, on_value = std::move(on_value)](Answer answer) {
        watch->answered(id, typeid(Answer).name(),
                        [&on_value, &answer] { on_value(answer); });
      };
    }

    template <class Value, class Answer>
    static auto settled(request_watch* watch, caf::message_id id,
                        Value on_value, void (Value::*)(Answer)) {
      return
        [watch, id, on_value = std::move(on_value)](Answer answer) mutable {
          watch->answered(id, typeid(Answer).name(),
                          [&on_value, &answer] { on_value(answer); });
        };
    }

    request_watch* watch_;
    Response response_;
  };

  request_watch() = default;
  ~request_watch();
  request_watch(const request_watch&) = delete;
  request_watch& operator=(const request_watch&) = delete;

  /// Sends a request.
  /// @param self Always the same.
  /// @param silence How long `to` may be silent.
  template <class Self, class Handle, class Message>
  auto ask(Self* self, const Handle& to, std::chrono::milliseconds silence,
           Message message) {
    auto response = self->request(to, caf::infinite, std::move(message));
    open(self, response.id(), to ? to->id() : caf::actor_id{0}, silence);
    return asked<decltype(response)>{this, std::move(response)};
  }

  /// Fails the open requests to `actor`: it has ended, or is given up.
  template <class Handle>
  void give_up(const Handle& actor) {
    give_up_on(actor->id());
  }

private:
  using clock = caf::actor_clock;

  /// An open request.
  struct waiting {
    caf::message_id id; ///< Of the answer.
    caf::actor_id asked;
    clock::time_point since;
    std::chrono::milliseconds silence;
  };

  /// An actor with open requests.
  struct debtor {
    std::size_t requests = 0;
    clock::time_point heard; ///< When it answered last.
  };

  void open(caf::scheduled_actor* self, caf::message_id id, caf::actor_id asked,
            std::chrono::milliseconds silence);
  /// Guards the continuation of an answer like a message handler.
  template <class Handler>
  void answered(caf::message_id id, const char* what, const Handler& handler) {
    const auto all = [this, id, &handler] {
      settle(id);
      handler();
    };
    run_handler(*self_, what, std::cref(all));
  }

  void settle(caf::message_id id);
  void give_up_on(caf::actor_id actor);
  void forget(std::uint64_t id);
  void arm(clock::time_point when);
  void make_up_for(clock::duration_type stopped);
  void sweep();
  void answer(caf::message_id id, caf::sec reason);

  caf::scheduled_actor* self_ = nullptr; ///< Set by the first request.
  std::unordered_map<std::uint64_t, waiting> waiting_;
  std::unordered_map<caf::actor_id, debtor> debtors_;
  /// Pending timers. Each is earlier than the one set before it.
  std::map<clock::time_point, caf::message_id> armed_;
};

} // namespace graphmill
