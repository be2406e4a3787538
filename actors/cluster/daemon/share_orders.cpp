#include "actors/base/timeouts.hpp"
#include "actors/cluster/daemon/share_host.hpp"
#include "pipelines/results/run_positions.hpp"

#include <spdlog/logger.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace graphmill {

// -- requests of the coordinator

bool share_host::is_about_next(const member_request& wanted) const {
  const auto next = next_.find(wanted.run);
  return next != next_.end()
         && (wanted.attempt == 0
             || wanted.attempt == next->second.assignment.attempt());
}

bool share_host::take_request(const incoming_request& request) {
  auto asked = decode_member_request(request.data);
  if (!asked) {
    request.reply.reply(asked.error());
    return false;
  }
  const auto& wanted = asked.value();
  if (wanted.action == member_action::kept) {
    tell_kept(wanted.run, request.reply);
    return false;
  }
  auto run = find(wanted.run);
  if (run && wanted.attempt != 0
      && wanted.attempt != run.value()->assignment.attempt())
    run = fail(ec::unavailable, "attempt {} of run {} is not here",
               wanted.attempt, wanted.run);
  const auto ends =
    wanted.action == member_action::end || wanted.action == member_action::keep;
  const auto is_next = is_about_next(wanted);
  if (ends && is_next)
    drop_next(wanted.run, fail(ec::unavailable, "the run is over"));
  if (!run && ends) {
    request.reply.reply(encode(member_reply{})); // It has ended before.
    return false;
  }
  if (run && (ends || wanted.action == member_action::finish)) {
    if (wanted.action == member_action::keep)
      order_keep(run.value(), request.reply);
    else
      order_end(run.value(), wanted.action == member_action::finish,
                request.reply);
    return ends;
  }
  // One that ends as soon as something is kept is as good as gone, and one that
  // waits for the end of another is as good as there.
  const auto is_on =
    run && !run.value()->life.is_over() && !run.value()->keeping;
  if (wanted.action == member_action::check && (is_next || is_on)) {
    request.reply.reply(encode(member_reply{}));
    return false;
  }
  if (!run || run.value()->keeping
      || run.value()->life.now() != share_life::state::hosted) {
    request.reply.reply(fail(ec::unavailable,
                             "run {} is not running at daemon \"{}\"",
                             wanted.run, name()));
    return false;
  }
  if (wanted.action == member_action::load) {
    if (auto taken = load_piece(*run.value(), wanted, request.data); !taken)
      request.reply.reply(taken.error());
    else
      request.reply.reply(encode(member_reply{}));
    return false;
  }
  carry_out(run.value(), wanted, request.reply);
  return false;
}

void share_host::carry_out(const share& run, const member_request& request,
                           const responder& reply) {
  switch (request.action) {
  case member_action::begin:
    post(run->member,
         phase_request{request.phase, request.epoch, request.steps,
                       request.learning_rate, request.first_step,
                       position_in(request.from), sums_in(request.from)});
    reply.reply(encode(member_reply{}));
    break;
  case member_action::stop:
    post_urgent(run->member, stop_after_step{});
    reply.reply(encode(member_reply{}));
    break;
  case member_action::trainers:
    ask_trainers(run, request, reply);
    break;
  case member_action::end:
  case member_action::finish:
  case member_action::check:
  case member_action::load:
  case member_action::keep:
  case member_action::kept:
    break; // Have been seen to.
  }
}

void share_host::ask_trainers(const share& run, const member_request& request,
                              const responder& reply) {
  const auto action = request.trainers;
  trainer_request order{action};
  if (action == trainer_action::restore) {
    order.state = std::exchange(run->loading, nullptr);
    order.steps = request.restored_steps;
    run->loaded_values = 0;
  }
  requests_.ask(self_, run->member, patience_for(action), order)
    .then(
      [run, reply, action](const member_state& state) {
        reply.reply(encode(keep_states(*run, action, state)));
      },
      [reply](const caf::error& reason) {
        reply.reply(from_caf(reason, "a trainer"));
      });
}

// -- what is kept for another attempt

bool share_host::is_here(const share& run) const {
  const auto it = runs_.find(run->assignment.run);
  return it != runs_.end() && it->second == run;
}

/// Trainers answer at once, even one that waits for the gradients of a rank
/// that is gone: these are another thread's.
void share_host::keep_and_then(const share& run, std::function<void()> then) {
  const auto trains =
    std::ranges::count(run->assignment.daemon_of_rank, run->assignment.you)
    != 0;
  if (!trains || run->assignment.def.recovery.wait == 0
      || run->life.now() != share_life::state::hosted) {
    then();
    return;
  }
  requests_
    .ask(self_, run->member, timeouts::keep,
         trainer_request{trainer_action::keep})
    .then(
      [this, run, then](const member_state& state) {
        if (is_here(run) && !run->dropped)
          keep(*run, state);
        then();
      },
      [this, run, then](const caf::error& reason) {
        log_of(run)->warn("run {}: nothing is kept: {}", run->assignment.run,
                          from_caf(reason, "a trainer").message);
        then();
      });
}

/// Of the trainer that is furthest: another one may have a step to apply yet.
void share_host::keep(const hosted_share& run, const member_state& state) {
  const trainer_state* furthest = nullptr;
  for (const auto& trainer : state.trainers)
    if (trainer.at && trainer.parameters
        && (furthest == nullptr
            || trainer.at->train_steps > furthest->at->train_steps))
      furthest = &trainer;
  if (furthest == nullptr)
    return;
  const auto& at = *furthest->at;
  log_of(run.assignment.run)
    ->info("run {}: its state in epoch {}, after step {}, is kept",
           run.assignment.run, at.epoch + 1, at.step);
  const auto wait = std::chrono::seconds{run.assignment.def.recovery.wait};
  kept_.keep({run.assignment.run,
              run.assignment.attempt(),
              furthest->rank,
              furthest->digest,
              {at, furthest->so_far, furthest->parameters}},
             kept_state::clock::now() + wait + timeouts::kept_longer);
}

void share_host::order_keep(const share& run, const responder& reply) {
  keep_and_then(run, [this, run, reply] {
    if (is_here(run))
      order_end(run, false, reply);
    else
      reply.reply(encode(member_reply{})); // It has ended meanwhile.
  });
}

/// The coordinator asks between two attempts: what of the run is on here still
/// belongs to one whose end has not been heard of, and ends.
void share_host::tell_kept(const std::string& id, const responder& reply) {
  const auto run = find(id);
  if (!run || run.value()->life.is_over()) {
    reply.reply(encode(kept_.of(id)));
    return;
  }
  run.value()->asked_kept.push_back(reply);
  abandon(run.value(),
          fail(ec::unavailable, "another attempt of the run begins"));
}

} // namespace graphmill
