#include "actors/cluster/coordinator/members/lead_guard.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/base/call_limits.hpp"
#include "actors/cluster/history/run_history.hpp"
#include "actors/cluster/history/stand_ins.hpp"
#include "actors/cluster/history/state_lock.hpp"

#include <spdlog/logger.h>

#include <utility>

namespace graphmill {

namespace {

/// Of what a daemon says, this much is repeated.
constexpr std::size_t longest_quote = 200;

} // namespace

lead_guard::lead_guard(cluster_port& port, cluster_notices& notices,
                       daemon_registry& registry,
                       const coordinator_config& config, hooks tell)
  : port_(port), notices_(notices), registry_(registry),
    history_(config.history), lock_(config.lock), runs_(config.runs),
    tell_(std::move(tell)) {
  // nop
}

bool lead_guard::gives_way(const error& reason) {
  if (reason.code != ec::superseded)
    return false;
  if (std::exchange(is_superseded_, true))
    return true;
  notices_.log().error("{}", reason.message);
  tell_.superseded(reason);
  return true;
}

void lead_guard::ask(const daemon_address& daemon, method what, payload data,
                     const call_options& how, callback then) {
  port_.call(daemon.address, what, std::move(data), how,
             [this, daemon, then = std::move(then)](result<payload> answer) {
               if (answer || answer.error().code != ec::superseded)
                 then(std::move(answer));
               else
                 doubt(daemon, answer.error(), then);
             });
}

void lead_guard::doubt(const daemon_address& daemon, const error& said,
                       const callback& then) {
  port_.work<void>(
    cluster_port::lane::history, [lock = lock_] { return lock->check(); },
    [this, daemon, said, then](const result<void>& lock) {
      decide(daemon, said, then, lock);
    });
}

void lead_guard::decide(const daemon_address& daemon, const error& said,
                        const callback& then, const result<void>& lock) {
  if (!lock && gives_way(lock.error()))
    return;
  const auto why = fail(ec::unavailable,
                        "daemon \"{}\" says that another coordinator leads the "
                        "cluster, but the lock is this one's: look at who can "
                        "change its program, and start it again ({})",
                        daemon.name, said.message.substr(0, longest_quote));
  const auto known = registry_.find(daemon.name);
  if (lock && known && known.value().status.address == daemon.address) {
    notices_.complain(why.message);
    registry_.disobeys(daemon.name, why.message);
    if (registry_.nobody_obeys(port_.self().name)) {
      gives_way(said);
      return;
    }
    tell_.lost(daemon.name, why);
  }
  if (then)
    then(why);
}

void lead_guard::look_at_lock(bool busy) {
  if (port_.waiting(cluster_port::lane::history) != 0)
    return;
  port_.work<std::vector<std::string>>(
    cluster_port::lane::history,
    [history = history_, lock = lock_, runs = runs_,
     busy]() -> result<std::vector<std::string>> {
      GRAPHMILL_TRYV(lock->check());
      if (busy)
        history->touch();
      return stand_ins_at(runs);
    },
    [this](result<std::vector<std::string>> waiting) {
      if (waiting)
        stand_ins_ = std::move(waiting).value();
      else
        gives_way(waiting.error()); // Of another error: it looks again soon.
    });
}

void lead_guard::look_for_successor(const std::vector<share_check>& on) {
  const auto& self = port_.self().name;
  if (registry_.nobody_obeys(self)) {
    gives_way(fail(ec::superseded,
                   "all other daemons take orders from another coordinator: "
                   "nobody obeys it any more, and it ends"));
    return;
  }
  const auto check = [this](const daemon_address& daemon,
                            const member_request& question) {
    ask(daemon, method::order, encode(question),
        within(timeouts::question, timeouts::question_unreachable),
        [](const result<payload>&) {});
  };
  for (const auto& run : on)
    for (const auto& daemon : run.daemons)
      check(daemon, run.question);
  if (!on.empty() || !registry_.is_disobeyed())
    return;
  member_request question;
  question.action = member_action::check;
  for (const auto& daemon : registry_.statuses()) // By one: by all?
    if (daemon.name != self)
      check({daemon.name, daemon.address}, question);
}

} // namespace graphmill
