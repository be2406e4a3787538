#include "actors/cluster/coordinator/coordinator.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/coordinator/coordinator_state.hpp"
#include "actors/cluster/health/peer_links.hpp"
#include "actors/transport/sessions/client_limits.hpp"
#include "messages/base/pluralized.hpp"

#include <spdlog/logger.h>

#include <map>
#include <string>
#include <utility>

namespace graphmill {

/// Requests wait in a line for each client, who take turns: whoever asks much
/// waits for itself. The mailbox holds no more than what has just come. What
/// the daemons of a run that is on tell of it stands in no line, and nor does
/// what others pretend to tell of it and is refused unread: it is large.
void coordinator::queue(const incoming_request& request) {
  const auto is_of_run = class_of(request.method) == request_class::of_runs
                         && active_.first([&request](const active_run& run) {
                              return run.is_member(request.from);
                            });
  if (is_of_run || request.method == method::health_report) {
    guarded_service(audited(request), complaints_,
                    [this](const auto& told) { serve(told); });
    return;
  }
  line_.push(request.from.incarnation, audited(request));
  post(handle_of<interface>(self_), next_request{});
}

void coordinator::serve_next() {
  if (line_.empty())
    return;
  guarded_service(line_.pop(), complaints_,
                  [this](const auto& request) { serve(request); });
}

/// The same request, whose answer is noted if it is worth it.
incoming_request coordinator::audited(incoming_request request) const {
  if (!config_.audit)
    return request;
  auto noted = request;
  noted.reply = {};
  request.reply = responder{[audit = config_.audit, noted = std::move(noted),
                             reply = request.reply](result<payload> answer) {
    if (auto entry = audit_of(noted, answer))
      audit->add(*std::move(entry));
    reply.reply(std::move(answer));
  }};
  return request;
}

/// Of what changes nothing.
/// @returns whether it was that.
bool coordinator::serve_onlooker(const incoming_request& request) {
  const auto& data = request.data;
  const auto& reply = request.reply;
  switch (request.method) {
  case method::status:
    reply.reply(encode(status()));
    break;
  case method::plan:
    reply.reply(plan(data));
    break;
  case method::health:
    reply.reply(tell_health(data));
    break;
  case method::logs:
    reply.reply(tell_logs(data));
    break;
  case method::events:
    reply.reply(tell_of_events(data));
    break;
  case method::runs:
    runs(data, reply);
    break;
  case method::watch:
    watch(data, reply);
    break;
  case method::fetch_file:
    fetch_file(data, reply);
    break;
  case method::trace:
    trace(data, reply);
    break;
  default:
    return false;
  }
  return true;
}

void coordinator::serve(const incoming_request& request) {
  const auto& data = request.data;
  const auto& reply = request.reply;
  if (serve_onlooker(request))
    return;
  switch (request.method) {
  case method::join:
    join(request);
    break;
  case method::leave:
    leave(request);
    break;
  case method::submit:
    if (auto begun = submit(request); !begun)
      reply.reply(begun.error());
    break;
  case method::cancel:
    cancel(data, reply);
    break;
  case method::drain:
    reply.reply(drain(data));
    break;
  case method::stop:
    stop(data, reply);
    break;
  case method::chaos:
    chaos(data, reply);
    break;
  case method::upload:
    upload(request);
    break;
  case method::health_report:
    reply.reply(take_health(request));
    break;
  case method::run_event:
    reply.reply(take_events(request));
    break;
  case method::rendezvous:
    rendezvous(request);
    break;
  default:
    reply.reply(fail(ec::invalid_argument, "a coordinator does not serve `{}`",
                     to_string(request.method)));
  }
}

status_reply coordinator::status() const {
  status_reply out;
  out.coordinator = calls_.net().self().name;
  out.dataset = config_.offer.dataset;
  out.parts = static_cast<std::uint32_t>(config_.offer.part_digests.size());
  out.daemons = registry_.statuses();
  reports_.loads().add_to(out.daemons, clock::now());
  // Of those that may be lost soon, before they are.
  std::map<std::string, std::string> troubles;
  for (const auto& link : calls_.net().links())
    troubles[link.peer] = trouble_of(link, link_board::clock::now());
  for (auto& daemon : out.daemons)
    if (daemon.note.empty() && daemon.state != daemon_state::lost)
      if (const auto known = troubles.find(daemon.name);
          known != troubles.end())
        daemon.note = known->second;
  for (const auto& run : active_.all())
    if (out.running.empty())
      out.running = run->id;
    else
      out.also_running.push_back(run->id);
  for (const auto& run : queue_)
    out.queued.push_back(run.id);
  if (const auto& reason = records_.failure())
    out.note = fmt::format("what becomes of runs is kept in memory alone: {}",
                           reason->message);
  const std::lock_guard guard{stand_ins_->mutex};
  out.stand_ins = stand_ins_->all;
  return out;
}

bool coordinator::crashed(const caf::error& reason) {
  const auto thrown = from_caf(reason, "the coordinator");
  auto any = false;
  for (const auto& run : active_.all()) {
    if (run->turn.is_over() || run->turn.failure())
      continue;
    any = true;
    log_of(run->id)->error("run {}: {}", run->id, thrown.message);
    go_on(run, run->fail_run(thrown));
  }
  return any;
}

void coordinator::end_cluster() {
  if (std::exchange(ending_, true))
    return;
  if (!queue_.empty())
    config_.log->info("left in the queue for the next coordinator: {}",
                      pluralized(queue_.size(), "run"));
  queue_.clear();
  for (const auto& run : active_.all()) {
    go_on(run, run->cancel(false));
    break_search_off(run);
  }
  end_if_done();
}

/// Tells that the coordinator may end once nothing is on and all is written,
/// or cannot be.
void coordinator::end_if_done() {
  if (!ending_ || !active_.empty() || !taking_.empty()
      || !(records_.all_written() || records_.failure()))
    return;
  if (auto tell = std::exchange(config_.on_stop, {}))
    tell(std::nullopt);
}

void coordinator::look_again() {
  post_later(handle_of<interface>(self_), timeouts::question_look, tick{});
}

void coordinator::look() {
  look_again();
  const auto now = clock::now();
  make_up_for_stop(now);
  complaints_.look(now);
  comings_.look(now);
  reports_.forget_silent(now);
  if (config_.audit)
    config_.audit->look();
  refuse_unreached(now);
  answer_watchers(now);
  leave_figures(now);
  collect_logs(now);
  look_at_members(now);
  for (const auto& run : active_.all())
    run->answer_questions(now);
  if (now >= write_at_)
    write_records();
  look_at_queue(now);
  give_up_waiting(now);
  drop_overdue_uploads(now);
  if (now < touch_at_)
    return;
  touch_at_ = now + timeouts::life_sign;
  look_at_lock(!active_.empty() || !queue_.empty());
  look_for_successor();
}

coordinator_actor spawn_coordinator(caf::actor_system& system,
                                    coordinator_config config) {
  return spawn_state<coordinator>(system, std::move(config));
}

} // namespace graphmill
