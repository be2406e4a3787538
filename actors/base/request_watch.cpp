#include "actors/base/request_watch.hpp"

#include "actors/base/timeouts.hpp"
#include "messages/base/caught.hpp"

#include <algorithm>
#include <vector>

namespace graphmill {

namespace {

/// At least so often, while requests wait: what was stopped for long is noticed
/// by a look that comes late.
constexpr std::chrono::minutes longest_nap{1};

} // namespace

request_watch::~request_watch() {
  // A timer would keep what is left of the actor until it expires.
  quietly([this] {
    for (const auto& [when, id] : armed_)
      self_->clock().cancel_request_timeout(self_, id);
  });
}

void request_watch::open(caf::scheduled_actor* self, caf::message_id id,
                         caf::actor_id asked,
                         std::chrono::milliseconds silence) {
  self_ = self;
  const auto now = self_->clock().now();
  waiting_.emplace(id.integer_value(), waiting{id, asked, now, silence});
  ++debtors_[asked].requests;
  arm(now + silence);
}

void request_watch::settle(caf::message_id id) {
  const auto found = waiting_.find(id.integer_value());
  if (found == waiting_.end())
    return; // It has come too late, or never will.
  debtors_[found->second.asked].heard = self_->clock().now();
  forget(id.integer_value());
}

void request_watch::forget(std::uint64_t id) {
  const auto found = waiting_.find(id);
  const auto of = debtors_.find(found->second.asked);
  if (--of->second.requests == 0)
    debtors_.erase(of);
  waiting_.erase(found);
}

/// Requests that CAF knows of, too, end by a message, as answers do.
void request_watch::answer(caf::message_id id, caf::sec reason) {
  self_->eq_impl(id, self_->ctrl(), self_->context(), caf::make_error(reason));
}

void request_watch::give_up_on(caf::actor_id actor) {
  std::vector<caf::message_id> lost;
  for (const auto& [key, request] : waiting_)
    if (request.asked == actor)
      lost.push_back(request.id);
  std::sort(lost.begin(), lost.end());
  for (auto id : lost) {
    forget(id.integer_value());
    answer(id, caf::sec::request_receiver_down);
  }
}

void request_watch::arm(clock::time_point when) {
  when = std::min<clock::time_point>(when, self_->clock().now() + longest_nap);
  if (!armed_.empty() && armed_.begin()->first <= when)
    return;
  const auto id =
    self_->new_request_id(caf::message_priority::normal).response_id();
  self_->add_multiplexed_response_handler(
    id, caf::behavior{[this](caf::error&) {
      run_handler(*self_, "requests that wait too long", [this] { sweep(); });
    }});
  self_->clock().set_request_timeout(when, self_, id);
  armed_.emplace(when, id);
}

/// Nobody could answer while the process was stopped, and answers may stand
/// behind this look: requests have as much longer.
void request_watch::make_up_for(clock::duration_type stopped) {
  const auto now = self_->clock().now();
  const auto later = [now, stopped](clock::time_point when) {
    return std::min<clock::time_point>(now, when + stopped);
  };
  for (auto& [key, request] : waiting_)
    request.since = later(request.since);
  for (auto& [id, of] : debtors_)
    of.heard = later(of.heard);
}

/// Fails what has waited too long, and looks for the next limit. Answers that
/// came meanwhile have moved limits on.
void request_watch::sweep() {
  const auto now = self_->clock().now();
  if (!armed_.empty() && now - armed_.begin()->first >= timeouts::late_look)
    make_up_for(now - armed_.begin()->first);
  armed_.erase(armed_.begin(), armed_.upper_bound(now));
  std::vector<caf::message_id> late;
  auto next = clock::time_point::max();
  for (const auto& [key, request] : waiting_) {
    const auto due =
      std::max(request.since, debtors_[request.asked].heard) + request.silence;
    if (due <= now)
      late.push_back(request.id);
    else
      next = std::min<clock::time_point>(next, due);
  }
  std::sort(late.begin(), late.end());
  for (auto id : late) {
    forget(id.integer_value());
    answer(id, caf::sec::request_timeout);
  }
  if (!waiting_.empty())
    arm(next);
}

} // namespace graphmill
