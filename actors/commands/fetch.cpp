#include "actors/cluster/client/fetch_run.hpp"
#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/cluster_options.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/process/say.hpp"
#include "messages/base/pluralized.hpp"

#include <nlohmann/json.hpp>

#include <memory>

namespace graphmill {

namespace {

namespace fs = std::filesystem;

struct fetch_options {
  cluster_options cluster;
  std::string run;
  std::string out;
  bool quiet = false;
};

result<int> fetch(const fetch_options& options) {
  signal_watch signals;
  GRAPHMILL_TRY(auto client, connect(options.cluster, "fetch", &signals));
  GRAPHMILL_TRY(const auto run, client.run(options.run));
  if (!is_over(run.state))
    return fail(ec::unavailable,
                "run {0} is {1}; wait for its end (`graphmill watch {0}`) or "
                "cancel it",
                run.id, to_string(run.state));
  if (options.out.empty() && !is_plain_path(run.id))
    return fail(ec::invalid_data,
                "the id of the run cannot name a folder; give --out");
  const auto folder =
    options.out.empty() ? fs::path{"runs"} / run.id : fs::path{options.out};
  GRAPHMILL_TRY(const auto got, fetch_run(client, run.id, folder,
                                          show_progress(options.quiet)));
  if (options.cluster.json)
    say("{}\n", one_line({{"run", run.id},
                          {"folder", folder.string()},
                          {"files", got.files},
                          {"bytes", got.bytes}}));
  else if (!options.quiet)
    say("{}: {}, {:.1f} MB{}\n", folder.string(),
        pluralized(got.files.size(), "file"), double(got.bytes) * 1e-6,
        run.state == run_state::finished
          ? ""
          : fmt::format("; its checkpoints stay at the coordinator, where "
                        "`graphmill resume {} --cluster {}` goes on with it",
                        run.id, client.address()));
  return 0;
}

} // namespace

void add_fetch_command(command_line& cli) {
  auto options = std::make_shared<fetch_options>();
  auto* command = cli.app.add_subcommand(
    "fetch", "Copy the folder of a finished run from a cluster");
  command->add_option("run", options->run, "Id of the run (default: latest)");
  command->add_option("--out", options->out,
                      "The folder to make (default: runs/RUN)");
  command->add_flag("-q,--quiet", options->quiet, "Show no progress");
  add_cluster_options(*command, options->cluster);
  command->footer("Checkpoints stay at the coordinator; `graphmill resume RUN "
                  "--cluster ADDRESS`\n"
                  "continues the run there. `graphmill evaluate` and `predict` "
                  "use the folder; give them\n"
                  "--data if the dataset has another path here.");
  command->callback(
    [&cli, options] { cli.run = [options] { return fetch(*options); }; });
}

} // namespace graphmill
