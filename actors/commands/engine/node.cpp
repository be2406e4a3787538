#include "actors/cluster/daemon/daemon.hpp"
#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/run_options.hpp"
#include "actors/commands/options/storage_options.hpp"
#include "actors/http/http_monitoring.hpp"
#include "actors/launch/launch_environment.hpp"
#include "actors/launch/part_list.hpp"
#include "actors/process/processors.hpp"
#include "messages/wire/run.hpp"
#include "partition/dataset/shard.hpp"

#include <chrono>
#include <cstdlib>
#include <memory>

namespace graphmill {

namespace {

struct node_options {
  daemon_options daemon;
  http_options watched;
  std::string parts;
  bool says_where = false; ///< By --listen or --join.
  bool no_verify = false;
  bool leave_open_runs = false;
  unsigned grace_seconds = 60;
};

/// What a launcher's environment says, where no flag does.
result<void> fill_in(node_options& options) {
  GRAPHMILL_TRY(const auto found,
                read_launch_environment(environment_variable, nvidia_devices(),
                                        options.says_where));
  if (!found)
    return ok();
  auto& daemon = options.daemon;
  if (!found->devices.empty()) // Before there are threads that read it.
    setenv("CUDA_VISIBLE_DEVICES", found->devices.c_str(), 1);
  if (!daemon.processors)
    daemon.processors = processors_per_process(found->local_world);
  if (daemon.name.empty())
    daemon.name = found->name;
  if (!options.says_where) {
    daemon.listen = found->listen;
    daemon.join = found->join;
    if (daemon.advertise.empty() && daemon.interface_name.empty())
      daemon.advertise = found->advertise;
  }
  if (options.parts.empty()) {
    GRAPHMILL_TRY(const auto graph, partitioned_graph::open(daemon.data));
    options.parts = found->serve(graph.part_count());
  }
  return ok();
}

result<int> node(node_options& options) {
  GRAPHMILL_TRYV(fill_in(options));
  if (!options.parts.empty()) {
    GRAPHMILL_TRY(options.daemon.parts, parse_served_parts(options.parts));
  }
  options.daemon.verify = !options.no_verify;
  options.daemon.take_up = !options.leave_open_runs;
  options.daemon.grace = std::chrono::seconds{options.grace_seconds};
  options.daemon.monitor = [&options](bool leads) {
    return http_monitoring(options.watched, leads);
  };
  GRAPHMILL_TRYV(run_daemon(options.daemon));
  return 0;
}

void add_network_options(CLI::App& command, daemon_options& daemon) {
  command
    .add_option(
      "--listen", daemon.listen,
      "Address for other daemons and clients; port 0 takes a free port")
    ->capture_default_str();
  command.add_option(
    "--join", daemon.join,
    "Address of the coordinator; without it this daemon is the coordinator. "
    "With stand-ins, all addresses with commas between them");
  command
    .add_option(
      "--key", daemon.key,
      "Key file of the cluster, from `graphmill keygen`; default: your own "
      "key, ~/.config/graphmill/key, which is made at first use")
    ->envname("GRAPHMILL_KEY");
  command.add_option(
    "--members", daemon.members,
    "Coordinator of a cluster with roles (`graphmill keygen --coordinator`): "
    "the file with the keys of all members. It is read again when it changes");
  command.add_flag("--insecure", daemon.insecure,
                   "Use no key: whoever can connect can use the daemon, "
                   "including other users of this machine");
  command.add_option("--interface", daemon.interface_name,
                     "Network interface for the cluster, as in eth0");
  command.add_option("--advertise", daemon.advertise,
                     "Host by which others reach this daemon, or host:port if "
                     "that is forwarded to it");
  command
    .add_option("--lost-after", daemon.lost_after,
                "Seconds of silence after which another daemon counts as lost: "
                "longer than a daemon may be stopped or busy. A daemon whose "
                "process has ended is lost within a second")
    ->check(CLI::Range(2u, 60u))
    ->capture_default_str();
}

void add_trainer_options(CLI::App& command, daemon_options& daemon) {
  command.add_option("--slots", daemon.slots,
                     "Trainers that the daemon runs at most, 0 for a daemon "
                     "that only serves data; default: one per processor");
  command
    .add_option("--processors", daemon.processors,
                "Processors that its trainers share if a definition does not "
                "set trainer.threads; default: all that it may use. Useful for "
                "several daemons on one machine")
    ->check(CLI::Range(1u, 4096u));
}

void add_coordinator_options(CLI::App& command, node_options& options) {
  auto& daemon = options.daemon;
  command
    .add_flag("--standby", daemon.standby,
              "Wait, and become the coordinator when no other one has the "
              "folder of runs. Locks must work there (a local disk, NFSv4)")
    ->excludes(command.get_option("--join"));
  command.add_flag("--leave-open-runs", options.leave_open_runs,
                   "Coordinator: do not continue queued and running runs of a "
                   "former coordinator; they have failed");
  command
    .add_option("--grace", options.grace_seconds,
                "Joining daemon: seconds for which it keeps its share of a run "
                "when the coordinator is lost")
    ->check(CLI::Range(0u, 86'400u))
    ->capture_default_str();
  command
    .add_option("--runs", daemon.runs, "Coordinator: folder for run folders")
    ->capture_default_str();
  command
    .add_option(
      "--keep-runs", daemon.keep_runs,
      "Coordinator: how many finished runs its list keeps; their folders stay")
    ->check(CLI::Range(1u, 10'000'000u))
    ->capture_default_str();
}

void add_queue_options(CLI::App& command, daemon_options& daemon) {
  command
    .add_option("--runs-at-once", daemon.runs_at_once,
                "Coordinator: how many runs may run at once, on daemons of "
                "their own (`placement.daemons`) or on free slots of shared "
                "daemons; each gets an equal part of a daemon's memory")
    ->check(CLI::Range(1u, deployment::most_runs_at_once))
    ->capture_default_str();
}

void add_monitoring_options(CLI::App& command, http_options& watched) {
  command
    .add_option("--http", watched.http,
                "Coordinator: address of its web page, metrics and JSON over "
                "HTTP (/metrics for Prometheus, /healthz, /readyz), "
                "unencrypted; none: no HTTP")
    ->capture_default_str();
  command.add_option(
    "--metrics", watched.metrics,
    "Address of this daemon's own metrics over HTTP; port 0 takes a free port");
  command.add_option(
    "--http-token-file", watched.token_file,
    "File with a token that HTTP clients must send, in browsers as the "
    "password; without it only loopback addresses are allowed");
  command.add_option("--http-action-token-file", watched.action_token_file,
                     "Coordinator: file with a token that HTTP clients must "
                     "send to cancel, drain or resume; without it nobody can");
}

void add_log_options(CLI::App& command, log_options& logs) {
  command
    .add_option_function<std::string>(
      "--log-format",
      [&logs](const std::string& format) { logs.json = format == "json"; },
      "plain: one sentence a line; json: one object a line with time, level, "
      "daemon, run, batch, module and text")
    ->check(CLI::IsMember({"plain", "json"}))
    ->default_str("plain");
  command
    .add_option("--log-level", logs.levels,
                "Lowest level that is logged: debug, info, warn, error or "
                "critical, also by module, as in info,transport=debug. Modules "
                "are daemon, coordinator, agent, data, transport, http, run")
    ->check(parsed_by(parse_log_levels))
    ->capture_default_str();
  command.add_option("--log-file", logs.file,
                     "Also write the log to this file, which only you can "
                     "read; each daemon needs its own");
  command
    .add_option("--log-file-size", logs.file_bytes,
                "Size of that file, as in 16MiB, at which it becomes FILE.1, "
                "and FILE.1 becomes FILE.2")
    ->transform(CLI::AsSizeValue(false))
    ->check(CLI::Range(std::uint64_t{4096}, std::uint64_t{1} << 40))
    ->default_str("16MiB");
  command
    .add_option("--log-files", logs.files, "Number of log files that are kept")
    ->check(CLI::Range(2u, 1000u))
    ->capture_default_str();
}

constexpr const char* node_footer =
  "The first daemon is the coordinator; the others join it:\n"
  "  graphmill node --data parts --serve 0 --listen tcp://10.0.0.1:7800 "
  "--key cluster.key\n"
  "  graphmill node --data parts --serve 1 --listen tcp://10.0.0.2:7800 "
  "--key cluster.key\n"
  "      --join tcp://10.0.0.1:7800\n"
  "Then: graphmill submit FILE --cluster tcp://10.0.0.1:7800 --key "
  "cluster.key\n"
  "Under srun or torchrun, name, addresses and parts come from RANK, "
  "WORLD_SIZE,\n"
  "MASTER_ADDR and MASTER_PORT, or SLURM's variables, unless flags give them.\n"
  "examples/cluster has examples.\n"
  "Daemons on different kinds of CPUs train together if all have the "
  "environment\n"
  "variable OPENBLAS_CORETYPE=Haswell.\n"
  "Ctrl-C, SIGTERM or a closed terminal end the daemon in order: it stops its "
  "run\n"
  "after the step and saves the weights. A second one ends it at once. nohup "
  "keeps\n"
  "it running when the terminal closes.\n"
  "A coordinator that is restarted with the same --runs continues its queue "
  "and its\n"
  "running runs. A daemon with --standby takes over without a restart.";

} // namespace

void add_node_command(command_line& cli) {
  auto options = std::make_shared<node_options>();
  auto& daemon = options->daemon;
  auto* command = cli.app.add_subcommand(
    "node", "Start a daemon, which serves parts of a dataset and trains");
  command
    ->add_option("--data", daemon.data,
                 "The partitioned dataset; only the served parts must be there")
    ->required();
  command
    ->add_option("--serve", options->parts,
                 "Parts to serve, as in 0,2-4, or none, or any for all parts "
                 "(the default without a launcher)")
    ->check(parsed_by(parse_served_parts));
  add_network_options(*command, daemon);
  command->add_option("--name", daemon.name,
                      "Name in the cluster; default: that of its key, or "
                      "host and port");
  add_trainer_options(*command, daemon);
  add_storage_options(*command, daemon.storage);
  add_coordinator_options(*command, *options);
  add_queue_options(*command, daemon);
  add_monitoring_options(*command, options->watched);
  add_log_options(*command, daemon.logs);
  add_no_verify_option(*command, options->no_verify);
  command->add_flag("--chaos-allowed", daemon.chaos,
                    "Let clients kill, stop and disturb this daemon with "
                    "`graphmill chaos`, to test that runs survive it");
  command->add_option(
    "--ready-file", daemon.ready_file,
    "Write the address to this file when the daemon has joined the cluster");
  command->footer(node_footer);
  command->callback([&cli, options, command] {
    options->says_where =
      command->count("--listen") != 0 || command->count("--join") != 0;
    cli.run = [options] { return node(*options); };
  });
}

} // namespace graphmill
