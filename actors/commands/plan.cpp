#include "actors/commands/cache_table.hpp"
#include "actors/commands/cli.hpp"
#include "actors/commands/cluster_options.hpp"
#include "actors/commands/definition_options.hpp"
#include "actors/commands/placement_table.hpp"
#include "actors/processors.hpp"
#include "actors/say.hpp"
#include "messages/counted.hpp"
#include "partition/shard.hpp"
#include "pipelines/run_plan.hpp"
#include "pipelines/validation.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdio>
#include <memory>
#include <optional>

namespace graphmill {

namespace {

/// "1.50 GiB": three digits, in the units of `budget.bytes`.
std::string memory_text(std::uint64_t bytes) {
  constexpr std::array units{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024)
    return fmt::format("{} B", bytes);
  auto value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value,
                     value < 10    ? 2
                     : value < 100 ? 1
                                   : 0,
                     units[unit]);
}

nlohmann::json batch_json(const planned_batch& batch) {
  return {{"seeds", batch.seeds},
          {"steps", batch.steps},
          {"nodes", batch.nodes},
          {"edges", batch.edges},
          {"bytes", batch.bytes}};
}

nlohmann::json plan_json(const definition& def, const std::string& data,
                         const run_plan& plan) {
  auto stages = nlohmann::json::array();
  for (const auto& stage : plan.stages)
    stages.push_back({{"stage", stage.name},
                      {"replicas", stage.replicas},
                      {"threads", stage.threads}});
  auto memory = nlohmann::json::object();
  for (const auto& part : plan.memory)
    memory[part.name] = part.bytes;
  return {{"name", def.name},
          {"dataset", def.dataset},
          {"data", data},
          {"stages", std::move(stages)},
          {"train", batch_json(plan.train)},
          {"evaluation", batch_json(plan.evaluation)},
          {"total_steps", plan.total_steps},
          {"budget_bytes", plan.budget_bytes},
          {"batches_in_flight", plan.batches_in_flight},
          {"memory", std::move(memory)},
          {"total_memory_bytes", plan.total_memory()},
          {"notes", plan.notes}};
}

void print_batch(const char* name, const planned_batch& batch) {
  say("{:<12} {:>7} {:>9} {:>11} {:>12} {:>11}\n", name, batch.steps,
      batch.seeds, batch.nodes, batch.edges, memory_text(batch.bytes));
}

void print_plan(const definition& def, const std::string& data,
                const run_plan& plan) {
  say("{} on {} in {}\n\n", def.name, def.dataset, data);
  say("{:<18} {:>8} {:>8}  {}\n", "stage", "replicas", "threads", "work");
  for (const auto& stage : plan.stages)
    say("{:<18} {:>8} {:>8}  {}\n", stage.name, stage.replicas,
        stage.threads == 0 ? "shared" : std::to_string(stage.threads),
        stage.work);
  say("\n{:<12} {:>7} {:>9} {:>11} {:>12} {:>11}\n", "largest", "steps",
      "seeds of", "nodes", "edges", "bytes");
  say("{:<12} {:>7} {:>9}\n", "batch of", "a pass", "a trainer");
  print_batch("training", plan.train);
  print_batch("evaluation", plan.evaluation);
  say("\n{} in all, {} and {} in flight\n\n",
      counted(plan.total_steps, "training step"),
      counted(plan.batches_in_flight, "batch", "batches"),
      memory_text(plan.budget_bytes));
  say("{:<26} {:>10}\n", "memory, upper bound", "bytes");
  for (const auto& part : plan.memory)
    say("{:<26} {:>10}\n", part.name, memory_text(part.bytes));
  say("{:<26} {:>10}\n", "in all", memory_text(plan.total_memory()));
  for (const auto& note : plan.notes)
    say("\n{}", wrapped("note: " + note, 0));
}

/// What caches of remote rows would spare.
result<cache_report> caches_of(const definition& def, partitioned_graph graph) {
  if (graph.part_count() == 1)
    return fail(ec::invalid_argument,
                "--cache counts what daemons ask of each other, and the "
                "dataset has one part: cut it up by `graphmill partition`");
  return count_remote_rows(
    def, std::make_shared<const partitioned_graph>(std::move(graph)));
}

result<int> plan(const definition_options& options, bool caches) {
  TRY(const auto source, load_definition(options.file, options.overrides));
  TRY(const auto data, find_dataset(source.value, options.data));
  TRY(auto graph, partitioned_graph::open(data));
  const auto problems = problems_with(source, graph.info());
  if (!problems.empty())
    return to_error(problems);
  auto def = source.value;
  settle_threads(def, def.trainer.replicas, usable_processors());
  TRY(const auto planned, plan_run(def, graph.info(), graph.part_count()));
  std::optional<cache_report> counted;
  if (caches) {
    TRY(counted, caches_of(def, std::move(graph)));
  }
  if (options.json) {
    auto json = plan_json(def, data.string(), planned);
    if (counted)
      json["cache"] = cache_json(*counted);
    say("{}\n", one_line(json));
    return 0;
  }
  print_plan(def, data.string(), planned);
  if (counted)
    say("\n{}", cache_text(*counted));
  return 0;
}

/// Where a cluster would carry it out.
result<int> plan_on(const definition_options& options,
                    const cluster_options& cluster) {
  TRY(const auto source, load_definition(options.file, options.overrides));
  TRY(auto client, connect(cluster, "plan"));
  TRY(const auto placed, client.plan(source.value));
  if (options.json)
    say("{}\n",
        one_line(placement_json(source.value, client.address(), placed)));
  else
    say("{} on the cluster at {}\n\n{}", source.value.name, client.address(),
        placement_text(placed));
  return 0;
}

} // namespace

void add_plan_command(command_line& cli) {
  auto options = std::make_shared<definition_options>();
  auto cluster = std::make_shared<cluster_options>();
  auto* command = cli.app.add_subcommand(
    "plan", "Show what a run of a definition takes: stages, steps, budgets, "
            "memory");
  add_definition_options(*command, *options);
  auto caches = std::make_shared<bool>(false);
  auto* count = command->add_flag(
    "--cache", *caches,
    "Count, by sampling an epoch, what fetch.cache of several sizes would "
    "spare, by either fetch.cache_order; takes as long as that");
  auto* address =
    command->add_option("--cluster", cluster->address,
                        "Show where the cluster with its first daemon at this "
                        "address would carry it out");
  command
    ->add_option("--key", cluster->key,
                 "The cluster's key file, if it has one (graphmill keygen)")
    ->envname("GRAPHMILL_KEY");
  address->excludes(command->get_option("--data"));
  address->excludes(count);
  command->callback([&cli, options, cluster, caches, address] {
    const auto asks = address->count() != 0;
    cli.run = [options, cluster, caches, asks] {
      return asks ? plan_on(*options, *cluster) : plan(*options, *caches);
    };
  });
}

} // namespace graphmill
