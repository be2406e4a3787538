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
      "Where the graph is read from: memory, disk, or disk if memory does not "
      "hold it beside the run (auto); changes speed alone")
    ->check(CLI::IsMember({"auto", "memory", "disk"}))
    ->default_str("auto");
  command
    .add_option("--disk-cache", choice.cache_bytes,
                "Memory for feature rows from disk, bytes or as in 512MiB; 0: "
                "what there is beside everything else")
    ->transform(CLI::AsSizeValue(false))
    ->default_str("0");
  command
    .add_option("--memory", choice.memory_bytes,
                "Memory that the process counts on when it decides that, bytes "
                "or as in 16GiB; 0: all that its cgroup and machine have left")
    ->transform(CLI::AsSizeValue(false))
    ->default_str("0");
}

} // namespace graphmill
