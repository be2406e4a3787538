#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/commands/options/interrupt_flag.hpp"
#include "actors/commands/options/source_check.hpp"
#include "actors/process/say.hpp"
#include "messages/words/byte_text.hpp"
#include "partition/files/mapped_file.hpp"
#include "partition/partitioners/partition_dataset.hpp"
#include "partition/writing/memory_needs.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

struct partition_arguments {
  std::string dataset;
  part_id parts = 2;
  std::string method = "metis";
  std::string coarsen = "auto";
  std::string out;
  std::uint64_t seed = 0;
  double memory_gib = 0;
  bool no_verify = false;
  bool json = false;
  bool quiet = false;
};

result<fs::path> folder_for(const partition_arguments& given) {
  if (!given.out.empty())
    return fs::path{given.out};
  std::error_code failed;
  auto dataset = fs::path{given.dataset}.lexically_normal();
  if (!dataset.has_filename())
    dataset = dataset.parent_path();
  if (dataset.empty() || dataset == "." || dataset.filename() == "..")
    dataset = fs::weakly_canonical(dataset, failed);
  if (failed)
    return fail_errno(failed.value(), "cannot tell the name of the folder {}",
                      given.dataset);
  return dataset.parent_path()
         / fmt::format("{}-parts-{}", dataset.filename().string(), given.parts);
}

/// What needs less memory than a partitioning that there is not enough for.
std::string remedy_for(const dataset& data, partition_options options) {
  const auto before = estimate_partition(data.info(), options).memory_bytes;
  options.coarsen = coarsening::always;
  const auto coarsened = estimate_partition(data.info(), options).memory_bytes;
  if (coarsened < before)
    return fmt::format("; --coarsen always needs {}", byte_text(coarsened));
  options.method = partition_method::ldg;
  const auto streamed = estimate_partition(data.info(), options).memory_bytes;
  if (streamed < before)
    return fmt::format("; --method ldg needs {}", byte_text(streamed));
  return "";
}

result<int> run_partition(const partition_arguments& given) {
  const auto start = std::chrono::steady_clock::now();
  const interrupt_flag interrupted;
  GRAPHMILL_TRY(const auto data, dataset::open(given.dataset));
  GRAPHMILL_TRYV(check_parts(data.info(), given.parts));
  const partition_options options{
    .parts = given.parts,
    .method = method_of(given.method).value_or(partition_method::metis),
    .coarsen = coarsening_of(given.coarsen).value_or(coarsening::automatic),
    .seed = given.seed,
    .metis_memory_bytes =
      static_cast<std::uint64_t>(given.memory_gib * 1024 * 1024 * 1024),
    .on_progress = show_progress(given.quiet),
    .stop = &interrupt_flag::raised()};
  GRAPHMILL_TRY(const auto folder, folder_for(given));
  const auto estimate = estimate_partition(data.info(), options);
  if (!given.quiet)
    say(stderr,
        "partition {} in {} by {} into {}\nestimate: {} of memory, {} on "
        "disk, {:.0f} s\n",
        given.dataset, given.parts, given.method, folder.string(),
        byte_text(estimate.memory_bytes), byte_text(estimate.disk_bytes),
        std::max(1.0, estimate.seconds));
  if (estimate.mapped_files > std::int64_t{mapped_file::most})
    say(stderr,
        "warning: a run that has all parts on one machine maps up to {} files, "
        "and a process may map {}: make fewer parts, or serve them on several "
        "machines\n",
        estimate.mapped_files, mapped_file::most);
  if (!given.no_verify) {
    GRAPHMILL_TRYV(verify_source(data, options.on_progress, options.stop));
  }
  const auto room = memory_available();
  if (const auto short_of =
        memory_shortage("this partitioning", estimate.memory_bytes, room))
    say(stderr, "warning: {}{}\n", *short_of, remedy_for(data, options));
  GRAPHMILL_TRY(const auto done, prepare_partitions(data, options, folder));
  const std::chrono::duration<double> seconds =
    std::chrono::steady_clock::now() - start;
  if (given.json) {
    auto line = to_json(done.report);
    line["folder"] = folder.string();
    line["built"] = done.built;
    line["seconds"] = seconds.count();
    line["peak_memory_bytes"] = done.report.memory_bytes;
    line["estimate"] = {{"seconds", estimate.seconds},
                        {"memory_bytes", estimate.memory_bytes},
                        {"disk_bytes", estimate.disk_bytes}};
    line["memory_available"] = room.bytes;
    say("{}\n", one_line(line));
    return 0;
  }
  say_lines(to_text(done.report));
  say("{} {}\n", done.built ? "wrote" : "already there:", folder.string());
  if (done.built)
    say("took {:.1f} s and {} of memory\n", seconds.count(),
        byte_text(done.report.memory_bytes));
  return 0;
}

} // namespace

void add_partition_command(command_line& cli) {
  auto given = std::make_shared<partition_arguments>();
  auto* command = cli.app.add_subcommand(
    "partition", "Divide a dataset into parts, balanced by nodes of each type, "
                 "training seeds and in-edges");
  command->add_option("dataset", given->dataset, "Folder of the dataset")
    ->required();
  command->add_option("--parts", given->parts, "Number of parts")
    ->required()
    ->check(CLI::Range(part_id{1}, most_parts));
  command
    ->add_option("--method", given->method,
                 "metis: fewest cut edges; ldg: one pass, least memory; "
                 "random: balanced, ignores edges")
    ->check(CLI::IsMember({"metis", "ldg", "random"}))
    ->capture_default_str();
  command
    ->add_option(
      "--coarsen", given->coarsen,
      fmt::format(
        "Give METIS clusters of nodes: takes about 200 bytes for each node "
        "instead of 100 for each edge, and less time. auto: above {} edges",
        largest_whole_graph))
    ->check(CLI::IsMember({"auto", "always", "never"}))
    ->capture_default_str();
  command->add_option("--out", given->out,
                      "Folder to write; default: DATASET-parts-N");
  command
    ->add_option(
      "--seed", given->seed,
      "Random seed; the same dataset, options and seed give the same parts")
    ->capture_default_str();
  command
    ->add_option("--metis-memory", given->memory_gib,
                 "GiB that METIS may allocate; 0: no limit")
    ->check(CLI::NonNegativeNumber)
    ->capture_default_str();
  command->add_flag(
    "--no-verify", given->no_verify,
    "Do not compare the dataset with its recorded digests first");
  command->add_flag("--json", given->json,
                    "Print the report as one line of JSON");
  command->add_flag("-q,--quiet", given->quiet,
                    "Show neither estimate nor progress");
  command->footer("Ctrl-C or SIGTERM ends it and leaves nothing behind. After "
                  "a SIGKILL, the next\n"
                  "partitioning into the same folder removes .NAME.partial-PID "
                  "and .NAME.lock\n"
                  "beside the folder.");
  command->callback(
    [&cli, given] { cli.run = [given] { return run_partition(*given); }; });
}

} // namespace graphmill
