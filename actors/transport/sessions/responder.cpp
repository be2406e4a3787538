#include "actors/transport/sessions/responder.hpp"

#include "messages/base/caught.hpp"

#include <atomic>

namespace graphmill {

struct responder::state {
  explicit state(sink where) : to(std::move(where)) {}
  ~state() {
    // If not even that can be told, whoever asks has a deadline.
    quietly([this] {
      if (!answered.exchange(true))
        to(fail(ec::internal, "whoever served the request gave no answer"));
    });
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  sink to;
  std::atomic<bool> answered{false};
};

responder::responder(sink to)
  : state_(std::make_shared<state>(std::move(to))) {}

void responder::reply(result<payload> answer) const {
  if (!state_ || state_->answered.exchange(true))
    return;
  try {
    state_->to(std::move(answer));
  } catch (...) {
    state_->answered = false; // Whoever catches it may still tell of that.
    throw;
  }
}

} // namespace graphmill
