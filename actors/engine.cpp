#include "actors/commands/options/program.hpp"
#include "actors/feed/feed_program.hpp"
#include "actors/feed/joined/joined_feed.hpp"
#include "actors/process/blas_kernels.hpp"
#include "pipelines/gradients/carriers/nccl_factory.hpp"

// The program with everything in it. Users start `graphmill`, see main.cpp.

namespace {

/// Every command, in the order in which help lists them.
constexpr graphmill::register_command commands[]{
  graphmill::add_train_command,      graphmill::add_resume_command,
  graphmill::add_evaluate_command,   graphmill::add_predict_command,
  graphmill::add_import_command,     graphmill::add_append_command,
  graphmill::add_inspect_command,    graphmill::add_partition_command,
  graphmill::add_validate_command,   graphmill::add_plan_command,
  graphmill::add_submit_command,     graphmill::add_watch_command,
  graphmill::add_status_command,     graphmill::add_top_command,
  graphmill::add_trace_command,      graphmill::add_runs_command,
  graphmill::add_logs_command,       graphmill::add_events_command,
  graphmill::add_cancel_command,     graphmill::add_fetch_command,
  graphmill::add_drain_command,      graphmill::add_stop_command,
  graphmill::add_chaos_command,      graphmill::add_keygen_command,
  graphmill::add_up_command,         graphmill::add_node_command,
  graphmill::add_help_command,       graphmill::add_bench_command,
  graphmill::add_completion_command, graphmill::add_manual_command,
};

} // namespace

int main(int argc, char** argv) {
  // A consumer in Python has started this process: it hands batches that a
  // cluster samples over this socket, and takes no command.
  if (const auto socket = graphmill::feed_socket_in(argc, argv); socket >= 0)
    return graphmill::run_feed_program(socket, graphmill::join_cluster);
  graphmill::use_fast_blas_kernels(argv);
  graphmill::keep_process_alive();
  return graphmill::run_program(argc, argv, commands);
}
