#include "actors/base/caf_compat.hpp"

namespace graphmill {

namespace {

bool is_ours(const caf::error& what) {
#if CAF_VERSION < 1800
  return what.category() == caf::atom("graphmill");
#else
  return what.category() == caf::type_id_v<ec>;
#endif
}

} // namespace

bool is_answer(const caf::error& what) {
  // An actor that an exception ends leaves that to those who wait for it.
  return is_ours(what) && static_cast<ec>(what.code()) != ec::crashed;
}

error from_caf(const caf::error& what, std::string_view who) {
  const auto ours = is_ours(what);
#if CAF_VERSION < 1800
  const auto system = what.category() == caf::atom("system");
#else
  const auto system = what.category() == caf::type_id_v<caf::sec>;
#endif
  if (ours) {
    error result{static_cast<ec>(what.code()), {}};
    if (what.context().template match_elements<std::string>())
      result.message = what.context().template get_as<std::string>(0);
    return result;
  }
  if (system) {
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
#if CAF_VERSION < 1800
  config.set("scheduler.max-threads", threads);
  config.set("scheduler.policy", caf::atom("sharing"));
#else
  config.set("caf.scheduler.max-threads", threads);
  config.set("caf.scheduler.policy", "sharing");
#endif
}

} // namespace graphmill
