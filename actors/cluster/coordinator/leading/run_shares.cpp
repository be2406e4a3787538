#include "actors/cluster/coordinator/leading/run_shares.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/audit/audit_log.hpp"
#include "actors/cluster/base/call_limits.hpp"
#include "actors/cluster/coordinator/leading/run_starter.hpp"
#include "actors/cluster/coordinator/members/cluster_daemons.hpp"
#include "actors/cluster/coordinator/members/lead_guard.hpp"
#include "actors/cluster/coordinator/outside/cluster_notices.hpp"
#include "actors/cluster/coordinator/outside/cluster_port.hpp"
#include "actors/cluster/coordinator/outside/coordinator_config.hpp"
#include "actors/cluster/coordinator/records/run_watchers.hpp"
#include "actors/cluster/coordinator/runs/active_runs.hpp"
#include "actors/cluster/coordinator/runs/run_events.hpp"
#include "actors/cluster/coordinator/runs/run_filing.hpp"
#include "actors/cluster/coordinator/runs/submitted_run.hpp"
#include "messages/base/pluralized.hpp"

#include <spdlog/logger.h>

#include <optional>
#include <utility>

namespace graphmill {

run_shares::run_shares(const leading_parts& with, const run_starter& starter,
                       hooks tell)
  : with_(with), starter_(starter), tell_(std::move(tell)) {
  // nop
}

// -- the begin

void run_shares::deploy(const run_ptr& run) {
  const auto& daemons = run->on.where.daemons;
  with_.notices.log_of(run->id)->info("run {}: deploying on {}", run->id,
                                      pluralized(daemons.size(), "daemon"));
  auto& keys = with_.daemons.keys();
  std::vector<std::string> daemon_keys;
  if (keys.is_on())
    for (const auto& daemon : daemons)
      daemon_keys.push_back(keys.key_of(daemon.name));
  for (std::size_t d = 0; d < daemons.size(); ++d) {
    auto share = deployment_of(*run, d, with_.config.offer.dataset_digest,
                               with_.port.self().address);
    share.daemon_keys = daemon_keys;
    share.beside = starter_.names_beside(*run);
    share.runs_at_once = with_.config.runs_at_once;
    with_.lead.ask(daemons[d], method::deploy, encode(share),
                   repeated(timeouts::deployment, timeouts::question),
                   [this, id = run->id, attempt = run->attempts,
                    daemon = daemons[d].name](const result<payload>& answer) {
                     if (const auto on = with_.active.find(id, attempt))
                       deployed(on, daemon, answer);
                   });
  }
}

void run_shares::begin_feed(const run_ptr& run) {
  run->on.began = active_run::clock::now();
  run_news news;
  news.label = fmt::format("feeding {}", run->consumer);
  with_.watchers.board().add(run->id, std::move(news));
  const auto& where = run->on.where;
  const auto& consumer = where.daemons[where.daemon_of_rank.front()];
  member_request order{run->id, member_action::begin};
  order.attempt = run->attempts;
  with_.lead.ask(
    consumer, method::order, encode(order),
    repeated(timeouts::share_check, timeouts::question_unreachable),
    [this, id = run->id,
     daemon = consumer.name](const result<payload>& answer) {
      const auto on = answer ? nullptr : with_.active.find(id);
      if (on && !on->life.is_over())
        tell_.lost(on, daemon, answer.error());
    });
  with_.notices.log_of(run->id)->info("run {}: feeds {}", run->id,
                                      run->consumer);
}

void run_shares::deployed(const run_ptr& run, const std::string& daemon,
                          const result<payload>& answer) {
  audit(*run, daemon, answer);
  std::optional<error> why_not;
  if (!answer)
    why_not = fail(answer.error().code, "daemon \"{}\": {}", daemon,
                   answer.error().message);
  tell_.go_on(run, run->life.deployed(daemon, std::move(why_not)));
}

void run_shares::audit(const submitted_run& run, const std::string& daemon,
                       const result<payload>& answer) const {
  if (!with_.config.audit)
    return;
  audit_entry entry;
  entry.who = with_.port.self().name;
  entry.what = "deploy";
  entry.object = fmt::format("{} on {}", run.id, daemon);
  entry.done = answer.has_value();
  if (!answer) {
    entry.why = answer.error().message;
    entry.code = to_string(answer.error().code);
  }
  with_.config.audit->add(std::move(entry));
}

// -- while it is on

void run_shares::check(const peer_identity& identity) {
  for (const auto& run : with_.active.all()) {
    // Once the run is over, shares answer for themselves when they have ended.
    if (!run->life.has_shares() || !run->uses(identity.name))
      continue;
    member_request question{run->id, member_action::check};
    question.attempt = run->attempts;
    with_.lead.ask(
      {identity.name, identity.address}, method::order, encode(question),
      repeated(timeouts::share_check, timeouts::question_unreachable),
      [this, daemon = identity.name, id = run->id,
       attempt = run->attempts](const result<payload>& answer) {
        const auto on = answer ? nullptr : with_.active.find(id, attempt);
        if (on && !on->life.is_over())
          tell_.lost(on, daemon,
                     fail(ec::unavailable,
                          "daemon \"{}\" had lost the coordinator", daemon));
      });
  }
}

// -- the end

void run_shares::end(const run_ptr& run, member_action how) {
  const auto patience =
    how == member_action::finish ? timeouts::unbounded : timeouts::share_end;
  member_request order{run->id, how};
  order.attempt = run->attempts;
  // To those that are lost, too: they may hear it, but need not answer.
  for (const auto& daemon : run->on.where.daemons)
    with_.lead.ask(daemon, method::order, encode(order),
                   repeated(patience, timeouts::question_unreachable),
                   [this, id = run->id, attempt = run->attempts,
                    daemon = daemon.name](const result<payload>& answer) {
                     if (const auto on = with_.active.find(id, attempt))
                       ended(on, daemon, answer);
                   });
}

void run_shares::ended(const run_ptr& run, const std::string& daemon,
                       const result<payload>& answer) {
  if (!run->life.awaits(daemon))
    return;
  const auto report = answer ? decode_member_reply(answer.value())
                             : result<member_reply>{answer.error()};
  if (report) {
    run->file->add(daemon, report.value().work);
    distrust(*run, report.value().distrusted, daemon);
  } else {
    with_.notices.log_of(run->id)->warn(
      "run {}: daemon {} did not end its share: {}", run->id, daemon,
      report.error().message);
  }
  std::optional<error> failure;
  if (!report)
    failure = unverified(daemon, report.error());
  else if (const auto& reason = report.value().failure; !reason.empty())
    failure = fail(ec::invalid_data, "daemon \"{}\": {}", daemon, reason);
  tell_.go_on(run, run->life.share_ended(daemon, std::move(failure)));
}

/// A member has found daemons of its run to send what the dataset does not
/// have.
void run_shares::distrust(const submitted_run& run,
                          const std::vector<std::string>& daemons,
                          const std::string& by) {
  for (const auto& name : daemons) {
    if (!run.uses(name))
      continue;
    auto why = fmt::format(
      "in run {} it sent daemon \"{}\" what the dataset does not have: look at "
      "its files and at who can change its program, and start it again",
      run.id, by);
    with_.notices.log_of(run.id)->warn("daemon {} is not used any more: {}",
                                       name, why);
    with_.notices.event(event_kind::warning, name, why, run.id);
    with_.daemons.registry().distrust(name, std::move(why));
  }
}

} // namespace graphmill
