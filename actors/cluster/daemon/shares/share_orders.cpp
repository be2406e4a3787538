#include "actors/cluster/daemon/shares/share_orders.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/daemon/shares/agent_config.hpp"
#include "actors/cluster/daemon/shares/hosted_share.hpp"
#include "actors/cluster/daemon/shares/share_keeper.hpp"
#include "actors/cluster/daemon/shares/share_preparation.hpp"
#include "actors/cluster/daemon/shares/share_traces.hpp"
#include "pipelines/results/run_positions.hpp"

#include <utility>

namespace graphmill {

share_orders::share_orders(agent_actor::pointer self, share_host& host,
                           const share_host::parts& with)
  : self_(self), host_(host), with_(with) {}

const std::string& share_orders::name() const {
  return with_.config.around.net->self().name;
}

void share_orders::deploy(const incoming_request& request) {
  auto deployment = decode_deployment(request.data);
  if (!deployment) {
    request.reply.reply(deployment.error());
    return;
  }
  if (auto fits = check(deployment.value()); !fits) {
    request.reply.reply(fits.error());
    return;
  }
  host_.deploy(std::move(deployment).value(), request.reply);
}

result<void> share_orders::check(const deployment& assignment) const {
  const auto known = with_.shares.find(assignment.run);
  if (known && known.value()->assignment.attempt() >= assignment.attempt())
    return fail(ec::invalid_argument, "run {} is deployed here already",
                assignment.run);
  const auto takes =
    assignment.feed && assignment.daemon_of_rank.front() == assignment.you;
  const auto may_take = static_cast<bool>(with_.config.feeds.open);
  if (takes && !may_take)
    return fail(
      ec::invalid_argument,
      "daemon \"{}\" takes no batches of a feed: the process that wants "
      "them joins the cluster by itself",
      name());
  if (!takes && may_take)
    return fail(ec::invalid_argument,
                "daemon \"{}\" takes batches of feeds, and nothing else",
                name());
  return check_deployment(assignment, name(), with_.config.offer,
                          *with_.config.graph);
}

bool share_orders::carry_out(const incoming_request& request) {
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
  auto run = with_.shares.find(wanted.run);
  if (run && wanted.attempt != 0
      && wanted.attempt != run.value()->assignment.attempt())
    run = fail(ec::unavailable, "attempt {} of run {} is not here",
               wanted.attempt, wanted.run);
  const auto ends =
    wanted.action == member_action::end || wanted.action == member_action::keep;
  const auto is_next = with_.next.is_about(wanted);
  if (ends && is_next)
    with_.next.drop(wanted.run, fail(ec::unavailable, "the run is over"));
  if (!run && ends) {
    request.reply.reply(encode(member_reply{})); // It has ended before.
    return false;
  }
  if (run && (ends || wanted.action == member_action::finish)) {
    if (wanted.action == member_action::keep)
      keep(run.value(), request.reply);
    else
      host_.end(run.value(), wanted.action == member_action::finish,
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
  pass_on(run.value(), wanted, request.reply);
  return false;
}

void share_orders::pass_on(const share_ptr& run, const member_request& order,
                           const responder& reply) {
  switch (order.action) {
  case member_action::begin:
    if (run->assignment.feed) {
      if (!with_.config.feeds.begun) {
        reply.reply(fail(ec::invalid_argument,
                         "daemon \"{}\" takes no batches of run {}: its begin "
                         "is for the consumer",
                         name(), run->assignment.run));
        break;
      }
      with_.config.feeds.begun(run->assignment.run, run->member);
      reply.reply(encode(member_reply{}));
      break;
    }
    post(run->member,
         phase_request{order.phase, order.epoch, order.steps,
                       order.learning_rate, order.first_step,
                       position_in(order.from), sums_in(order.from)});
    reply.reply(encode(member_reply{}));
    break;
  case member_action::stop:
    post_urgent(run->member, stop_after_step{});
    reply.reply(encode(member_reply{}));
    break;
  case member_action::trainers:
    ask_trainers(run, order, reply);
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

void share_orders::ask_trainers(const share_ptr& run,
                                const member_request& wanted,
                                const responder& reply) {
  const auto action = wanted.trainers;
  trainer_request order{action};
  if (action == trainer_action::restore) {
    order.state = std::exchange(run->loading, nullptr);
    order.steps = wanted.restored_steps;
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

void share_orders::keep(const share_ptr& run, const responder& reply) {
  with_.keeper.keep_and_then(run, [this, run, reply] {
    if (with_.shares.contains(run))
      host_.end(run, false, reply);
    else
      reply.reply(encode(member_reply{})); // It has ended meanwhile.
  });
}

/// The coordinator asks between two attempts. A share that is still active
/// belongs to an earlier attempt, so it ends first.
void share_orders::tell_kept(const std::string& id, const responder& reply) {
  const auto run = with_.shares.find(id);
  if (!run || run.value()->life.is_over()) {
    reply.reply(encode(with_.keeper.kept().of(id)));
    return;
  }
  run.value()->asked_kept.push_back(reply);
  host_.abandon(run.value(),
                fail(ec::unavailable, "another attempt of the run begins"));
}

// -- what the coordinator reads, and changes nothing by

result<payload> share_orders::read(const incoming_request& request) const {
  return request.method == method::spans ? with_.traces.spans(request.data)
                                         : weights(request.data);
}

result<payload> share_orders::weights(const payload& data) const {
  GRAPHMILL_TRY(const auto wanted, decode_weights_request(data));
  if (wanted.kept)
    return with_.keeper.kept().piece(wanted);
  GRAPHMILL_TRY(const auto run, with_.shares.find(wanted.run));
  return piece_of(*run, wanted);
}

} // namespace graphmill
