#pragma once

#include "actors/cluster/client/client.hpp"

#include <CLI/CLI.hpp>

#include <stop_token>
#include <string>

namespace graphmill {

/// Flags of the commands that talk to a cluster.
struct cluster_options {
  std::string address = default_cluster;
  std::string key; ///< Empty: the user's own.
  bool insecure = false;
  bool json = false;
};
void add_key_options(CLI::App& command, std::string& key, bool& insecure);
void add_cluster_options(CLI::App& command, cluster_options& options);

/// A client for a command of this name.
/// @param signals Ends calls, if given; must outlive the client.
/// @param stop Ends calls, too, if it can be asked for.
result<cluster_client> connect(const cluster_options& options,
                               const std::string& command,
                               signal_watch* signals = nullptr,
                               std::stop_token stop = {});

} // namespace graphmill
