#include "actors/cluster/client/submit_run.hpp"
#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/commands/options/run_options.hpp"
#include "actors/commands/options/run_tags.hpp"
#include "actors/commands/options/storage_options.hpp"
#include "actors/commands/text/run_watcher.hpp"
#include "actors/launch/launched_cluster.hpp"
#include "actors/process/core_dumps.hpp"
#include "actors/process/processors.hpp"
#include "actors/process/say.hpp"
#include "actors/process/temporary_folder.hpp"
#include "actors/transport/sockets/connections/user_keys.hpp"
#include "actors/transport/sockets/open_files.hpp"
#include "messages/base/error_list.hpp"
#include "partition/dataset/shard.hpp"
#include "partition/files/file_io.hpp"
#include "partition/files/memory_limit.hpp"
#include "pipelines/definition/dataset_search.hpp"
#include "pipelines/definition/definition_file.hpp"
#include "pipelines/definition/validation/validation.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>

namespace graphmill {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_hosts_file = std::size_t{1} << 20;

struct up_options {
  std::string file;
  std::vector<std::string> overrides;
  std::vector<std::string> tags;
  std::uint32_t local = 0;
  std::string hosts;
  std::string data;
  std::string runs = "runs";
  std::string program = "graphmill";
  std::string key;
  bool insecure = false;
  launch_data_options how;
  bool tensorboard = false;
  bool json = false;
  bool quiet = false;
};

/// So many that all trainers find a place.
std::uint32_t slots_of_each(const definition& def, std::size_t daemons) {
  const auto trainers = static_cast<std::size_t>(def.trainer.replicas);
  return static_cast<std::uint32_t>((trainers + daemons - 1) / daemons);
}

launched_cluster::settings settings_of(const up_options& options,
                                       signal_watch& signals) {
  launched_cluster::settings with;
  with.signals = &signals;
  with.key = options.key;
  with.insecure = options.insecure;
  if (!options.quiet)
    with.tell = [](const std::string& news) { say_sentence(news); };
  return with;
}

result<launched_cluster> start_local(const up_options& options,
                                     definition_source& source,
                                     signal_watch& signals) {
  const auto& def = source.value;
  GRAPHMILL_TRY(const auto data, find_dataset(source, options.data));
  GRAPHMILL_TRY(const auto graph, partitioned_graph::open(data));
  take_name_at_path(source, options.data, graph.info());
  GRAPHMILL_TRYV(check_definition_against(source, data));
  local_launch launch;
  std::error_code failed;
  launch.program = fs::read_symlink("/proc/self/exe", failed).string();
  if (failed)
    return fail_errno(failed.value(), "cannot find this program's file");
  launch.data = data;
  launch.parts = graph.part_count();
  launch.daemons = options.local;
  launch.slots = slots_of_each(def, options.local);
  launch.processors =
    processors_per_process(std::min(options.local, def.trainer.replicas));
  launch.runs = options.runs;
  launch.key = options.key;
  launch.insecure = options.insecure;
  launch.how = options.how;
  // Daemons do not know of each other's memory.
  if (auto& each = launch.how.storage.memory_bytes; each == 0)
    each = std::max<std::uint64_t>(memory_available().bytes / options.local, 1);
  return launched_cluster::start(std::move(launch),
                                 settings_of(options, signals));
}

result<launched_cluster> start_remote(const up_options& options,
                                      const definition_source& source,
                                      signal_watch& signals) {
  const auto& def = source.value;
  GRAPHMILL_TRY(const auto text, read_text(options.hosts, largest_hosts_file));
  remote_launch launch;
  GRAPHMILL_TRY(launch.hosts, parse_hosts(text, options.hosts));
  launch.program = options.program;
  launch.data = !options.data.empty()          ? options.data
                : !source.dataset_path.empty() ? source.dataset_path
                                               : "data/" + def.dataset;
  launch.runs = options.runs;
  launch.key = options.key;
  launch.insecure = options.insecure;
  launch.how = options.how;
  launch.slots = slots_of_each(def, launch.hosts.size());
  return launched_cluster::start(launch, settings_of(options, signals));
}

/// How other commands reach the cluster while it is up.
void say_where(cluster_client& client, const up_options& options) {
  const auto& at = client.address();
  if (!options.key.empty() || options.insecure || options.local == 0)
    say(stderr, "`graphmill top --cluster {}{}{}` shows the cluster\n", at,
        options.insecure      ? " --insecure"
        : options.key.empty() ? ""
                              : " --key ",
        options.insecure ? "" : options.key);
  else
    say(stderr,
        "the cluster is at {}, with a key of its own; with --key FILE, from "
        "`graphmill keygen FILE`, `graphmill top` could show it\n",
        at);
}

/// Where a run is left that this command cannot follow any more.
error left_behind(const error& reason, const std::string& run,
                  const up_options& options) {
  const auto folder = (fs::path{options.runs} / run).string();
  return fail(
    reason.code,
    "run {} is left in {}{}: `graphmill resume {}`{} continues it; {}", run,
    folder, options.local != 0 ? "" : " at the first host", folder,
    options.local != 0 ? "" : " there", reason.message);
}

/// Submits and follows; a signal cancels the run, a second one at once.
result<run_record> run_on(launched_cluster& cluster, const definition& def,
                          const up_options& options) {
  auto& client = cluster.client();
  GRAPHMILL_TRY(const auto run, submit_run(client, def, options.tensorboard,
                                           show_progress(options.quiet)));
  run_watcher::settings with;
  with.run = run;
  with.table = options.quiet ? nullptr : options.json ? stderr : stdout;
  with.quiet = options.quiet;
  with.check = [&cluster] { return cluster.check_daemons(); };
  run_watcher watcher{client, std::move(with)};
  for (auto again = false;; again = true) {
    auto ended = watcher.follow();
    if (ended)
      return ended;
    if (ended.error().code != ec::cancelled)
      return left_behind(ended.error(), run, options);
    client.forget_signals();
    GRAPHMILL_TRYV(client.cancel({run, again}));
  }
}

/// All daemons of a launch, and this command, have the same key.
result<void> check_key(const up_options& options) {
  if (options.key.empty() && options.local != 0)
    return ok(); // One is made for them.
  GRAPHMILL_TRY(const auto keys, choose_keys(options.key, options.insecure));
  if (!keys || keys->role == key_role::all)
    return ok();
  return fail(ec::invalid_argument,
              "{} holds only the key of {}, and `up` starts all daemons with "
              "one key: `graphmill keygen FILE` makes a key for all",
              keys->file, label_of({keys->role, keys->name, {}}));
}

/// Fails with all that daemons would die of, or wait for in vain.
result<void> check_launch(const up_options& options) {
  error_list wrong;
  wrong.take(check_key(options));
  if (options.local != 0) {
    // Its own daemons and this command are peers of the coordinator, which
    // keeps as many places for other hosts.
    wrong.take(check_open_files(std::size_t{2} * options.local));
    wrong.take(temporary_folder{}.make());
  }
  return wrong.ended();
}

result<int> up(const up_options& options) {
  if (!options.insecure)
    forbid_core_dumps();
  GRAPHMILL_TRYV(check_launch(options));
  GRAPHMILL_TRY(auto source, load_definition(options.file, options.overrides));
  GRAPHMILL_TRYV(add_tags(source.value, options.tags));
  signal_watch signals;
  if (options.insecure && !options.quiet)
    say(stderr, "insecure: whoever can connect to the daemons can use them\n");
  GRAPHMILL_TRY(auto cluster, options.local != 0
                                ? start_local(options, source, signals)
                                : start_remote(options, source, signals));
  if (options.local == 0 && options.data.empty()
      && !source.dataset_path.empty()) {
    // The hosts serve what lies at that path there, whatever it is called.
    GRAPHMILL_TRY(const auto now, cluster.client().status());
    source.value.dataset = now.dataset;
  }
  if (!options.quiet)
    say_where(cluster.client(), options);
  auto ended = run_on(cluster, source.value, options);
  cluster.end();
  if (!ended)
    return ended.error();
  return conclude_run(ended.value(), options.json, options.quiet);
}

} // namespace

void add_up_command(command_line& cli) {
  auto options = std::make_shared<up_options>();
  auto* command = cli.app.add_subcommand(
    "up", "Start a cluster, run a definition on it, end the cluster");
  command->add_option("file", options->file, "Pipeline definition (YAML)")
    ->required();
  auto* local = command
                  ->add_option("--local", options->local,
                               "Start so many daemons on this machine and "
                               "divide the dataset's parts among them")
                  ->check(CLI::Range(1u, 1024u));
  command
    ->add_option("--hosts", options->hosts,
                 "Start a daemon by ssh on each host in this file; the "
                 "coordinator on the first")
    ->excludes(local);
  command->add_option("--data", options->data,
                      "The dataset, or the folder that holds it (default: "
                      "./data); with --hosts, the dataset there");
  command
    ->add_option("--runs", options->runs,
                 "Folder for the run folder, at the coordinator")
    ->capture_default_str();
  add_override_option(*command, options->overrides);
  add_tag_option(*command, options->tags);
  add_tensorboard_flag(*command, options->tensorboard);
  command
    ->add_option("--program", options->program,
                 "With --hosts: the path of graphmill there")
    ->capture_default_str();
  command
    ->add_option("--key", options->key,
                 "The cluster's key file (graphmill keygen), with --hosts at "
                 "the same path on all hosts; default: with --local a new key, "
                 "with --hosts your own key on each host")
    ->envname("GRAPHMILL_KEY");
  command->add_flag("--insecure", options->insecure,
                    "Use no key: whoever can connect can use the daemons");
  add_no_verify_option(*command, options->how.no_verify);
  add_storage_options(*command, options->how.storage);
  command->add_flag("--json", options->json,
                    "End the output with one line of JSON");
  command->add_flag("-q,--quiet", options->quiet,
                    "No progress, no table; errors only");
  command->footer(
    "A line of the hosts file is a host as for ssh, then options:\n"
    "  user@10.0.0.1 serve=0,2-4 data=/srv/parts slots=2 port=7801\n"
    "  gpu-box address=10.0.0.7       # address: as the others reach it\n"
    "ssh must not ask for a password. The daemons end with this command.\n"
    "Ctrl-C finishes the step and saves weights and metrics; a second one "
    "stops at once.\n"
    "SIGTERM and a closed terminal act like Ctrl-C, unless nohup is used.");
  command->callback([&cli, options] {
    if ((options->local != 0) == !options->hosts.empty())
      refuse_words("say where the daemons run: --local N on this machine, or "
                   "--hosts FILE by ssh");
    cli.run = [options] { return up(*options); };
  });
}

} // namespace graphmill
