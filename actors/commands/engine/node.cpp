#include "actors/cluster/daemon/daemon.hpp"
#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/run_options.hpp"
#include "actors/commands/options/storage_options.hpp"
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
  GRAPHMILL_TRYV(run_daemon(options.daemon));
  return 0;
}

void add_network_options(CLI::App& command, daemon_options& daemon) {
  command
    .add_option("--listen", daemon.listen,
                "Address for other daemons and clients; port 0: one that is "
                "free")
    ->capture_default_str();
  command.add_option("--join", daemon.join,
                     "Address of the coordinator; without it this daemon is "
                     "the coordinator. Several, with commas between them: "
                     "where another one may take over");
  command
    .add_option("--key", daemon.key,
                "Key file of the cluster, from `graphmill keygen`; default: "
                "your own, ~/.config/graphmill/key, which is made at first use")
    ->envname("GRAPHMILL_KEY");
  command.add_option("--members", daemon.members,
                     "Of a coordinator whose key is its own (`graphmill keygen "
                     "--coordinator`): the file with the keys that it lets in. "
                     "It is read again when it changes");
  command.add_flag("--insecure", daemon.insecure,
                   "Use no key: whoever can connect can use the daemon, other "
                   "users of this machine, too");
  command.add_option("--interface", daemon.interface_name,
                     "Network interface for the cluster, as in eth0");
  command.add_option("--advertise", daemon.advertise,
                     "Host that others reach this daemon by, or host:port "
                     "where that is forwarded to it");
  command
    .add_option("--lost-after", daemon.lost_after,
                "Seconds of silence after which this daemon takes another one "
                "for lost: longer than one may be stopped or busy. Whose "
                "process has ended is lost within a second")
    ->check(CLI::Range(2u, 60u))
    ->capture_default_str();
}

void add_trainer_options(CLI::App& command, daemon_options& daemon) {
  command.add_option("--slots", daemon.slots,
                     "Trainers that it takes, 0 for a daemon that only serves "
                     "data; default: one per processor");
  command
    .add_option("--processors", daemon.processors,
                "Processors that its trainers share where a definition leaves "
                "trainer.threads open; default: all that it may run on. Of "
                "use to several daemons on one machine")
    ->check(CLI::Range(1u, 4096u));
}

void add_coordinator_options(CLI::App& command, node_options& options) {
  auto& daemon = options.daemon;
  command
    .add_flag("--standby", daemon.standby,
              "Be the coordinator as soon as nobody else has the folder "
              "for runs, which must lie where locks work (a local disk, "
              "NFSv4); until then only wait")
    ->excludes(command.get_option("--join"));
  command.add_flag("--leave-open-runs", options.leave_open_runs,
                   "Of a coordinator: do not go on with runs that were queued "
                   "or on when another one ended; they have failed");
  command
    .add_option("--grace", options.grace_seconds,
                "Of a daemon that joins: seconds for which it keeps its share "
                "of a run when the coordinator is lost")
    ->check(CLI::Range(0u, 86'400u))
    ->capture_default_str();
  command
    .add_option("--runs", daemon.runs,
                "Of a coordinator: where run folders are made")
    ->capture_default_str();
  command
    .add_option("--keep-runs", daemon.keep_runs,
                "Of a coordinator: how many runs that are over it keeps in "
                "its list; folders stay")
    ->check(CLI::Range(1u, 10'000'000u))
    ->capture_default_str();
}

void add_queue_options(CLI::App& command, daemon_options& daemon) {
  command
    .add_option("--runs-at-once", daemon.runs_at_once,
                "Of a coordinator: how many runs it has on at a time, at the "
                "most, on daemons of their own (`placement.daemons`) or on "
                "free slots of those that they share; each counts on as large "
                "a part of a daemon's memory")
    ->check(CLI::Range(1u, deployment::most_runs_at_once))
    ->capture_default_str();
}

void add_monitoring_options(CLI::App& command, monitoring_options& watched) {
  command
    .add_option("--http", watched.http,
                "Of a coordinator: address at which it tells of its cluster "
                "over HTTP (/metrics for Prometheus, /healthz, /readyz), in "
                "the clear; none: nowhere")
    ->capture_default_str();
  command.add_option("--metrics", watched.metrics,
                     "Address at which this daemon tells of itself in the same "
                     "way; port 0: one that is free");
  command.add_option("--http-token-file", watched.token_file,
                     "File with a token that those who ask over HTTP must "
                     "show, in browsers as the password; without it only "
                     "addresses of loopback are allowed");
  command.add_option("--http-action-token-file", watched.action_token_file,
                     "Of a coordinator: file with a token that those must show "
                     "who cancel, drain or resume over HTTP; without it nobody "
                     "can");
}

void add_log_options(CLI::App& command, log_options& logs) {
  command
    .add_option_function<std::string>(
      "--log-format",
      [&logs](const std::string& format) { logs.json = format == "json"; },
      "plain: a sentence in a line; json: each line an object with time, "
      "level, daemon, run, batch, module and text")
    ->check(CLI::IsMember({"plain", "json"}))
    ->default_str("plain");
  command
    .add_option("--log-level", logs.levels,
                "What is logged at all: debug, info, warn, error or critical, "
                "and by module, as in info,transport=debug; modules are "
                "daemon, coordinator, agent, data, transport, http, run")
    ->check(parsed_by(parse_log_levels))
    ->capture_default_str();
  command.add_option("--log-file", logs.file,
                     "Write the log to this file, too, which you alone can "
                     "read; no two daemons may have the same");
  command
    .add_option("--log-file-size", logs.file_bytes,
                "Bytes of that file, as in 16MiB, before it is put aside as "
                "FILE.1, and that as FILE.2")
    ->transform(CLI::AsSizeValue(false))
    ->check(CLI::Range(std::uint64_t{4096}, std::uint64_t{1} << 40))
    ->default_str("16MiB");
  command
    .add_option("--log-files", logs.files, "How many of them are kept in all")
    ->check(CLI::Range(2u, 1000u))
    ->capture_default_str();
}

constexpr const char* node_footer =
  "The first daemon is the coordinator; the others join it:\n"
  "  graphmill node --data parts --serve 0 --listen tcp://10.0.0.1:7800\n"
  "  graphmill node --data parts --serve 1 --listen tcp://10.0.0.2:7800 "
  "--join tcp://10.0.0.1:7800\n"
  "Then: graphmill submit FILE --cluster tcp://10.0.0.1:7800\n"
  "Started by srun or torchrun, it takes name, addresses and parts from\n"
  "RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, or SLURM's variables,\n"
  "where no flag gives them. Examples are in examples/cluster.\n"
  "Daemons on CPUs of different kinds train together if all are started "
  "with\n"
  "the environment variable OPENBLAS_CORETYPE=Haswell.\n"
  "Ctrl-C, SIGTERM, or a terminal that is closed end it in order: a run is\n"
  "stopped after its step, and its weights are saved. Twice ends it at "
  "once.\n"
  "nohup keeps it through the end of a terminal.\n"
  "A coordinator that is started again with the same --runs goes on with its\n"
  "queue, and with the run that was on from its last checkpoint. So does one\n"
  "with --standby, without anybody's help.";

} // namespace

void add_node_command(command_line& cli) {
  auto options = std::make_shared<node_options>();
  auto& daemon = options->daemon;
  auto* command = cli.app.add_subcommand(
    "node", "Start a node daemon, which serves parts of a dataset and trains");
  command
    ->add_option("--data", daemon.data,
                 "The partitioned dataset; of its parts only those served "
                 "here need to be there")
    ->required();
  command
    ->add_option("--serve", options->parts,
                 "Parts to serve, as in 0,2-4, or none, or any: all of "
                 "them, which is the default without a launcher")
    ->check(parsed_by(parse_served_parts));
  add_network_options(*command, daemon);
  command->add_option("--name", daemon.name,
                      "Name in the cluster; default: that of its key, or "
                      "host and port");
  add_trainer_options(*command, daemon);
  add_storage_options(*command, daemon.storage);
  add_coordinator_options(*command, *options);
  add_queue_options(*command, daemon);
  add_monitoring_options(*command, daemon.watched);
  add_log_options(*command, daemon.logs);
  add_no_verify_option(*command, options->no_verify);
  command->add_flag("--chaos-allowed", daemon.chaos,
                    "Let clients kill, stop and disturb this daemon by "
                    "`graphmill chaos`, to see that runs survive it");
  command->add_option("--ready-file", daemon.ready_file,
                      "Write the address to this file once the daemon is in "
                      "the cluster");
  command->footer(node_footer);
  command->callback([&cli, options, command] {
    options->says_where =
      command->count("--listen") != 0 || command->count("--join") != 0;
    cli.run = [options] { return node(*options); };
  });
}

} // namespace graphmill
