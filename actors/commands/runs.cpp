#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/cluster_options.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/commands/options/time_text.hpp"
#include "actors/commands/text/local_runs.hpp"
#include "actors/process/say.hpp"
#include "messages/base/pluralized.hpp"
#include "messages/words/byte_text.hpp"
#include "pipelines/figures/status_json.hpp"
#include "pipelines/results/run_listing.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

struct runs_options {
  cluster_options cluster;
  std::string run;
  std::uint32_t limit = 20;
  std::string before;
  bool local = false; ///< The runs in a folder of this machine.
  std::filesystem::path folder = "runs";
  std::vector<std::string> remove; ///< Names of runs, and ages.
  bool dry_run = false;            ///< Say what would be removed.
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

/// What a run came to on the test split by the metric that it goes by, if that
/// is not the accuracy; else empty.
std::string metric_text(const run_record& run) {
  const auto summary = summary_json(run);
  if (!summary.is_object())
    return "";
  const auto metric = summary.value("metric", nlohmann::json{});
  if (!metric.is_string() || metric == "accuracy")
    return "";
  const auto name = metric.get<std::string>();
  const auto test = summary.value("test", nlohmann::json{});
  const auto value =
    test.is_object() ? test.value(name, nlohmann::json{}) : nlohmann::json{};
  return value.is_number() ? fmt::format("{} {:.4f}", name, value.get<double>())
                           : name + " -";
}

/// Of a run that is on: so far.
std::string time_taken(const run_record& run) {
  if (run.started.count() <= 0)
    return "-";
  const auto end = run.ended.count() > 0 ? run.ended : now_unix();
  return duration_text(std::max(end - run.started, unix_time{0}));
}

/// The column of metrics is there if a run has another one than accuracy.
void print_runs(const std::vector<run_record>& runs) {
  std::size_t id = 3;
  std::size_t metric = 0;
  for (const auto& run : runs) {
    id = std::max(id, run.id.size());
    metric = std::max(metric, metric_text(run).size());
  }
  const auto beside = [metric](const std::string& text) {
    return metric == 0 ? "" : fmt::format("  {:<{}}", text, metric);
  };
  say("{:<{}}  {:<9}  {:<19}  {:>12}  {:>8}{}\n", "run", id, "state",
      "submitted", "time", "accuracy", beside("metric"));
  for (const auto& run : runs)
    say("{:<{}}  {:<9}  {:<19}  {:>12}  {:>8}{}{}{}\n", run.id, id,
        to_string(run.state), time_text(run.submitted), time_taken(run),
        accuracy_text(run), beside(metric_text(run)),
        run.message.empty() ? "" : "  ", run.message);
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

/// The runs that a name or an age stands for.
result<std::vector<listed_run>> removable(const std::vector<listed_run>& all,
                                          const std::string& wanted) {
  std::vector<listed_run> out;
  const auto named = std::ranges::find(all, wanted, &listed_run::name);
  if (named != all.end())
    return std::vector{*named};
  const auto age = age_of(wanted);
  if (!age)
    return fail(ec::invalid_argument,
                "--remove {}: neither a run in the folder, which `graphmill "
                "runs --local` lists, nor an age such as 12h, 30d or 8w",
                wanted);
  for (const auto& run : all)
    if (run.has_ended() && run.changed < now_unix() - *age)
      out.push_back(run);
  return out;
}

/// Removes what is to go. A run that cannot be removed does not keep the
/// others, and is told at the end.
result<int> remove_local(const runs_options& options) {
  GRAPHMILL_TRY(const auto all, list_runs(options.folder));
  std::vector<listed_run> chosen;
  for (const auto& wanted : options.remove) {
    GRAPHMILL_TRY(const auto some, removable(all, wanted));
    for (const auto& run : some)
      if (std::ranges::find(chosen, run.name, &listed_run::name)
          == chosen.end())
        chosen.push_back(run);
  }
  auto removed = nlohmann::json::array();
  std::uint64_t bytes = 0;
  std::string failed;
  for (const auto& run : chosen) {
    const auto gone = options.dry_run ? result<run_size>{run.size}
                                      : remove_run(options.folder, run.name);
    if (!gone) {
      failed += (failed.empty() ? "" : "; ") + gone.error().message;
      continue;
    }
    bytes += gone.value().all;
    removed.push_back(run.name);
    if (!options.cluster.json)
      say("{} {}, {} ({})\n", options.dry_run ? "would remove" : "removed",
          (options.folder / run.name).string(), to_string(run.state),
          byte_text(gone.value().all));
  }
  if (options.cluster.json)
    say("{}\n", one_line({{"removed", removed},
                          {"bytes", bytes},
                          {"dry_run", options.dry_run}}));
  else
    say("{}{}: {}\n", options.dry_run ? "nothing is removed: " : "",
        pluralized(removed.size(), "run"), byte_text(bytes));
  if (!failed.empty())
    return fail(ec::unavailable, "{}", failed);
  return 0;
}

result<int> list_local(const runs_options& options) {
  GRAPHMILL_TRY(const auto all, list_runs(options.folder));
  if (options.cluster.json)
    say("{}\n", one_line({{"runs", local_runs_json(all, options.limit)}}));
  else
    say_lines(local_runs_text(all, options.limit));
  return 0;
}

result<int> runs(const runs_options& options) {
  if (!options.remove.empty())
    return remove_local(options);
  if (options.local)
    return list_local(options);
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
    cli.app.add_subcommand("runs", "List the runs of a cluster, latest first, "
                                   "or list and remove those in a folder");
  command->add_option("run", options->run, "Id of one run (default: all)");
  command
    ->add_option("-n,--limit", options->limit, "Largest number of runs to list")
    ->check(CLI::Range(1u, 1'000'000u))
    ->capture_default_str();
  command
    ->add_option("--before", options->before,
                 "Start with runs older than this one: the next page")
    ->excludes("run");
  add_cluster_options(*command, options->cluster);
  auto* local =
    command
      ->add_option("--local", options->folder,
                   "List the runs in a folder of this machine instead, with "
                   "result and size (default: ./runs)")
      ->expected(0, 1)
      ->type_name("[DIR]")
      ->excludes("run", "--before");
  auto* remove =
    one_each(command->add_option(
               "--remove", options->remove,
               "Remove runs from that folder: one by its name, or by an age "
               "such as 12h, 30d or 8w all older runs that have ended; "
               "repeatable"))
      ->type_name("RUN|AGE")
      ->excludes("run", "--before");
  command
    ->add_flag("--dry-run", options->dry_run,
               "Print what --remove would remove; remove nothing")
    ->needs(remove);
  command->footer("A running run is never removed. By age, only runs that have "
                  "ended are removed,\n"
                  "because `graphmill resume` can continue the others. Files "
                  "outside a run's folder\n"
                  "stay.");
  command->callback([&cli, options, local] {
    options->local = local->count() > 0;
    if (options->folder.empty()) // --local alone.
      options->folder = "runs";
    cli.run = [options] { return runs(*options); };
  });
}

} // namespace graphmill
