#include "actors/commands/sweep.hpp"

#include "actors/cluster/client/submit_run.hpp"
#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/commands/options/exit_codes.hpp"
#include "actors/commands/text/run_watcher.hpp"
#include "actors/commands/text/sweep_table.hpp"
#include "actors/process/say.hpp"
#include "messages/base/pluralized.hpp"
#include "pipelines/definition/definition_file.hpp"

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

} // namespace

result<sweep_plan> plan_sweep(const sweep_options& options) {
  std::vector<sweep_axis> axes;
  for (const auto& text : options.grid) {
    GRAPHMILL_TRY(auto axis, parse_sweep_axis(text));
    axes.push_back(std::move(axis));
  }
  GRAPHMILL_TRY(auto settings,
                sweep_combinations(axes, most_sweep_runs / options.repeat));
  sweep_plan out;
  for (auto& chosen : settings) {
    auto overrides = options.overrides;
    overrides.insert(overrides.end(), chosen.begin(), chosen.end());
    GRAPHMILL_TRY(auto source, load_definition(options.file, overrides));
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
  std::vector<std::string> ids;
  for (const auto& each : plan.runs) {
    auto id = submit_run(client, each.def, options.tensorboard,
                         show_progress(options.quiet));
    if (!id)
      return fail(id.error().code, "{} of {} are queued, and go on; {}",
                  ids.size(), pluralized(plan.runs.size(), "run"),
                  id.error().message);
    ids.push_back(std::move(id).value());
  }
  if (!options.quiet)
    say(stderr, "{} submitted to {}\n", pluralized(plan.runs.size(), "run"),
        client.address());
  std::string failures;
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    const auto run = await_run(client, ids[i], options.quiet);
    if (!run && run.error().code == ec::cancelled)
      return fail(ec::cancelled,
                  "waits no more; the runs go on: `graphmill runs` shows them");
    if (!run)
      return run.error();
    const auto& record = run.value();
    const auto& [row, def] = plan.runs[i];
    plan.rows[row].runs.push_back(read_sweep_run(record, def.seed));
    if (record.state != run_state::finished)
      failures +=
        fmt::format("{}run {} {}: {}", failures.empty() ? "" : "\n", record.id,
                    to_string(record.state), record.message);
  }
  sort_sweep(plan.rows);
  if (!options.quiet)
    say_lines(options.json ? stderr : stdout, sweep_text(plan.rows));
  if (options.json)
    say("{}\n",
        one_line({{"sweep", sweep_json(plan.rows)},
                  {"error", failures.empty() ? nlohmann::json()
                                             : nlohmann::json(failures)}}));
  if (failures.empty())
    return 0;
  say_sentence(failures);
  return exit_failure;
}

} // namespace graphmill
