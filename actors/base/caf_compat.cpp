#include "actors/base/caf_compat.hpp"

namespace graphmill {

namespace {

bool is_ours(const caf::error& reason) {
  return reason.category() == caf::atom("graphmill");
}

work_watch* watch_in(const caf::actor_system& system) {
  const auto* how =
    dynamic_cast<const watched_system_config*>(&system.config());
  return how == nullptr ? nullptr : how->watch.get();
}

/// Handlers that say what they are at. Messages come by `invoke`; what CAF
/// hands to an actor in other ways, by `run_handler`.
class watched_handlers final : public caf::detail::behavior_impl {
public:
  using result = caf::match_case::result;
  using visitor = caf::detail::invoke_result_visitor;
  using behavior_impl::invoke;

  watched_handlers(pointer handlers, std::shared_ptr<work_gauge> gauge,
                   const char* name, crash_handler on_crash)
    : behavior_impl(handlers->timeout()), handlers_(std::move(handlers)),
      gauge_(std::move(gauge)), name_(name), on_crash_(std::move(on_crash)) {}

  result invoke_empty(visitor& to) override {
    return handlers_->invoke_empty(to);
  }
  result invoke(visitor& to, caf::type_erased_tuple& message) override {
    const auto* type = message.empty() ? nullptr : message.type(0).second;
    auto out = result::match;
    run(type == nullptr ? "a message" : type->name(),
        [this, &out, &to, &message] { out = handlers_->invoke(to, message); });
    return out;
  }
  void handle_timeout() override { handlers_->handle_timeout(); }

  template <class Handler>
  void run(const char* what, const Handler& handler) {
    const work_scope at{gauge_, what};
    try {
      handler();
    } catch (...) {
      if (!on_crash_ || !on_crash_(crash_of(name_, std::current_exception())))
        throw;
    }
  }

private:
  const pointer handlers_;
  const std::shared_ptr<work_gauge> gauge_;
  const char* const name_;
  const crash_handler on_crash_;
};

} // namespace

std::shared_ptr<work_gauge> gauge_in(const caf::actor_system& system,
                                     std::string who) {
  auto* watch = watch_in(system);
  return watch == nullptr ? nullptr : watch->enter(std::move(who));
}

std::vector<std::string> long_work_in(const caf::actor_system& system) {
  auto* watch = watch_in(system);
  return watch == nullptr ? std::vector<std::string>{} : watch->long_work();
}

void watch_handlers(caf::behavior& handlers, const caf::local_actor& self,
                    crash_handler on_crash) {
  auto gauge = gauge_in(self.home_system(),
                        fmt::format("{} (actor {})", self.name(), self.id()));
  if (handlers && (gauge || on_crash))
    handlers.assign(caf::intrusive_ptr<caf::detail::behavior_impl>{
      caf::make_counted<watched_handlers>(handlers.as_behavior_impl(),
                                          std::move(gauge), self.name(),
                                          std::move(on_crash))});
}

void run_handler(caf::scheduled_actor& self, const char* what,
                 const std::function<void()>& handler) {
  // A copy: an actor that quits gives up its handlers. One that nobody watches
  // has others.
  const auto handlers =
    self.has_behavior() ? self.current_behavior().as_behavior_impl() : nullptr;
  if (auto* watched = dynamic_cast<watched_handlers*>(handlers.get()))
    watched->run(what, handler);
  else
    handler();
}

caf::error crash_of(const char* name, std::exception_ptr thrown) noexcept {
  try {
    try {
      std::rethrow_exception(std::move(thrown));
    } catch (const std::exception& e) {
      return caf::make_error(ec::crashed,
                             fmt::format("{} crashed: {}", name, e.what()));
    } catch (...) {
      return caf::make_error(ec::crashed, fmt::format("{} crashed", name));
    }
  } catch (...) { // No memory left for a sentence.
    return caf::exit_reason::unhandled_exception;
  }
}

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
