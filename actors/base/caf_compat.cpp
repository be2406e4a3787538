#include "actors/base/caf_compat.hpp"

namespace graphmill {

namespace {

bool is_ours(const caf::error& what) {
  return what.category() == caf::atom("graphmill");
}

} // namespace

bool is_answer(const caf::error& what) {
  // An actor that an exception ends leaves that to those who wait for it.
  return is_ours(what) && static_cast<ec>(what.code()) != ec::crashed;
}

error from_caf(const caf::error& what, std::string_view who) {
  if (is_ours(what)) {
    error result{static_cast<ec>(what.code()), {}};
    if (what.context().template match_elements<std::string>())
      result.message = what.context().template get_as<std::string>(0);
    return result;
  }
  if (what.category() == caf::atom("system")) {
    switch (static_cast<caf::sec>(what.code())) {
    case caf::sec::request_timeout:
      return fail(ec::timeout, "{} did not answer in time", who);
    case caf::sec::request_receiver_down:
      return fail(ec::unavailable, "{} ended before it answered", who);
    default:
      break;
    }
  }
  return fail(ec::unavailable, "{} ended: {}", who, caf::to_string(what));
}

void set_scheduler(caf::actor_system_config& config, std::size_t threads) {
  config.set("scheduler.max-threads", threads);
  config.set("scheduler.policy", caf::atom("sharing"));
}

} // namespace graphmill
