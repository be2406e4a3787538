#include "actors/base/timeouts.hpp"
#include "actors/cluster/coordinator/coordinator_state.hpp"

#include <string>
#include <utility>
#include <vector>

// What daemons of runs that are on tell unasked, and who is not believed.

namespace graphmill {

namespace {

/// Of what a daemon says, this much is repeated.
constexpr std::size_t longest_quote = 200;

} // namespace

result<payload> coordinator::take_events(const incoming_request& request) {
  const auto told = decode_run_events(request.data);
  if (!told) {
    // Of which run they are cannot be read, and the daemon ends its share of
    // that on this answer: none of its runs can go on with it.
    for (const auto& run : active_.all())
      if (run->is_member(request.from))
        go_on(run,
              run->fail_run(fail(told.error().code, "daemon \"{}\": {}",
                                 request.from.name, told.error().message)));
    return told.error();
  }
  const auto& events = told.value();
  const auto run = active_.find(events.run);
  if (!run || !run->is_member(request.from))
    return fail(ec::not_found, "run {} is not on", events.run);
  GRAPHMILL_TRY(const auto next, run->take(request.from.name, events));
  if (events.sound)
    log_of(run->id)->info("run {}: the data of daemon {} are sound", run->id,
                          request.from.name);
  // It may have failed while others are still being deployed.
  go_on(run, next);
  return payload{};
}

void coordinator::rendezvous(const incoming_request& request) {
  const auto asked = decode_rendezvous_request(request.data);
  const auto run = asked ? active_.find(asked.value().run) : nullptr;
  if (!asked)
    request.reply.reply(asked.error());
  else if (!run || run->turn.now() == run_turn::state::filing)
    request.reply.reply(
      fail(ec::not_found, "run {} is not on", asked.value().run));
  else if (!run->is_member(request.from))
    request.reply.reply(fail(ec::permission, "\"{}\" has no share of run {}",
                             request.from.name, asked.value().run));
  else
    run->take(asked.value(), request.reply);
}

// -- who is not believed

/// A member has found daemons of its run to send what the dataset does not
/// have.
void coordinator::distrust(const active_run& run,
                           const std::vector<std::string>& daemons,
                           const std::string& by) {
  for (const auto& name : daemons) {
    if (!run.uses(name))
      continue;
    auto why = fmt::format(
      "in run {} it sent daemon \"{}\" what the dataset does not have: look at "
      "its files and at who can change its program, and start it again",
      run.id, by);
    log_of(run.id)->warn("daemon {} is not used any more: {}", name, why);
    tell(event_kind::warning, name, why, run.id);
    registry_.distrust(name, std::move(why));
  }
}

/// Asks a daemon something as its coordinator. If it says that another one
/// leads the cluster by now, `then` gets an error of another code, or nothing
/// any more if that is so: see `look_for_successor`.
void coordinator::ask_daemon(const daemon_address& daemon, method what,
                             payload data, const call_options& how,
                             calls::callback then) {
  calls_.call(daemon.address, what, std::move(data), how,
              [this, daemon, then = std::move(then)](result<payload> answer) {
                if (answer || answer.error().code != ec::superseded)
                  then(std::move(answer));
                else
                  doubt(daemon, answer.error(), then);
              });
}

/// A daemon says that another coordinator leads the cluster, which any daemon
/// could. The lock of the state folder decides: nobody raises the generation
/// without it, and whoever takes it signs its file first. A daemon that says
/// otherwise is not used any more, and the run goes on as after its loss. Only
/// if no other one obeys either, the folder has been led elsewhere, as a copy.
/// @param then Is told so; may be empty.
void coordinator::doubt(const daemon_address& daemon, const error& said,
                        const calls::callback& then) {
  const auto seen =
    calls_.expect([this, daemon, said, then](const result<payload>& lock) {
      if (!lock && gives_way(lock.error()))
        return;
      auto why = fail(ec::unavailable,
                      "daemon \"{}\" says that another coordinator leads the "
                      "cluster, but the lock is this one's: look at who can "
                      "change its program, and start it again ({})",
                      daemon.name, said.message.substr(0, longest_quote));
      const auto known = registry_.find(daemon.name);
      if (lock && known && known.value().status.address == daemon.address) {
        complaints_.add(why.message, clock::now());
        registry_.disobeys(daemon.name, why.message);
        if (registry_.nobody_obeys(calls_.net().self().name)) {
          gives_way(said);
          return;
        }
        lose_if_used(daemon.name, why);
      }
      if (then)
        then(why);
    });
  history_thread_.post(
    [seen, lock = config_.lock] {
      auto held = lock->check();
      seen(held ? result<payload>{payload{}} : result<payload>{held.error()});
    },
    [seen](const error& reason) { seen(reason); });
}

} // namespace graphmill
