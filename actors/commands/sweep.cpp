#include "actors/commands/sweep.hpp"

#include "actors/cluster/client/submit_run.hpp"
#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/commands/options/exit_codes.hpp"
#include "actors/commands/text/run_watcher.hpp"
#include "actors/commands/text/sweep_table.hpp"
#include "actors/process/say.hpp"
#include "messages/base/pluralized.hpp"
#include "pipelines/definition/dataset_search.hpp"
#include "pipelines/definition/definition_file.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace graphmill {

namespace {

/// Waits for a run of a sweep; its own rows are not shown.
result<run_record> await_run(cluster_client& client, const std::string& run,
                             bool quiet) {
  run_watcher::settings with;
  with.run = run;
  with.table = nullptr;
  with.quiet = quiet;
  return run_watcher{client, std::move(with)}.follow();
}

/// Those that are queued are in the rows of the plan then, whatever happens.
result<void> queue_runs(cluster_client& client, sweep_plan& plan,
                        const sweep_options& options) {
  std::size_t count = 0;
  for (const auto& each : plan.runs) {
    auto id = submit_run(client, each.def, options.tensorboard,
                         show_progress(options.quiet));
    if (!id && count == 0)
      return id.error();
    if (!id)
      return fail(id.error().code,
                  "{} of {} are queued, and go on: `graphmill runs` shows "
                  "them; {}",
                  count, pluralized(plan.runs.size(), "run"),
                  id.error().message);
    plan.rows[each.row].runs.push_back({std::move(id).value(), each.def.seed});
    ++count;
  }
  if (!options.quiet)
    say(stderr, "{} submitted to {}\n", pluralized(count, "run"),
        client.address());
  return ok();
}

/// What has become of those that were waited for is in their rows then,
/// whatever happens.
/// @returns a sentence about each that has not finished.
result<std::string> await_runs(cluster_client& client,
                               std::vector<sweep_row>& rows, bool quiet) {
  std::string failures;
  for (auto& row : rows)
    for (auto& run : row.runs) {
      const auto ended = await_run(client, run.id, quiet);
      if (!ended && ended.error().code == ec::cancelled)
        return fail(
          ec::cancelled,
          "waits no more; the runs go on: `graphmill runs` shows them");
      if (!ended)
        return ended.error();
      const auto& record = ended.value();
      run = read_sweep_run(record, run.seed);
      if (record.state != run_state::finished)
        failures +=
          fmt::format("{}run {} {}: {}", failures.empty() ? "" : "\n",
                      record.id, to_string(record.state), record.message);
    }
  return failures;
}

/// For --json. @param failures As `await_runs` returned them.
nlohmann::json line_of(const std::vector<sweep_row>& rows,
                       const result<std::string>& failures) {
  nlohmann::json line{{"sweep", sweep_json(rows)}, {"error", nullptr}};
  if (!failures) {
    line["error"] = failures.error().message;
    line["code"] = to_string(failures.error().code);
  } else if (!failures.value().empty()) {
    line["error"] = failures.value();
  }
  return line;
}

} // namespace

result<sweep_plan> plan_sweep(const sweep_options& options) {
  std::vector<sweep_axis> axes;
  for (const auto& text : options.grid) {
    GRAPHMILL_TRY(auto axis, parse_sweep_axis(text));
    if (axis.field == "evaluate.metric")
      return fail(ec::invalid_argument,
                  "--grid evaluate.metric: runs are compared by their metric, "
                  "so all have the same; set it with --set, and read the "
                  "others in each run's summary");
    if (axis.field == "seed" && options.repeat > 1)
      return fail(ec::invalid_argument,
                  "--grid seed and --repeat exclude each other: each repeat "
                  "has the next seed");
    for (const auto& set : options.overrides)
      if (set.starts_with(axis.field + "="))
        return fail(ec::invalid_argument,
                    "--grid {0} and --set {0} exclude each other: leave one of "
                    "them out",
                    axis.field);
    axes.push_back(std::move(axis));
  }
  GRAPHMILL_TRY(auto settings,
                sweep_combinations(axes, most_sweep_runs / options.repeat));
  sweep_plan out;
  for (auto& chosen : settings) {
    GRAPHMILL_TRY(auto source,
                  load_definition(options.file, options.overrides, chosen));
    GRAPHMILL_TRYV(take_name_if_there(source));
    for (std::uint32_t i = 0; i < options.repeat; ++i) {
      out.runs.push_back({out.rows.size(), source.value});
      ++source.value.seed;
    }
    out.rows.push_back({std::move(chosen), {}});
  }
  return out;
}

result<int> run_sweep(cluster_client& client, sweep_plan plan,
                      const sweep_options& options) {
  auto& rows = plan.rows;
  const auto queued = queue_runs(client, plan, options);
  std::erase_if(rows, [](const sweep_row& row) { return row.runs.empty(); });
  if (!queued && rows.empty())
    return queued.error();
  const auto failures = queued ? await_runs(client, rows, options.quiet)
                               : result<std::string>{queued.error()};
  sort_sweep(rows);
  if (!options.quiet)
    say_lines(options.json ? stderr : stdout, sweep_text(rows));
  if (options.json)
    say("{}\n", one_line(line_of(rows, failures)));
  if (!failures)
    return say_failure(failures.error());
  if (failures.value().empty())
    return 0;
  say_sentence(failures.value());
  return exit_failure;
}

} // namespace graphmill
