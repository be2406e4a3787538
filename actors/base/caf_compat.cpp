#include "actors/base/caf_compat.hpp"

namespace graphmill {

namespace {

bool is_ours(const caf::error& reason) {
  return reason.category() == caf::atom("graphmill");
}

} // namespace

bool is_answer(const caf::error& reason) {
  // An actor that an exception ends leaves that to those who wait for it.
  return is_ours(reason) && static_cast<ec>(reason.code()) != ec::crashed;
}

error from_caf(const caf::error& reason, std::string_view asked) {
  if (is_ours(reason)) {
    error result{static_cast<ec>(reason.code()), {}};
    if (reason.context().template match_elements<std::string>())
      result.message = reason.context().template get_as<std::string>(0);
    return result;
  }
  if (reason.category() == caf::atom("system")) {
    switch (static_cast<caf::sec>(reason.code())) {
    case caf::sec::request_timeout:
      return fail(ec::timeout, "{} did not answer in time", asked);
    case caf::sec::request_receiver_down:
      return fail(ec::unavailable, "{} ended before it answered", asked);
    default:
      break;
    }
  }
  return fail(ec::unavailable, "{} ended: {}", asked, caf::to_string(reason));
}

void set_scheduler(caf::actor_system_config& config, std::size_t threads) {
  config.set("scheduler.max-threads", threads);
  config.set("scheduler.policy", caf::atom("sharing"));
}

} // namespace graphmill
