#include "actors/run/run_summary.hpp"

#include "pipelines/results/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace graphmill {

namespace {

nlohmann::json accuracy_of(const run_reporter& reporter, phase which) {
  const auto metrics = reporter.last(which);
  return metrics ? nlohmann::json(metrics->accuracy()) : nlohmann::json();
}

const stage_report* find_stage(const run_result& run, std::string_view name) {
  const auto it =
    std::find_if(run.stages.begin(), run.stages.end(),
                 [name](const auto& stage) { return stage.stage == name; });
  return it == run.stages.end() ? nullptr : &*it;
}

/// What the cache of remote rows spared; null if there was none.
nlohmann::json cache_of(const run_result& run) {
  const auto* found = find_stage(run, "cache: rows found");
  const auto* came = find_stage(run, "wire: feature rows");
  const auto* kept = find_stage(run, "cache: rows kept");
  const auto* filling = find_stage(run, "wire: cache filling");
  if (found == nullptr || came == nullptr || kept == nullptr
      || filling == nullptr)
    return {};
  const auto wanted = found->items + came->items;
  return {{"rows_wanted", wanted},
          {"rows_found", found->items},
          {"hit_rate", wanted == 0 ? 0.0 : double(found->items) / wanted},
          {"bytes_saved", found->bytes},
          {"rows_kept", kept->items},
          {"memory_bytes", kept->bytes},
          {"filling_bytes", filling->bytes}};
}

result<void> write_weights(const run_outcome& outcome,
                           const run_folder& folder) {
  if (!outcome.parameters && !outcome.failure)
    return fail(ec::internal, "the weights got lost on the way");
  if (!outcome.parameters)
    return ok(); // There are none to be had.
  return write_safetensors(
    folder.weights(), {*outcome.parameters,
                       {{"format", "graphmill"}, {"digest", outcome.digest}}});
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

/// What came from disk; null if all was in memory.
nlohmann::json disk_of(const run_result& run) {
  const auto* reader = find_stage(run, "row reader");
  const auto* wanted = find_stage(run, "disk: rows wanted");
  const auto* found = find_stage(run, "disk: rows found");
  const auto* shared = find_stage(run, "disk: rows shared");
  const auto* reads = find_stage(run, "disk: reads");
  if (reader == nullptr || wanted == nullptr || found == nullptr
      || shared == nullptr || reads == nullptr)
    return {};
  const auto seconds = reader->busy_seconds;
  const auto rate = [seconds](std::uint64_t count) {
    return seconds > 0 ? double(count) / seconds : 0.0;
  };
  return {{"rows_wanted", wanted->items},
          {"rows_found", found->items},
          {"rows_shared", shared->items},
          {"rows_read", reader->items},
          {"hit_rate", wanted->items == 0
                         ? 0.0
                         : double(found->items) / double(wanted->items)},
          {"reads", reads->items},
          {"bytes_read", reads->bytes},
          {"reading_seconds", seconds},
          {"rows_read_per_second", rate(reader->items)},
          {"reads_per_second", rate(reads->items)}};
}

} // namespace

std::string render_stages(const run_result& run) {
  std::size_t name = 17;
  for (const auto& stage : run.stages)
    name = std::max(name, stage.stage.size());
  auto out = fmt::format("{:<{}} {:>8} {:>8} {:>10} {:>6} {:>8} {:>9} {:>9} "
                         "{:>8}\n",
                         "stage", name, "replicas", "items", "MB", "busy",
                         "cpu s", "input s", "credit s", "restarts");
  for (const auto& stage : run.stages) {
    // What is counted but has no workers: nothing, if there was none of it.
    if (stage.replicas == 0 && stage.busy_seconds == 0) {
      if (stage.items != 0 || stage.bytes != 0)
        out += fmt::format("{:<{}} {:>8} {:>8} {:>10.1f}\n", stage.stage, name,
                           "", stage.items, double(stage.bytes) * 1e-6);
      continue;
    }
    out += fmt::format("{:<{}} {:>8} {:>8} {:>10.1f} {:>4.0f} % {:>8.2f} "
                       "{:>9.2f} {:>9.2f} {:>8}\n",
                       stage.stage, name, stage.replicas, stage.items,
                       double(stage.bytes) * 1e-6,
                       100 * stage.utilisation(run.seconds), stage.cpu_seconds,
                       stage.input_wait_seconds, stage.credit_wait_seconds,
                       stage.restarts);
  }
  return out;
}

nlohmann::json stages_json(const run_result& run) {
  auto out = nlohmann::json::array();
  for (const auto& stage : run.stages) {
    auto one = nlohmann::json::object();
    one["stage"] = stage.stage;
    for_each_figure(stage, [&one](const char* name, const auto& figure) {
      one[name] = figure;
    });
    out.push_back(std::move(one));
  }
  return out;
}

nlohmann::json summarise(const run_result& run, const run_reporter& reporter,
                         const std::string& folder) {
  const auto& outcome = run.outcome;
  return {
    {"test_accuracy", accuracy_of(reporter, phase::test)},
    {"validation_accuracy", outcome.best_validation
                              ? nlohmann::json(*outcome.best_validation)
                              : accuracy_of(reporter, phase::validation)},
    {"epochs", reporter.epochs()},
    {"seconds", run.seconds},
    {"cpu_seconds", run.cpu_seconds},
    {"steps", outcome.train_steps},
    {"digest", outcome.digest},
    {"peak_memory_bytes", run.peak_memory_bytes},
    {"peak_credit_bytes", run.peak_credit_bytes},
    {"oversize_batches", run.oversize_batches},
    {"retried_batches", run.retried_batches},
    {"bottleneck", bottleneck_of(run.stages, run.seconds)},
    {"stages", stages_json(run)},
    {"cache", cache_of(run)},
    {"disk", disk_of(run)},
    {"cancelled", outcome.failure && outcome.failure->code == ec::cancelled},
    {"error", outcome.failure ? nlohmann::json(outcome.failure->message)
                              : nlohmann::json()},
    {"daemons", nlohmann::json::object()}, // Those of a cluster.
    {"run", folder},
  };
}

saved_run save_run(const run_outcome& outcome, nlohmann::json& summary,
                   run_folder& folder) {
  saved_run out;
  out.failure = outcome.failure;
  const auto weights = write_weights(outcome, folder);
  out.has_weights = outcome.parameters && weights;
  if (!weights)
    add_failure(out.failure, weights.error());
  if (out.failure)
    summary["error"] = out.failure->message;
  const auto written = folder.write_summary(summary);
  if (weights && !written) // Else it has been said.
    add_failure(out.failure, written.error());
  return out;
}

} // namespace graphmill
