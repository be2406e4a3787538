#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/cluster_options.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/process/say.hpp"

#include <nlohmann/json.hpp>

#include <memory>

namespace graphmill {

namespace {

struct drain_options {
  cluster_options cluster;
  std::string daemon;
  bool back = false;
};

result<int> drain(const drain_options& options) {
  GRAPHMILL_TRY(auto client, connect(options.cluster, "drain"));
  GRAPHMILL_TRYV(client.drain({options.daemon, options.back}));
  if (options.cluster.json)
    say("{}\n", one_line({{"daemon", options.daemon},
                          {"state", options.back ? "ready" : "draining"}}));
  else
    say("daemon {} {}\n", options.daemon,
        options.back ? "accepts new runs again"
                     : "accepts no new runs; its running runs go on");
  return 0;
}

} // namespace

void add_drain_command(command_line& cli) {
  auto options = std::make_shared<drain_options>();
  auto* command = cli.app.add_subcommand("drain", "Keep new runs off a daemon");
  command->add_option("daemon", options->daemon, "Name of the daemon")
    ->required();
  command->footer("Runs in the queue that need the daemon wait for it.");
  command->add_flag("--back", options->back, "Return it to service");
  add_cluster_options(*command, options->cluster);
  command->callback(
    [&cli, options] { cli.run = [options] { return drain(*options); }; });
}

} // namespace graphmill
