#include "actors/cluster/coordinator/coordinator_state.hpp"
#include "actors/cluster/coordinator/dataset_advice.hpp"
#include "actors/cluster/coordinator/members/coordinator_limits.hpp"
#include "actors/transport/sessions/address.hpp"
#include "messages/words/enumerated.hpp"
#include "partition/dataset/label_sets.hpp"
#include "partition/dataset/meaning/feature_meaning.hpp"
#include "pipelines/definition/definition_checks.hpp"
#include "pipelines/definition/definition_file.hpp"
#include "pipelines/definition/validation/validation.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace graphmill {

result<void> coordinator::check(const definition& def) const {
  if (def.dataset != config_.offer.dataset)
    return fail(ec::invalid_argument,
                "the definition is on dataset \"{0}\", but this cluster serves "
                "\"{1}\"; {2}, or say `--set dataset={1}` if that is meant",
                def.dataset, config_.offer.dataset, how_to_serve_another);
  // A client would have daemons read any file of theirs.
  if (!def.model.weights.empty())
    return fail(ec::invalid_argument,
                "a coordinator reads no files of clients: `graphmill submit` "
                "and `graphmill up` send what `model.weights` names");
  // No daemon knows the labels of all parts.
  if (def.train.balance_classes)
    return fail(ec::invalid_argument,
                "a cluster takes no `train.balance_classes`: give "
                "`train.class_weights`, or train in one process");
  // What a client has not checked: names become names of folders.
  definition_source source;
  source.value = def;
  check_definition(source);
  if (!source.problems.empty())
    return fail(ec::invalid_argument, "the definition is refused: {}",
                source.problems.front().text);
  if (def.name.empty() || def.name.front() == '.'
      || !std::all_of(def.name.begin(), def.name.end(), is_name_character))
    return fail(ec::invalid_argument,
                "the run's name must be of letters, digits, '.', '_' and "
                "'-', and not begin with '.'");
  return check_provable(def, *config_.graph);
}

/// Whether the dataset has what the run needs, as the run sees it.
result<void> coordinator::check_view(const submitted_run& run) {
  return check_against(run.def, run.view.graph->info(),
                       trains_nothing(run.def) ? data_use::weights_alone
                                               : data_use::training);
}

/// A daemon that a run may use, but that the cluster has never had, is a slip
/// of the pen. One that is away need not come, if others will do.
result<void> coordinator::check_names(const definition& def) const {
  for (const auto& name : def.placement.daemons)
    if (!registry_.find(name))
      return fail(ec::invalid_argument,
                  "`placement.daemons` names daemon \"{}\", which is not in "
                  "the cluster: `graphmill status` lists those that are",
                  name);
  return ok();
}

result<placement> coordinator::place_among(const definition& def,
                                           daemon_state up_to) const {
  return place(def, config_.graph->part_count(), registry_.offers(up_to));
}

/// Where a run can go now; else why it cannot, by whom it waits for.
result<placement> coordinator::place_now(const definition& def) const {
  auto now = place_among(def, daemon_state::ready);
  if (now)
    return now;
  if (place_among(def, daemon_state::draining))
    return fail(ec::unavailable,
                "the run needs what is draining: {}; `graphmill drain NAME "
                "--back` takes a daemon into service again",
                enumerated(registry_.names_of(daemon_state::draining)));
  auto reason = now.error();
  for (const auto& daemon : registry_.statuses())
    if (daemon.state == daemon_state::damaged)
      reason.message +=
        fmt::format("; the data of daemon \"{}\" cannot be used: {}",
                    daemon.name, daemon.note);
  if (place_among(def, daemon_state::lost))
    reason.message += fmt::format(
      "; lost: {}", enumerated(registry_.names_of(daemon_state::lost)));
  return reason;
}

/// Whether the queue has room for one more run, from a host.
result<void> coordinator::check_queue(const std::string& home) const {
  const auto waiting = queue_.size() + taking_.size();
  const auto of_host =
    taking_.count(home)
    + static_cast<std::size_t>(std::ranges::count_if(
      queue_, [&home](const auto& run) { return run.home == home; }));
  if (waiting < coordinator_limits::queued
      && of_host < coordinator_limits::queued_of_host)
    return ok();
  return fail(ec::unavailable,
              "{} runs are waiting already, {} of them from your host: submit "
              "it again when some of them are over",
              waiting, of_host);
}

/// Answers when the run is on disk.
result<void> coordinator::submit(const incoming_request& request) {
  GRAPHMILL_TRY(auto def, decode_definition_body(request.data));
  GRAPHMILL_TRYV(check(def)); // What its weights have learnt is seen later.
  GRAPHMILL_TRYV(check_names(def));
  if (ending_)
    return fail(ec::unavailable, "the coordinator is ending");
  // What is draining will be back, so that the run may wait for it.
  if (!place_among(def, daemon_state::ready)
      && !place_among(def, daemon_state::draining))
    return place_now(def).error();
  const auto home = host_group(request.host);
  GRAPHMILL_TRYV(check_queue(home));
  GRAPHMILL_TRY(auto from, resumption_of(request));
  taking_.insert(home);
  submitted_run run;
  run.def = std::move(def);
  run.home = home;
  run.place = next_place_++;
  const auto tell = [me = handle_of<interface>(self_), home,
                     reply = request.reply](result<submitted_run> how) {
    post(me, run_taken{std::make_shared<result<submitted_run>>(std::move(how)),
                       reply, home});
  };
  history_thread_.post(
    [tell, config = config_, run = std::move(run),
     from = std::move(from)]() mutable {
      auto taken = take_run(config, std::move(run), from);
      if (taken)
        taken.value().resumed_place = from.place;
      from.uploaded.reset(); // Its files are of no more use.
      tell(std::move(taken));
    },
    [tell](const error& reason) { tell(reason); });
  return ok();
}

/// Makes a run's folder and its place in the history, or neither.
result<submitted_run> coordinator::take_run(const coordinator_config& config,
                                            submitted_run run,
                                            const resumption& from) {
  GRAPHMILL_TRYV(config.lock->check());
  std::optional<learnt_from> learnt;
  if (from.uploaded) {
    GRAPHMILL_TRY(learnt, from.uploaded->learnt());
  }
  run.view = learnt_view{config.graph};
  GRAPHMILL_TRY(auto names, read_original_names(config.data));
  if (learnt && !trains_nothing(run.def)) {
    GRAPHMILL_TRYV(
      expect_same_relations(names, *learnt,
                            "the run's first weights have learnt from "
                            "another dataset than this cluster serves"));
  } else if (learnt) {
    GRAPHMILL_TRY(run.view,
                  view_by(run.def, *learnt, config.graph, config.data));
  }
  if (run.view.learnt)
    run.def.labels.clear(); // Which the dataset may not have.
  GRAPHMILL_TRYV(check_view(run));
  const auto& def = run.def;
  GRAPHMILL_TRY(auto before,
                checkpoint_before(config, *run.view.graph, def, from));
  auto yaml = definition_yaml(def);
  if (yaml.size() > coordinator_limits::definition_bytes)
    return fail(ec::invalid_argument,
                "the definition has {} bytes as YAML; {} are allowed",
                yaml.size(), coordinator_limits::definition_bytes);
  GRAPHMILL_TRY(auto labels,
                meaning_of_labels(run.view.graph->info(), def.labels));
  GRAPHMILL_TRY(auto features,
                read_feature_meanings(config.data, config.graph->info()));
  GRAPHMILL_TRY(
    run.file, run_file::create(config.runs, def,
                               {config.data,
                                {config.offer.dataset_digest, std::move(labels),
                                 std::move(features), std::move(names)}}));
  if (from.wanted.tensorboard) {
    if (auto kept = run.file->keep_events(); !kept) {
      run.file->discard();
      return kept.error();
    }
  }
  if (before) {
    const auto stays = from.uploaded == nullptr;
    if (auto gone_on = run.file->go_on_from(*before, def, stays); !gone_on) {
      run.file->discard();
      return gone_on.error();
    }
    // What was uploaded is a checkpoint of the run's own from here on.
    run.from_run = stays ? from.wanted.run : run.file->id();
    run.from_checkpoint = from.wanted.checkpoint.empty()
                            ? checkpoint_name(before->state.at)
                            : from.wanted.checkpoint;
    run.from = std::move(before->state);
  }
  run.id = run.file->id();
  run.recovery = run_recovery{run.def.recovery};
  run.record.id = run.id;
  run.record.name = run.def.name;
  run.record.submitted = now_unix();
  const run_history::entry first{run.record, std::move(yaml), standing_of(run)};
  if (auto kept = config.history->put({&first, 1}); !kept) {
    run.file->discard();
    return kept.error();
  }
  return run;
}

void coordinator::on_taken(const run_taken& taken) {
  taking_.erase(taking_.find(taken.home));
  if (!*taken.run) {
    complaints_.add("a run is refused: " + taken.run->error().message,
                    clock::now());
    taken.reply.reply(taken.run->error());
    end_if_done();
    return;
  }
  auto run = std::move(*taken.run).value();
  records_.add(run.record);
  if (ending_) {
    give_up(run.record);
    taken.reply.reply(fail(ec::unavailable, "the coordinator is ending"));
    end_if_done();
    return;
  }
  log_of(run.id)->info("run {} is queued", run.id);
  tell_of(run.record);
  taken.reply.reply(encode_run_id(run.id));
  queue_.push_back(std::move(run));
  start_next();
}

/// Of a run that has come when the coordinator ends: it was not taken.
void coordinator::give_up(run_record record) {
  record.state = run_state::failed;
  record.message = "the coordinator ended before it was taken";
  record.ended = now_unix();
  note(record);
}

result<payload> coordinator::plan(const payload& data) const {
  GRAPHMILL_TRY(const auto def, decode_definition_body(data));
  GRAPHMILL_TRYV(check(def));
  GRAPHMILL_TRYV(check_against(def, config_.graph->info(),
                               trains_nothing(def) ? data_use::weights_alone
                                                   : data_use::training));
  GRAPHMILL_TRYV(check_names(def));
  GRAPHMILL_TRY(const auto where, place_now(def));
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

void coordinator::cancel(const payload& data, const responder& reply) {
  const auto request = decode_cancel_request(data);
  if (!request) {
    reply.reply(request.error());
    return;
  }
  const auto& id = request.value().run;
  const auto queued =
    std::find_if(queue_.begin(), queue_.end(),
                 [&id](const auto& run) { return run.id == id; });
  if (queued != queue_.end() && queued->recovery.waits()) {
    auto run = std::move(*queued);
    queue_.erase(queued);
    conclude(std::move(run),
             fail(ec::cancelled, "cancelled before its next attempt"), true);
    reply.reply(payload{});
  } else if (queued != queue_.end()) {
    auto record = queued->record;
    record.state = run_state::cancelled;
    record.message =
      fmt::format("cancelled before {}",
                  queued->attempt > 1 ? "its next attempt" : "it began");
    record.ended = now_unix();
    queue_.erase(queued);
    note(record);
    reply.reply(payload{});
  } else if (const auto run = active_.find(id)) {
    go_on(run, run->cancel(request.value().now));
    break_search_off(run);
    reply.reply(payload{});
  } else {
    ask_run(id, reply, [](run_record run) -> result<payload> {
      return fail(ec::invalid_argument, "run {} is {} already", run.id,
                  to_string(run.state));
    });
  }
}

} // namespace graphmill
