#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/cluster_options.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/commands/options/time_text.hpp"
#include "actors/http/api/status_json.hpp"
#include "actors/process/say.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

namespace graphmill {

namespace {

struct runs_options {
  cluster_options cluster;
  std::string run;
  std::uint32_t limit = 20;
  std::string before;
};

std::string accuracy_text(const run_record& run) {
  const auto summary = summary_json(run);
  if (!summary.is_object())
    return "-";
  const auto found = summary.find("test_accuracy");
  return found != summary.end() && found->is_number()
           ? fmt::format("{:.4f}", found->get<double>())
           : "-";
}

/// Of a run that is on: so far.
std::string time_taken(const run_record& run) {
  if (run.started.count() <= 0)
    return "-";
  const auto end = run.ended.count() > 0 ? run.ended : now_unix();
  return duration_text(std::max(end - run.started, unix_time{0}));
}

void print_runs(const std::vector<run_record>& runs) {
  std::size_t id = 3;
  for (const auto& run : runs)
    id = std::max(id, run.id.size());
  say("{:<{}}  {:<9}  {:<19}  {:>12}  {:>8}\n", "run", id, "state", "submitted",
      "time", "accuracy");
  for (const auto& run : runs)
    say("{:<{}}  {:<9}  {:<19}  {:>12}  {:>8}{}{}\n", run.id, id,
        to_string(run.state), time_text(run.submitted), time_taken(run),
        accuracy_text(run), run.message.empty() ? "" : "  ", run.message);
}

/// Asks for page after page until there are enough.
result<runs_reply> list(cluster_client& client, const runs_options& options) {
  runs_reply out;
  auto before = options.before;
  do {
    const auto left =
      options.limit - static_cast<std::uint32_t>(out.runs.size());
    GRAPHMILL_TRY(auto page, client.runs({{}, left, before}));
    out.more = page.more;
    if (page.runs.size() > left || (page.more && page.runs.empty()))
      return fail(ec::invalid_data, "the coordinator sent {} runs, not {}",
                  page.runs.size(), left);
    for (auto& run : page.runs)
      out.runs.push_back(std::move(run));
    if (!out.runs.empty())
      before = out.runs.back().id;
  } while (out.more && out.runs.size() < options.limit);
  return out;
}

result<int> runs(const runs_options& options) {
  GRAPHMILL_TRY(auto client, connect(options.cluster, "runs"));
  runs_reply found;
  if (options.run.empty()) {
    GRAPHMILL_TRY(found, list(client, options));
  } else {
    GRAPHMILL_TRY(auto record, client.run(options.run));
    found.runs.push_back(std::move(record));
  }
  if (options.cluster.json) {
    say("{}\n", one_line(run_list_json(found)));
  } else if (found.runs.empty()) {
    say("no {}runs yet; `graphmill submit` gives the cluster one\n",
        options.before.empty() ? "" : "older ");
  } else {
    print_runs(found.runs);
    if (found.more)
      say("older ones: graphmill runs --before {}\n", found.runs.back().id);
  }
  return 0;
}

} // namespace

void add_runs_command(command_line& cli) {
  auto options = std::make_shared<runs_options>();
  auto* command =
    cli.app.add_subcommand("runs", "List the runs of a cluster, latest first");
  command->add_option("run", options->run, "Id of one run (default: all)");
  command->add_option("-n,--limit", options->limit, "At most so many runs")
    ->check(CLI::Range(1u, 1'000'000u))
    ->capture_default_str();
  command
    ->add_option("--before", options->before,
                 "Begin with those older than this run: the next page")
    ->excludes("run");
  add_cluster_options(*command, options->cluster);
  command->callback(
    [&cli, options] { cli.run = [options] { return runs(*options); }; });
}

} // namespace graphmill
