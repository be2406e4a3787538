#include "actors/feed/feed_session.hpp"

namespace graphmill {

result<void> feed_session::open(std::int64_t steps) {
  if (where_ != state::fresh)
    return fail(ec::invalid_argument, "a consumer has opened its feed twice");
  where_ = state::open;
  steps_ = steps;
  return ok();
}

result<void> feed_session::begin(const feed_pass& pass) {
  if (where_ == state::fresh)
    return fail(ec::invalid_argument,
                "a consumer has begun a pass before it opened its feed");
  if (pass.number <= pass_)
    return fail(ec::invalid_argument, "pass {} comes after pass {}",
                pass.number, pass_);
  if (pass.first > pass.steps || pass.steps > steps_)
    return fail(ec::invalid_argument,
                "a pass from step {} to step {} of an epoch of {} steps",
                pass.first, pass.steps, steps_);
  where_ = state::in_pass;
  pass_ = pass.number;
  return ok();
}

result<void> feed_session::give_back() const {
  if (where_ != state::in_pass)
    return fail(ec::invalid_argument,
                "a consumer has given a batch back before its first pass");
  return ok();
}

result<void> feed_session::judge() const {
  if (where_ == state::fresh)
    return fail(ec::invalid_argument,
                "a consumer wants a verdict on a feed before it opened it");
  return ok();
}

} // namespace graphmill
