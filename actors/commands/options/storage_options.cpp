#include "actors/commands/options/storage_options.hpp"

#include <map>
#include <string>

namespace graphmill {

void add_storage_options(CLI::App& command, storage_choice& choice) {
  const std::map<std::string, storage_kind> names{
    {"auto", storage_kind::automatic},
    {"memory", storage_kind::memory},
    {"disk", storage_kind::disk}};
  command
    .add_option_function<std::string>(
      "--storage",
      [&choice, names](const std::string& name) {
        choice.where = names.at(name);
      },
      "Where to read the graph from: memory, disk, or auto: disk if it does "
      "not fit into memory beside the run. Changes only speed")
    ->check(CLI::IsMember({"auto", "memory", "disk"}))
    ->default_str("auto");
  command
    .add_option("--disk-cache", choice.cache_bytes,
                "Memory for feature rows from disk, in bytes or as in 512MiB; "
                "0: all that is left")
    ->transform(CLI::AsSizeValue(false))
    ->default_str("0");
  command
    .add_option("--memory", choice.memory_bytes,
                "Memory that the process may use, in bytes or as in 16GiB; 0: "
                "what its cgroup and machine have left")
    ->transform(CLI::AsSizeValue(false))
    ->default_str("0");
}

} // namespace graphmill
