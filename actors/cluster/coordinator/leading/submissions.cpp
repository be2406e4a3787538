#include "actors/cluster/coordinator/leading/submissions.hpp"

#include "actors/cluster/coordinator/leading/new_run.hpp"
#include "actors/cluster/coordinator/leading/run_checks.hpp"
#include "actors/cluster/coordinator/leading/run_places.hpp"
#include "actors/cluster/coordinator/leading/run_queue.hpp"
#include "actors/cluster/coordinator/leading/run_starter.hpp"
#include "actors/cluster/coordinator/members/cluster_daemons.hpp"
#include "actors/cluster/coordinator/outside/cluster_notices.hpp"
#include "actors/cluster/coordinator/outside/cluster_port.hpp"
#include "actors/cluster/coordinator/outside/coordinator_config.hpp"
#include "actors/cluster/coordinator/outside/coordinator_limits.hpp"
#include "actors/cluster/coordinator/records/run_archive.hpp"
#include "actors/cluster/coordinator/runs/run_filing.hpp"
#include "actors/cluster/coordinator/runs/submitted_run.hpp"
#include "actors/transport/sessions/address.hpp"
#include "pipelines/definition/validation/validation.hpp"

#include <spdlog/logger.h>

#include <utility>

namespace graphmill {

namespace {

/// The definition of a feed for a daemon, without what is for trainers.
definition feed_of(definition def, const std::string& consumer) {
  def.trainer.replicas = 1;
  def.trainer.min_replicas = 0;
  def.trainer.sizes.clear();
  def.trainer.device = "cpu";
  def.placement.trainers = {consumer};
  def.placement.samplers.clear();
  if (!def.placement.daemons.empty())
    def.placement.daemons.push_back(consumer);
  def.evaluate.predict = false;
  def.evaluate.only = measured_split::none;
  def.checkpoint.keep = 0;
  def.faults = {};       // They are for runs that train.
  def.recovery.wait = 0; // There is nothing to keep.
  return def;
}

} // namespace

submissions::submissions(const leading_parts& with, file_service& files,
                         run_queue& queue, run_starter& starter,
                         const run_places& places,
                         std::function<void()> decided)
  : with_(with), files_(files), queue_(queue), starter_(starter),
    places_(places), decided_(std::move(decided)) {
  // nop
}

void submissions::submit(const incoming_request& request) {
  if (auto begun = begin(request); !begun)
    request.reply.reply(begun.error());
}

void submissions::feed(const incoming_request& request) {
  if (auto begun = begin_feed(request); !begun)
    request.reply.reply(begun.error());
}

result<void> submissions::begin(const incoming_request& request) {
  GRAPHMILL_TRY(auto def, decode_definition_body(request.data));
  // What its weights have learnt is seen later.
  GRAPHMILL_TRYV(check_taken(def, with_.config));
  GRAPHMILL_TRYV(places_.check_names(def));
  if (starter_.is_closed())
    return fail(ec::unavailable, "the coordinator is ending");
  GRAPHMILL_TRYV(places_.check(def));
  return begin(request, std::move(def), {});
}

result<void> submissions::begin_feed(const incoming_request& request) {
  const auto& consumer = request.from.name;
  const auto known = with_.daemons.registry().find(consumer);
  if (!known || known.value().incarnation != request.from.incarnation)
    return fail(ec::unavailable,
                "\"{}\" has not joined the cluster, and feeds are for its "
                "daemons",
                consumer);
  GRAPHMILL_TRY(const auto wanted, decode_resumption(request.data));
  if (!wanted.run.empty() || wanted.uploaded || wanted.tensorboard)
    return fail(ec::invalid_argument,
                "a feed has no checkpoints and no curves: \"{}\" asks for one "
                "that goes on with another run, or has curves written",
                consumer);
  GRAPHMILL_TRY(auto def, decode_definition_body(request.data));
  def = feed_of(std::move(def), consumer);
  GRAPHMILL_TRYV(check_taken(def, with_.config));
  GRAPHMILL_TRYV(places_.check_names(def));
  if (starter_.is_closed())
    return fail(ec::unavailable, "the coordinator is ending");
  GRAPHMILL_TRYV(places_.check_feed(def, consumer));
  return begin(request, std::move(def), consumer);
}

/// @param consumer As `submitted_run::consumer`.
result<void> submissions::begin(const incoming_request& request, definition def,
                                std::string consumer) {
  const auto home = host_group(request.host);
  GRAPHMILL_TRYV(check_queue(home));
  GRAPHMILL_TRY(auto from, resumption_of(request));
  homes_.insert(home);
  const auto run = std::make_shared<submitted_run>();
  run->def = std::move(def);
  run->home = home;
  run->consumer = std::move(consumer);
  run->place = queue_.next_place();
  run->resumed_place = std::move(from.place);
  if (run->is_feed())
    feeds_[run->consumer] = {request.from.incarnation, run->place};
  with_.port.work<void>(
    cluster_port::lane::history,
    [config = with_.config, run, from = std::move(from)]() mutable {
      auto made = make_run(config, *run, from);
      from.uploaded.reset(); // Its files are of no more use.
      return made;
    },
    [this, run, reply = request.reply](const result<void>& made) {
      taken(run, reply, made);
    });
  return ok();
}

/// Whether the queue has room for one more run, from a host.
result<void> submissions::check_queue(const std::string& home) const {
  const auto waiting = queue_.all().size() + homes_.size();
  const auto of_host = homes_.count(home) + queue_.count_of(home);
  if (waiting < coordinator_limits::queued
      && of_host < coordinator_limits::queued_of_host)
    return ok();
  return fail(ec::unavailable,
              "{} runs are waiting already, {} of them from your host: submit "
              "it again when some of them are over",
              waiting, of_host);
}

/// Takes a place among the runs that go on with something, and what the client
/// has uploaded, if it is to be that.
result<resumption> submissions::resumption_of(const incoming_request& request) {
  resumption out;
  GRAPHMILL_TRY(out.wanted, decode_resumption(request.data));
  if (out.wanted.run.empty() && !out.wanted.uploaded)
    return out;
  if (std::cmp_greater_equal(resumed_.use_count(),
                             coordinator_limits::resumed + 1))
    return fail(ec::unavailable,
                "{} runs that go on with others are here already, and each "
                "takes memory: submit it again when one is over",
                coordinator_limits::resumed);
  out.place = resumed_;
  if (out.wanted.uploaded) {
    GRAPHMILL_TRY(out.uploaded, files_.finish(request.from.incarnation));
  }
  return out;
}

/// Whether a feed that was written is wanted still: its consumer may have left,
/// been lost, or asked for another one meanwhile.
result<void> submissions::check_wanted(const submitted_run& run) {
  if (!run.is_feed())
    return ok();
  const auto asked = feeds_.find(run.consumer);
  if (asked == feeds_.end() || asked->second.place != run.place)
    return fail(ec::unavailable, "\"{}\" has asked for another feed since",
                run.consumer);
  const auto incarnation = std::move(asked->second.incarnation);
  feeds_.erase(asked);
  const auto known = with_.daemons.registry().find(run.consumer);
  if (!known || known.value().incarnation != incarnation
      || known.value().status.state == daemon_state::lost)
    return fail(ec::unavailable, "its consumer \"{}\" has gone", run.consumer);
  return ok();
}

void submissions::taken(const std::shared_ptr<submitted_run>& run,
                        const responder& reply, const result<void>& made) {
  homes_.erase(homes_.find(run->home));
  const auto wanted = check_wanted(*run);
  if (!made) {
    with_.notices.complain("a run is refused: " + made.error().message);
    reply.reply(made.error());
    decided_();
    return;
  }
  with_.archive.add(run->record);
  if (starter_.is_closed()) {
    close_record(with_, *run, run_state::failed,
                 "the coordinator ended before it was taken");
    reply.reply(fail(ec::unavailable, "the coordinator is ending"));
    decided_();
    return;
  }
  if (!wanted) {
    close_record(with_, *run, run_state::cancelled, wanted.error().message);
    reply.reply(wanted.error());
    decided_();
    return;
  }
  with_.notices.log_of(run->id)->info("run {} is queued", run->id);
  with_.notices.run(run->record);
  reply.reply(encode_run_id(run->id));
  queue_.add(run);
  starter_.start();
}

result<payload> submissions::plan(const payload& request) const {
  GRAPHMILL_TRY(const auto def, decode_definition_body(request));
  GRAPHMILL_TRYV(check_taken(def, with_.config));
  GRAPHMILL_TRYV(check_against(def, with_.config.graph->info(),
                               trains_nothing(def) ? data_use::weights_alone
                                                   : data_use::training));
  GRAPHMILL_TRYV(places_.check_names(def));
  GRAPHMILL_TRY(const auto where, places_.now(def));
  plan_reply out;
  for (auto owner : where.owner_of_part)
    out.daemon_of_part.push_back(where.daemons[owner].name);
  for (auto daemon : where.daemon_of_rank)
    out.daemon_of_rank.push_back(where.daemons[daemon].name);
  for (auto daemon : where.samplers)
    out.samplers.push_back(where.daemons[daemon].name);
  for (const auto& replicas : where.replicas_of_part) {
    auto& names = out.replicas_of_part.emplace_back().names;
    for (auto daemon : replicas.daemons)
      names.push_back(where.daemons[daemon].name);
  }
  return encode(out);
}

} // namespace graphmill
