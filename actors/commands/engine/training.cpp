#include "actors/commands/engine/training.hpp"

#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/commands/options/run_options.hpp"
#include "actors/commands/options/storage_options.hpp"
#include "actors/commands/text/summary_text.hpp"
#include "actors/process/logger.hpp"
#include "actors/process/say.hpp"
#include "actors/run/run_reporter.hpp"
#include "actors/run/run_summary.hpp"
#include "messages/base/pluralized.hpp"
#include "pipelines/definition/definition_file.hpp"
#include "pipelines/definition/sizes/trainer_sizes.hpp"
#include "pipelines/health/board_trace.hpp"
#include "pipelines/health/trace_events.hpp"
#include "pipelines/results/checkpoint.hpp"

#include <nlohmann/json.hpp>
#include <spdlog/logger.h>

#include <cstdio>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

/// Saves what there is, and tells what became of the run.
/// @param seconds That it took before, in other processes.
/// @param sizes Since when it has had how many trainers, if that may change.
result<int> conclude(const training_options& options, const run_result& run,
                     const run_reporter& reporter, run_folder& folder,
                     double seconds, const std::vector<size_change>& sizes) {
  auto summary = summarise(run, reporter, folder.path().string());
  summary["seconds"] = run.seconds + seconds;
  if (!sizes.empty())
    summary["sizes"] = sizes_json(sizes);
  const auto saved = save_run(run.outcome, summary, folder);
  const auto& failure = saved.failure;
  if (!options.quiet && (!failure || failure->code == ec::cancelled))
    say_lines(options.json ? stderr : stdout, summary_text(summary));
  if (options.json)
    say("{}\n", one_line(summary));
  if (!failure)
    return 0;
  const auto kept = checkpoints_in(folder.checkpoints());
  return say_failure(
    fail(failure->code, "{}; {} so far are in {}{}", failure->message,
         saved.has_weights ? "weights and metrics" : "metrics",
         folder.path().string(),
         kept.empty()
           ? ""
           : fmt::format(
             "; `graphmill resume {}` continues from its last checkpoint, {}",
             folder.path().string(), kept.front())));
}

/// An attempt is prepared: only now may files of its run change.
/// @param first What is to be done before the first attempt; may be empty.
result<void> files_prepared(const std::function<result<void>()>& first,
                            const definition& def, run_folder& folder,
                            const std::vector<size_change>& sizes) {
  if (first)
    GRAPHMILL_TRYV(first());
  return def.trainer.is_elastic() ? folder.write_sizes(sizes) : ok();
}

/// Trains by one attempt for each number of trainers that `trainer.sizes` has.
/// @param sizes Since when it has had how many; attempts are added.
/// @param about What its checkpoints say; the seconds are of other processes.
/// @returns the last attempt, with the work and the seconds of all.
result<run_result> run_attempts(local_run_config config, run_folder& folder,
                                checkpoint about,
                                std::vector<size_change>& sizes,
                                std::optional<signal_watch>& signals) {
  run_result all;
  const auto seconds_before = about.seconds;
  for (;;) {
    const auto here = config.from
                        ? run_point{config.from->at.epoch, config.from->at.step}
                        : run_point{};
    const auto trainers =
      size_at(config.def, here).value_or(config.def.trainer.replicas);
    if (config.def.trainer.is_elastic()) {
      note_size(sizes, {here, trainers});
      config.log->info(
        "the run has {} after {} and {}", pluralized(trainers, "trainer"),
        pluralized(here.epoch, "epoch"), pluralized(here.step, "step"));
    }
    auto attempt = config;
    config.from.reset();
    config.on_prepared = {}; // Once for all attempts.
    attempt.on_prepared = [&, first = std::move(attempt.on_prepared)] {
      return files_prepared(first, config.def, folder, sizes);
    };
    attempt.def = sized(config.def, trainers);
    attempt.pause_at = next_change(config.def, here);
    about.world = static_cast<rank_id>(trainers);
    about.sizes = sizes;
    about.seconds = seconds_before + all.seconds;
    const auto writer = keep_checkpoints(
      attempt.observer, config.def,
      {.folder = folder.checkpoints(), .about = about, .log = config.log},
      [&folder](std::int32_t epoch) { return folder.metrics_until(epoch); });
    auto run = run_locally(std::move(attempt), signals);
    if (writer)
      writer->finish();
    if (!run)
      return run.error();
    run.value().seconds += all.seconds;
    run.value().work.add(all.work);
    all = std::move(run).value();
    if (!all.outcome.paused || all.outcome.failure)
      return all;
    config.from = std::exchange(all.outcome.paused, std::nullopt);
  }
}

/// What the actors of a run in this process did last, to a file.
result<void> write_trace(const gauge_board& actors, const run_folder& folder,
                         const training_options& options) {
  daemon_trace here;
  here.name = "graphmill train";
  for (auto more = true; more;) {
    auto page = trace_of(actors, here.next, trace_limits::spans);
    more = page.more;
    here.take(std::move(page));
  }
  run_trace trace{folder.path().filename().string(), {}, {}};
  trace.daemons.push_back(std::move(here));
  trace.align();
  GRAPHMILL_TRYV(write_trace_file(trace, options.trace));
  if (!options.quiet)
    say(options.json ? stderr : stdout,
        "trace: {}, {} in {}; open it in ui.perfetto.dev or "
        "chrome://tracing\n",
        options.trace, pluralized(steps_in(trace), "training step"),
        pluralized(trace.daemons.front().size(), "span"));
  return ok();
}

} // namespace

void add_training_options(CLI::App& command, training_options& options) {
  add_no_verify_option(command, options.no_verify);
  add_storage_options(command, options.storage);
  command.add_flag("--json", options.json,
                   "End the output with one line of JSON");
  command.add_flag("-q,--quiet", options.quiet,
                   "No progress, no table; errors only");
}

result<int> train_in(run_folder& folder, local_run_config config,
                     const std::string& dataset_digest, part_id parts,
                     const training_options& options, checkpoint* before) {
  config.verify = !options.no_verify;
  config.storage = options.storage;
  GRAPHMILL_TRY(config.log, make_logger(folder.log()));
  auto* table = options.quiet ? nullptr : options.json ? stderr : stdout;
  run_reporter reporter{table, show_progress(options.quiet), &folder};
  reporter.log_to(config.log);
  config.observer = reporter.observer();
  checkpoint about;
  about.definition = definition_yaml(config.def);
  about.dataset_digest = dataset_digest;
  about.data = folder.from().data;
  about.parts = parts;
  std::vector<size_change> sizes;
  if (before != nullptr) {
    about.seconds = before->seconds;
    if (config.def.trainer.is_elastic())
      sizes = sizes_until(*before);
    reporter.go_on_after(before->metrics);
    config.from = std::move(before->state);
    const auto& at = config.from->at;
    config.log->info(
      "the run continues from checkpoint {}, after {} training steps",
      checkpoint_name(at), at.train_steps);
  }
  const auto seconds = about.seconds;
  std::optional<signal_watch> signals; // Until all is saved.
  const auto run =
    run_attempts(std::move(config), folder, about, sizes, signals);
  reporter.end_table(); // A run that was stopped is within a phase.
  if (!run)
    return run.error();
  const auto code =
    conclude(options, run.value(), reporter, folder, seconds, sizes);
  if (options.trace.empty())
    return code;
  const auto traced = write_trace(*run.value().actors, folder, options);
  return traced ? code : say_failure(traced.error());
}

} // namespace graphmill
