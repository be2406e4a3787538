#include "actors/commands/sweep.hpp"

#include "actors/cluster/client/submit_run.hpp"
#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/commands/options/exit_codes.hpp"
#include "actors/commands/text/run_watcher.hpp"
#include "actors/commands/text/sweep_table.hpp"
#include "actors/process/say.hpp"
#include "messages/base/pluralized.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <span>
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
      return fail(
        id.error().code,
        "{} of {} are queued and go on: `graphmill runs` shows them; {}", count,
        pluralized(plan.runs.size(), "run"), id.error().message);
    plan.rows[each.row].runs.push_back({std::move(id).value(), each.def.seed});
    ++count;
  }
  if (!options.quiet)
    say(stderr, "{} submitted to {}\n", pluralized(count, "run"),
        client.address());
  return ok();
}

/// Waits for a run, and reads what has become of it.
/// @param failures Gets a sentence if it has not finished.
result<void> await_into(cluster_client& client, sweep_run& run, bool quiet,
                        std::string& failures) {
  const auto ended = await_run(client, run.id, quiet);
  if (!ended && ended.error().code == ec::cancelled)
    return fail(ec::cancelled,
                "stopped waiting; the runs go on: `graphmill runs` shows them");
  if (!ended)
    return ended.error();
  const auto& record = ended.value();
  run = read_sweep_run(record, run.seed);
  if (record.state != run_state::finished)
    failures += fmt::format("{}run {} {}: {}", failures.empty() ? "" : "\n",
                            record.id, to_string(record.state), record.message);
  return ok();
}

/// What has become of those that were waited for is in their rows then,
/// whatever happens.
/// @returns a sentence about each that has not finished.
result<std::string> await_runs(cluster_client& client,
                               std::vector<sweep_row>& rows, bool quiet) {
  std::string failures;
  for (auto& row : rows)
    for (auto& run : row.runs)
      GRAPHMILL_TRYV(await_into(client, run, quiet, failures));
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

/// The definition of a run in the queue.
definition& definition_of_run(sweep_plan& plan, std::size_t row,
                              std::uint64_t seed) {
  return std::ranges::find_if(plan.runs,
                              [&](const sweep_plan::planned_run& run) {
                                return run.row == row && run.def.seed == seed;
                              })
    ->def;
}

/// The rows of a rung whose validation is the best, by their places in the
/// plan: one in `halving`.
result<std::vector<std::size_t>>
best_rows(const sweep_plan& plan, std::uint32_t epochs, std::uint32_t halving) {
  std::vector<std::pair<double, std::size_t>> found;
  std::size_t among = 0;
  for (std::size_t i = 0; i < plan.rows.size(); ++i) {
    if (plan.rows[i].epochs != epochs)
      continue;
    ++among;
    if (const auto value = validation_of(plan.rows[i]))
      found.emplace_back(-*value, i);
  }
  if (found.empty())
    return fail(ec::invalid_data,
                "--halving compares validations, and no run has one");
  std::ranges::stable_sort(found, {}, &std::pair<double, std::size_t>::first);
  found.resize(std::min(found.size(), (among + halving - 1) / halving));
  std::vector<std::size_t> out;
  for (const auto& [unused, row] : found)
    out.push_back(row);
  return out;
}

/// Runs of a rung that the cluster goes on with. It takes few such runs at a
/// time, for each holds memory: then the first of them is waited for.
class rung_climb {
public:
  rung_climb(cluster_client& client, const sweep_options& options)
    : client_(client), options_(options) {}

  result<void> go_on_with(sweep_run& run, const definition& def) {
    for (;;) {
      auto id = client_.resume(def, {.run = run.id,
                                     .with_changes = true,
                                     .tensorboard = options_.tensorboard});
      if (id) {
        run.id = std::move(id).value();
        under_way_.push_back(&run);
        return ok();
      }
      if (id.error().code != ec::unavailable || under_way_.empty())
        return id.error();
      GRAPHMILL_TRYV(await_first());
    }
  }

  /// @returns a sentence about each run that has not finished.
  result<std::string> await_all() {
    while (!under_way_.empty())
      GRAPHMILL_TRYV(await_first());
    return failures_;
  }

private:
  result<void> await_first() {
    auto& run = *under_way_.front();
    under_way_.erase(under_way_.begin());
    return await_into(client_, run, options_.quiet, failures_);
  }

  cluster_client& client_;
  const sweep_options& options_;
  std::vector<sweep_run*> under_way_;
  std::string failures_;
};

/// Goes on with the runs of the best rows. Those that `train.patience` has
/// ended stay as they are.
result<std::string> climb_rung(cluster_client& client, sweep_plan& plan,
                               std::span<const std::size_t> best,
                               std::uint32_t epochs,
                               const sweep_options& options) {
  rung_climb climbs{client, options};
  for (const auto at : best) {
    auto& row = plan.rows[at];
    for (auto& run : row.runs) {
      if (run.state != run_state::finished || run.epochs < row.epochs)
        continue;
      auto& def = definition_of_run(plan, at, run.seed);
      def.train.epochs = epochs;
      GRAPHMILL_TRYV(climbs.go_on_with(run, def));
    }
    row.epochs = epochs;
  }
  return climbs.await_all();
}

/// Waits for all, and goes on with the best where --halving says so.
/// @returns a sentence about each run that has not finished.
result<std::string> climb(cluster_client& client, sweep_plan& plan,
                          const sweep_options& options) {
  GRAPHMILL_TRY(auto failures, await_runs(client, plan.rows, options.quiet));
  for (std::size_t rung = 1; rung < plan.rungs.size(); ++rung) {
    const auto epochs = plan.rungs[rung];
    GRAPHMILL_TRY(const auto best,
                  best_rows(plan, plan.rungs[rung - 1], options.halving));
    if (!options.quiet)
      say(stderr, "the best {} go on to epoch {}\n",
          pluralized(best.size(), "setting"), epochs);
    GRAPHMILL_TRY(const auto more,
                  climb_rung(client, plan, best, epochs, options));
    failures += (failures.empty() || more.empty() ? "" : "\n") + more;
  }
  return failures;
}

} // namespace

result<int> run_sweep(cluster_client& client, sweep_plan plan,
                      const sweep_options& options) {
  auto& rows = plan.rows;
  const auto queued = queue_runs(client, plan, options);
  if (!queued)
    std::erase_if(rows, [](const sweep_row& row) { return row.runs.empty(); });
  if (!queued && rows.empty())
    return queued.error();
  const auto failures =
    queued ? climb(client, plan, options) : result<std::string>{queued.error()};
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
