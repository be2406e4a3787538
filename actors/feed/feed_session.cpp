#include "actors/feed/feed_session.hpp"

#include <algorithm>

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
  if (pass_ != 0 && pass.own_seeds != own_seeds_)
    return fail(ec::invalid_argument,
                "only some passes have seeds of their own: all must, or none");
  if (own_seeds_ && due_ > 0)
    return fail(ec::invalid_argument,
                "pass {} has seeds of its own, and {} batches of the previous "
                "pass are not back",
                pass.number, due_);
  where_ = state::in_pass;
  pass_ = pass.number;
  due_ = pass.steps - pass.first;
  own_seeds_ = pass.own_seeds;
  return ok();
}

result<void> feed_session::give_back(const std::vector<batch_back>& batches) {
  if (where_ != state::in_pass)
    return fail(ec::invalid_argument,
                "a consumer has given a batch back before its first pass");
  due_ -= std::ranges::count_if(batches, &batch_back::returned);
  return ok();
}

result<void> feed_session::judge() const {
  if (where_ == state::fresh)
    return fail(ec::invalid_argument,
                "a consumer wants a verdict on a feed before it opened it");
  return ok();
}

} // namespace graphmill
