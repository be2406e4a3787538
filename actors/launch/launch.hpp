#pragma once

#include "actors/launch/processes.hpp"
#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "pipelines/planning/storage_decision.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// How the daemons of a launch treat their data.
struct launch_data_options {
  bool no_verify = false;
  storage_choice storage; ///< Of each.
};

// -- daemons on this machine

/// Daemons of one machine, which find each other over loopback.
struct local_launch {
  std::string program; ///< Path of graphmill.
  std::filesystem::path data;
  part_id parts = 1;         ///< Of the dataset, dealt out in turn.
  std::uint32_t daemons = 1; ///< The first is the coordinator.
  std::uint32_t slots = 1;   ///< Trainers of each.
  unsigned processors = 1;   ///< Of each.
  std::filesystem::path runs;
  std::filesystem::path ready; ///< Folder in which they say that they are up.
  std::string key;       ///< Empty: one of its own, made with the cluster.
  bool insecure = false; ///< No key.
  /// Of a coordinator that has died: the address that it had. It goes on with
  /// its runs then, but not with what others have left in the folder.
  std::string again_at{};
  launch_data_options how;
};

/// Where a daemon writes its address once it listens.
std::filesystem::path ready_file(const local_launch& launch,
                                 std::uint32_t index);

/// How to start a daemon. @param join Address of the first daemon; not used for
/// the first itself.
process_command local_daemon(const local_launch& launch, std::uint32_t index,
                             const std::string& join);

// -- daemons on other machines

/// A line of a hosts file.
struct launch_host {
  std::string login;   ///< As ssh takes it: host, user@host, or an alias.
  std::string address; ///< Under which the other daemons reach it.
  std::uint16_t port = 7800;
  std::string serve;       ///< As for `graphmill node`; empty: any.
  std::string data;        ///< Empty: as in `remote_launch`.
  std::uint32_t slots = 0; ///< 0: as in `remote_launch`.
};

/// Reads a hosts file. A line is a host as ssh takes it, then options:
///     user@10.0.0.1 serve=0,2-4 data=/srv/parts slots=2 port=7801
///     gpu-box address=10.0.0.7
/// `#` begins a comment. An error tells everything that is wrong, with the
/// lines.
/// @param origin Its name in errors.
result<std::vector<launch_host>> parse_hosts(std::string_view text,
                                             const std::string& origin);

/// Daemons of several machines, started by ssh.
struct remote_launch {
  std::vector<launch_host> hosts;    ///< The first is the coordinator.
  std::string program = "graphmill"; ///< A path at the hosts, as below.
  std::string data;
  std::string runs;      ///< At the first host.
  std::string key;       ///< Empty: the user's own at each host.
  bool insecure = false; ///< No key.
  bool again = false;    ///< As `again_at` of a `local_launch`.
  launch_data_options how;
  std::uint32_t slots = 1;
};

/// The address under which a daemon is reached.
std::string address_of(const launch_host& host);

/// The command line that ssh runs there, quoted for a shell.
std::string remote_command(const remote_launch& launch, std::size_t index);

/// How to start a daemon. When ssh ends, the terminal that it gave the daemon
/// hangs up, which ends the daemon, too.
process_command remote_daemon(const remote_launch& launch, std::size_t index);

/// One word for a POSIX shell, whatever is in it.
std::string shell_quoted(std::string_view text);

} // namespace graphmill
