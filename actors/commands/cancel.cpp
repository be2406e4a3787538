#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/cluster_options.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/process/say.hpp"

#include <nlohmann/json.hpp>

#include <memory>
#include <string_view>

namespace graphmill {

namespace {

struct cancel_options {
  cluster_options cluster;
  std::string run;
  bool now = false;
};

/// What becomes of a run, from what it was.
std::string_view outcome_of(const result<run_record>& before, bool now) {
  if (before && before.value().state == run_state::queued)
    return "leaves the queue";
  if (before)
    return now ? "ends at once"
               : "ends after this step, with the weights so far";
  return now ? "ends at once, or leaves the queue"
             : "leaves the queue, or ends after this step with the weights so "
               "far";
}

result<int> cancel(const cancel_options& options) {
  GRAPHMILL_TRY(auto client, connect(options.cluster, "cancel"));
  // Afterwards it may be over whichever way it went.
  const auto before = client.run(options.run);
  if (!before
      && (before.error().code == ec::unavailable
          || before.error().code == ec::timeout))
    return before.error(); // Nor would it hear of the cancel.
  GRAPHMILL_TRYV(client.cancel({options.run, options.now}));
  if (options.cluster.json)
    say("{}\n", one_line({{"run", options.run}, {"now", options.now}}));
  else
    say("run {} {}\n", options.run, outcome_of(before, options.now));
  return 0;
}

} // namespace

void add_cancel_command(command_line& cli) {
  auto options = std::make_shared<cancel_options>();
  auto* command = cli.app.add_subcommand(
    "cancel", "End a run of a cluster, or remove it from the queue");
  command->add_option("run", options->run, "Id of the run")->required();
  command->add_flag(
    "--now", options->now,
    "End at once, without finishing the step or saving the weights");
  add_cluster_options(*command, options->cluster);
  command->callback(
    [&cli, options] { cli.run = [options] { return cancel(*options); }; });
}

} // namespace graphmill
