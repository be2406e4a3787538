#include "actors/commands/options/cluster_options.hpp"

#include "actors/process/core_dumps.hpp"

#include <utility>

namespace graphmill {

void add_key_options(CLI::App& command, std::string& key, bool& insecure) {
  command
    .add_option(
      "--key", key,
      "The cluster's key file, from `graphmill keygen`; default: your own key, "
      "~/.config/graphmill/key, which is made at first use")
    ->envname("GRAPHMILL_KEY");
  command.add_flag("--insecure", insecure,
                   "Use no key; the daemons need --insecure as well. Whoever "
                   "can connect to the cluster can use it");
}

void add_cluster_options(CLI::App& command, cluster_options& options) {
  command
    .add_option("--cluster", options.address,
                "Address of the coordinator, the cluster's first daemon; with "
                "stand-ins, all addresses with commas between them")
    ->envname("GRAPHMILL_CLUSTER")
    ->capture_default_str();
  add_key_options(command, options.key, options.insecure);
  command.add_flag("--json", options.json, "End with one line of JSON");
}

result<cluster_client> connect(const cluster_options& options,
                               const std::string& command,
                               signal_watch* signals, std::stop_token stop) {
  cluster_client::settings with;
  with.command = command;
  with.address = options.address;
  with.key = options.key;
  with.insecure = options.insecure;
  if (!options.insecure)
    forbid_core_dumps(); // The key would be in them.
  with.signals = signals;
  with.stop = std::move(stop);
  return cluster_client::make(std::move(with));
}

} // namespace graphmill
