#include "actors/commands/cli.hpp"
#include "pipelines/gradients/nccl_route.hpp"

#include <cstdio>
#include <exception>
#include <vector>

namespace {

/// Every command, in the order in which help lists them.
const std::vector<graphmill::register_command> commands{
  graphmill::add_train_command,    graphmill::add_evaluate_command,
  graphmill::add_predict_command,  graphmill::add_import_command,
  graphmill::add_inspect_command,  graphmill::add_partition_command,
  graphmill::add_validate_command, graphmill::add_plan_command,
  graphmill::add_submit_command,   graphmill::add_watch_command,
  graphmill::add_status_command,   graphmill::add_runs_command,
  graphmill::add_logs_command,     graphmill::add_cancel_command,
  graphmill::add_fetch_command,    graphmill::add_drain_command,
  graphmill::add_stop_command,     graphmill::add_keygen_command,
  graphmill::add_up_command,       graphmill::add_node_command,
  graphmill::add_help_command,     graphmill::add_bench_command,
};

constexpr int exit_usage = 2; ///< As shells give for wrong arguments.

int exit_code(const graphmill::error& what) {
  return what.code == graphmill::ec::cancelled ? 130 : 1;
}

} // namespace

int main(int argc, char** argv) {
  graphmill::keep_process_alive();
  graphmill::command_line cli;
  cli.app.require_subcommand(1);
  for (auto add : commands)
    add(cli);
  cli.app.set_version_flag("--version", GRAPHMILL_VERSION);
  try {
    cli.app.parse(argc, argv);
  } catch (const CLI::ParseError& wrong) {
    // Help and version come this way, too, with 0.
    return cli.app.exit(wrong) == 0 ? 0 : exit_usage;
  }
  try {
    auto done = cli.run();
    if (done)
      return done.value();
    fmt::print(stderr, "graphmill: {}\n", graphmill::to_string(done.error()));
    return exit_code(done.error());
  } catch (const std::exception& bug) {
    fmt::print(stderr, "graphmill: unexpected exception: {}\n", bug.what());
    return 70; // EX_SOFTWARE of sysexits.h
  }
}
