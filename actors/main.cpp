#include "actors/commands/options/program.hpp"
#include "actors/process/say.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

// What users start. With CUDA, loading libtorch and its libraries takes half a
// second, so commands that need neither models nor actors are carried out here;
// for the others this process becomes the engine, which has all commands.

namespace {

constexpr graphmill::register_command commands[]{
  graphmill::add_import_command,   graphmill::add_append_command,
  graphmill::add_inspect_command,  graphmill::add_partition_command,
  graphmill::add_validate_command, graphmill::add_submit_command,
  graphmill::add_watch_command,    graphmill::add_status_command,
  graphmill::add_runs_command,     graphmill::add_logs_command,
  graphmill::add_cancel_command,   graphmill::add_fetch_command,
  graphmill::add_drain_command,    graphmill::add_stop_command,
  graphmill::add_chaos_command,    graphmill::add_keygen_command,
  graphmill::add_up_command,       graphmill::add_top_command,
  graphmill::add_trace_command,    graphmill::add_events_command,
};

bool is_here(std::string_view word) {
  graphmill::command_line cli;
  for (auto add : commands)
    add(cli);
  const auto found = cli.app.get_subcommands(
    [word](const CLI::App* command) { return command->get_name() == word; });
  return word == "--version" || !found.empty();
}

/// @returns only if it cannot be started, with the exit code.
int become_engine(char** argv) {
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) // Without its folder, whatever lies here would be started.
    return graphmill::say_failure(
      graphmill::fail_errno(failed.value(), "cannot find this program's file"));
  // OpenBLAS starts a thread for each core when it is loaded, and each spins for a
  // tenth of a second. Replicas have threads of their own and use none of them.
  ::setenv("OPENBLAS_NUM_THREADS", "1", 1);
  const auto engine = self.parent_path() / "graphmill-engine";
  ::execv(engine.c_str(), argv);
  return graphmill::say_failure(
    graphmill::fail_errno(errno, "cannot start {}, which must be beside {}",
                          engine.string(), self.string()));
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 2 || !is_here(argv[1]))
    return become_engine(argv);
  return graphmill::run_program(argc, argv, commands);
}
