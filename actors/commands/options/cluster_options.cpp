#include "actors/commands/options/cluster_options.hpp"

#include "actors/process/core_dumps.hpp"

#include <fmt/format.h>

#include <ctime>
#include <utility>

namespace graphmill {

void add_key_options(CLI::App& command, std::string& key, bool& insecure) {
  command
    .add_option("--key", key,
                "The cluster's key file, from `graphmill keygen`; default: "
                "your own, ~/.config/graphmill/key, which is made at first use")
    ->envname("GRAPHMILL_KEY");
  command.add_flag("--insecure", insecure,
                   "Use no key, as the cluster must have been told to, too: "
                   "whoever can connect to it can use it");
}

void add_cluster_options(CLI::App& command, cluster_options& options) {
  command
    .add_option("--cluster", options.address,
                "Address of the cluster's first daemon, its coordinator; "
                "several, with commas between them, if another one may take "
                "over elsewhere")
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

std::string time_text(unix_time when) {
  if (when.count() <= 0)
    return "-";
  const auto seconds = static_cast<std::time_t>(when.count() / 1000);
  std::tm parts{};
  if (localtime_r(&seconds, &parts) == nullptr)
    return "-";
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}",
                     parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string duration_text(std::chrono::milliseconds time) {
  const auto seconds = time.count() / 1000;
  if (seconds < 60)
    return fmt::format("{:.1f} s", double(time.count()) * 1e-3);
  if (seconds < 3600)
    return fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {:02} min", seconds / 3600, seconds / 60 % 60);
}

} // namespace graphmill
