#include "actors/run/run_summary.hpp"

#include "actors/run/class_report.hpp"
#include "messages/base/printable.hpp"
#include "messages/words/field_name.hpp"
#include "partition/files/json_text.hpp"
#include "pipelines/definition/definition_file.hpp"
#include "pipelines/flow/stage_counters.hpp"
#include "pipelines/health/verdict.hpp"
#include "pipelines/results/kept_checkpoints.hpp"
#include "pipelines/results/run_listing.hpp"
#include "pipelines/results/safetensors.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace graphmill {

namespace {

/// Null without an evaluation, or of numbers.
nlohmann::json accuracy_of(const run_reporter& reporter, phase which) {
  const auto& told = reporter.told(which);
  if (told.is_object() && !told.contains("accuracy"))
    return {};
  const auto metrics = reporter.last(which);
  return metrics ? nlohmann::json(metrics->accuracy()) : nlohmann::json();
}

/// That of the best epoch. What the run went by may be another metric.
nlohmann::json validation_accuracy(const run_outcome& outcome,
                                   const run_reporter& reporter) {
  const auto& best = reporter.best_line();
  if (best.is_object() && best.contains("metric"))
    return best.value("accuracy", nlohmann::json{});
  return outcome.best_validation ? nlohmann::json(*outcome.best_validation)
                                 : accuracy_of(reporter, phase::validation);
}

/// By what the best epoch was chosen; null if there was none.
nlohmann::json chosen_by(const run_reporter& reporter) {
  const auto& best = reporter.best_line();
  return best.is_object() ? best.value(
           "metric", nlohmann::json(to_string(evaluation_metric::accuracy)))
                          : nlohmann::json();
}

/// Metrics of the best epoch's validation; null without one.
nlohmann::json best_validation(const run_reporter& reporter) {
  const auto& best = reporter.best_line();
  return best.is_object() ? evaluation_in(best) : nlohmann::json();
}

/// The threshold of the run, as `--threshold` takes it: that of the best epoch
/// or, without validations, of the test. Null if there is none.
nlohmann::json threshold_in(const run_reporter& reporter) {
  const auto& best = reporter.best_line();
  const auto& told = best.is_object() ? best : reporter.told(phase::test);
  const auto probability = told.is_object()
                             ? told.value("threshold", nlohmann::json{})
                             : nlohmann::json{};
  const auto of = told.is_object() ? told.value("threshold_of", "") : "";
  const auto colon = of.find(':');
  if (!probability.is_number() || colon == std::string::npos)
    return {};
  return fmt::format("{}:{}", probability.get<double>(), of.substr(colon + 1));
}

/// What the cache of remote rows spared; null if there was none.
nlohmann::json cache_of(const work_report& work) {
  if (!work.cache || !work.wire)
    return {};
  const auto& [filling, kept, found] = *work.cache;
  const auto wanted = found.items + work.wire->feature_rows.items;
  return {{"rows_wanted", wanted},
          {"rows_found", found.items},
          {"hit_rate", wanted == 0 ? 0.0 : double(found.items) / wanted},
          {"bytes_saved", found.bytes},
          {"rows_kept", kept.items},
          {"memory_bytes", kept.bytes},
          {"filling_bytes", filling.bytes}};
}

/// What came from disk; null if all was in memory.
nlohmann::json disk_of(const work_report& work) {
  if (!work.disk)
    return {};
  const auto& disk = *work.disk;
  const auto seconds = disk.readers.busy_seconds;
  const auto rate = [seconds](std::uint64_t count) {
    return seconds > 0 ? double(count) / seconds : 0.0;
  };
  return {{"rows_wanted", disk.rows_wanted},
          {"rows_found", disk.rows_found},
          {"rows_shared", disk.rows_shared},
          {"rows_read", disk.readers.items},
          {"hit_rate", disk.rows_wanted == 0
                         ? 0.0
                         : double(disk.rows_found) / double(disk.rows_wanted)},
          {"reads", disk.reads.items},
          {"bytes_read", disk.reads.bytes},
          {"reading_seconds", seconds},
          {"rows_read_per_second", rate(disk.readers.items)},
          {"reads_per_second", rate(disk.reads.items)}};
}

/// A shorter run tells nothing of what limits a longer one: it has hardly begun
/// when it ends.
constexpr double shortest_judged_seconds = 2;

/// What limited a run; without a limit, if it was too short to tell.
verdict verdict_on(const run_result& run) {
  if (run.seconds >= shortest_judged_seconds || run.outcome.train_steps == 0)
    return verdict_of(run.health);
  verdict out;
  out.sentence =
    fmt::format("too little data: the run took {:.1f} s, and what limits a run "
                "shows after {:.0f} s at the earliest",
                run.seconds, shortest_judged_seconds);
  return out;
}

/// The stage that limited a run, or what did so by the verdict; empty if it was
/// too short to tell.
std::string bottleneck_in(const run_result& run,
                          const std::vector<stage_report>& rows,
                          const verdict& said) {
  if (!said.limit.empty())
    return said.limit;
  return run.seconds >= shortest_judged_seconds
           ? bottleneck_of(rows, run.seconds)
           : std::string{};
}

/// A row of what has no workers.
stage_report count_row(const char* name, const item_count& count) {
  stage_report out;
  out.stage = name;
  out.items = count.items;
  out.bytes = count.bytes;
  return out;
}

result<void> write_weights(const run_outcome& outcome, const run_folder& folder,
                           bool trains) {
  if (!outcome.parameters && !outcome.failure && trains)
    return fail(ec::internal, "the weights got lost on the way");
  if (!outcome.parameters)
    return ok(); // There are none to be had.
  return write_safetensors(
    folder.weights(), {*outcome.parameters,
                       {{"format", "graphmill"}, {"digest", outcome.digest}}});
}

/// Removes the checkpoints that a run which has come to its end does not need
/// any more. Those that stay too long take room, and nothing else.
void drop_spare_checkpoints(const run_folder& folder) {
  const auto source = load_record(folder.definition());
  if (!source)
    return;
  if (const auto kept = kept_at_end(source.value().value.checkpoint.keep))
    (void)keep_newest(folder.checkpoints(), kept);
}

/// A run that its user has stopped has not failed; one that is not saved has.
void add_failure(std::optional<error>& to, const error& unsaved) {
  if (!to) {
    to = unsaved;
    return;
  }
  if (to->code == ec::cancelled)
    to->code = unsaved.code;
  to->message += "; and it could not be saved: " + unsaved.message;
}

} // namespace

std::vector<stage_report> table_of(const work_report& work) {
  auto out = work.stages;
  if (const auto& disk = work.disk) {
    out.push_back(disk->readers);
    out.push_back(count_row("disk: rows wanted", {disk->rows_wanted, 0}));
    out.push_back(count_row("disk: rows found", {disk->rows_found, 0}));
    out.push_back(count_row("disk: rows shared", {disk->rows_shared, 0}));
    out.push_back(count_row("disk: reads", disk->reads));
  }
  if (const auto& wire = work.wire) {
    out.push_back(count_row("wire: ids asked", wire->ids_asked));
    out.push_back(
      count_row("wire: sampled neighbours", wire->sampled_neighbours));
    out.push_back(count_row("wire: feature rows", wire->feature_rows));
    out.push_back(count_row("wire: other values", {0, wire->other_bytes}));
    out.push_back(count_row("wire: sampled batches", wire->sampled_batches));
    out.push_back(count_row("wire: sampling sent", wire->sampling_sent));
    out.push_back(count_row("wire: features sent", wire->features_sent));
    out.push_back(count_row("wire: control sent", wire->control_sent));
  }
  if (const auto& checked = work.checked)
    out.push_back(count_row("wire: values checked", *checked));
  if (const auto& cache = work.cache) {
    out.push_back(count_row("wire: cache filling", cache->filling));
    out.push_back(count_row("cache: rows kept", cache->kept));
    out.push_back(count_row("cache: rows found", cache->found));
  }
  return out;
}

std::string render_table(const std::vector<stage_report>& rows,
                         double seconds) {
  std::size_t name = 17;
  for (const auto& stage : rows)
    name = std::max(name, stage.stage.size());
  auto out = fmt::format("{:<{}} {:>8} {:>8} {:>10} {:>6} {:>8} {:>9} {:>9} "
                         "{:>8} {:>8}\n",
                         "stage", name, "replicas", "items", "MB", "busy",
                         "cpu s", "input s", "credit s", "reply s", "restarts");
  for (const auto& stage : rows) {
    // What is counted but has no workers: nothing, if there was none of it.
    if (stage.replicas == 0 && stage.busy_seconds == 0) {
      if (stage.items != 0 || stage.bytes != 0)
        out +=
          format_printable("{:<{}} {:>8} {:>8} {:>10.1f}\n", stage.stage, name,
                           "", stage.items, double(stage.bytes) * 1e-6);
      continue;
    }
    out += format_printable(
      "{:<{}} {:>8} {:>8} {:>10.1f} {:>4.0f} % {:>8.2f} {:>9.2f} {:>9.2f} "
      "{:>8.2f} {:>8}\n",
      stage.stage, name, stage.replicas, stage.items,
      double(stage.bytes) * 1e-6, 100 * stage.utilisation(seconds),
      stage.cpu_seconds, stage.input_wait_seconds, stage.credit_wait_seconds,
      stage.reply_wait_seconds, stage.restarts);
  }
  return out;
}

nlohmann::json table_json(const std::vector<stage_report>& rows) {
  auto out = nlohmann::json::array();
  for (const auto& stage : rows) {
    auto figures = nlohmann::json::object();
    stage_report::fields(stage,
                         [&figures](const char* name, const auto& figure) {
                           figures[user_name(name)] = figure;
                         });
    out.push_back(std::move(figures));
  }
  return out;
}

nlohmann::json summarise(const run_result& run, const run_reporter& reporter,
                         const std::string& folder) {
  const auto& outcome = run.outcome;
  const auto& work = run.work;
  const auto rows = table_of(work);
  const auto said = verdict_on(run);
  // Of steps that nobody has told the health of, there is nothing to judge.
  const auto judged = outcome.train_steps == 0 || tells_of_training(run.health);
  return {
    {"test_accuracy", accuracy_of(reporter, phase::test)},
    {"validation_accuracy", validation_accuracy(outcome, reporter)},
    {"best_epoch", json_or_null(reporter.best_epoch())},
    {"metric", chosen_by(reporter)},
    {"threshold", threshold_in(reporter)},
    {"validation", best_validation(reporter)},
    {"test", reporter.told(phase::test)},
    {"epochs", reporter.epochs()},
    {"seconds", run.seconds},
    {"cpu_seconds", work.cpu_seconds},
    {"steps", outcome.train_steps},
    {"digest", outcome.digest},
    {"peak_memory_bytes", work.peak_memory_bytes},
    {"peak_credit_bytes", work.peak_credit_bytes},
    {"oversize_batches", work.oversize_batches},
    {"retried_batches", work.retried_batches},
    {"bottleneck", bottleneck_in(run, rows, said)},
    {"verdict", run.health.daemons.empty() || !judged
                  ? nlohmann::json()
                  : nlohmann::json(said.sentence)},
    {"stages", table_json(rows)},
    {"cache", cache_of(work)},
    {"disk", disk_of(work)},
    {"cancelled", outcome.failure && outcome.failure->code == ec::cancelled},
    {"error", outcome.failure ? nlohmann::json(outcome.failure->message)
                              : nlohmann::json()},
    {"daemons", nlohmann::json::object()}, // Those of a cluster.
    {"run", folder},
  };
}

saved_run save_run(const run_outcome& outcome, nlohmann::json& summary,
                   run_folder& folder, bool trains) {
  saved_run out;
  out.failure = outcome.failure;
  const auto weights = write_weights(outcome, folder, trains);
  out.has_weights = outcome.parameters && weights;
  if (!weights)
    add_failure(out.failure, weights.error());
  if (out.failure)
    summary["error"] = out.failure->message;
  else if (out.has_weights)
    drop_spare_checkpoints(folder);
  const auto size = size_of_run(folder.path());
  summary["bytes"] = size.all;
  summary["checkpoint_bytes"] = size.checkpoints;
  const auto written = folder.write_summary(summary);
  if (weights && !written) // Else it has been said.
    add_failure(out.failure, written.error());
  return out;
}

} // namespace graphmill
