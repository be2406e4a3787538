#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/cluster_options.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/process/say.hpp"

#include <nlohmann/json.hpp>

#include <memory>

namespace graphmill {

namespace {

struct stop_options {
  cluster_options cluster;
  std::string daemon;
  bool all = false;
};

result<int> stop(const stop_options& options) {
  GRAPHMILL_TRY(auto client, connect(options.cluster, "stop"));
  GRAPHMILL_TRYV(client.stop({options.daemon, false}));
  if (options.cluster.json)
    say("{}\n",
        one_line({{"daemon", options.all ? nlohmann::json()
                                         : nlohmann::json(options.daemon)},
                  {"all", options.all}}));
  else if (options.all)
    say("the cluster at {} ends\n", client.address());
  else
    say("daemon {} ends\n", options.daemon);
  return 0;
}

} // namespace

void add_stop_command(command_line& cli) {
  auto options = std::make_shared<stop_options>();
  auto* command =
    cli.app.add_subcommand("stop", "End a daemon of a cluster, or all daemons");
  command->add_option("daemon", options->daemon, "Name of the daemon");
  command->add_flag("--all", options->all,
                    "All daemons, the coordinator last, and stand-ins");
  add_cluster_options(*command, options->cluster);
  command->footer("A running run that needs the daemon saves its weights and "
                  "fails; `graphmill resume`\n"
                  "continues it.");
  command->callback([&cli, options] {
    if (options->all != options->daemon.empty())
      refuse_words(
        "name the daemon to stop, or give --all to stop the cluster");
    cli.run = [options] { return stop(*options); };
  });
}

} // namespace graphmill
