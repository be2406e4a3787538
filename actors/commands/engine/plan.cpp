#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/cluster_options.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/commands/options/storage_options.hpp"
#include "actors/commands/text/cache_table.hpp"
#include "actors/commands/text/placement_table.hpp"
#include "actors/process/processors.hpp"
#include "actors/process/say.hpp"
#include "messages/base/pluralized.hpp"
#include "messages/base/printable.hpp"
#include "messages/words/byte_text.hpp"
#include "partition/dataset/shard.hpp"
#include "pipelines/definition/validation/validation.hpp"
#include "pipelines/planning/disk_fraction.hpp"
#include "pipelines/planning/run_plan.hpp"
#include "pipelines/task/chosen_target.hpp"

#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace graphmill {

namespace {

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
      batch.seeds, batch.nodes, batch.edges, byte_text(batch.bytes));
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
      pluralized(plan.total_steps, "training step"),
      pluralized(plan.batches_in_flight, "batch", "batches"),
      byte_text(plan.budget_bytes));
  say("{:<26} {:>10}\n", "memory, upper bound", "bytes");
  for (const auto& part : plan.memory)
    say("{:<26} {:>10}\n", part.name, byte_text(part.bytes));
  say("{:<26} {:>10}\n", "in all", byte_text(plan.total_memory()));
  for (const auto& note : plan.notes)
    say_lines("\n" + wrapped(printable("note: " + note), 0));
}

/// What caches of remote rows would spare.
result<cache_report>
caches_of(const definition& def,
          const std::shared_ptr<const partitioned_graph>& graph) {
  if (graph->part_count() == 1)
    return fail(ec::invalid_argument,
                "--cache counts requests between daemons, and the dataset has "
                "one part: divide it with `graphmill partition`");
  return count_remote_rows(def, graph);
}

/// Where the parts would be read from by a run that began now, and what share
/// of the rows would come from disk.
struct planned_storage {
  storage_decision decision;
  double fraction = 0;
};

result<planned_storage>
storage_of(const definition& def,
           const std::shared_ptr<const partitioned_graph>& graph,
           const storage_choice& choice, const run_plan& planned) {
  std::vector<std::shared_ptr<const shard>> parts;
  part_bytes data;
  for (part_id p = 0; p < graph->part_count(); ++p) {
    GRAPHMILL_TRY(auto part, graph->open_shard(p));
    data += bytes_of(*part);
    parts.push_back(std::move(part));
  }
  planned_storage out{
    decide_storage(def, planned, choice, data, memory_available())};
  if (out.decision.from_disk && data.features != 0) {
    GRAPHMILL_TRY(
      out.fraction,
      expected_disk_fraction(def, graph, parts, out.decision.memory.row_cache));
  }
  return out;
}

std::string storage_text(const planned_storage& storage) {
  auto text = sentence(storage.decision);
  if (storage.decision.from_disk)
    text +=
      fmt::format("; {:.0f} % of the feature rows are expected from there",
                  100 * storage.fraction);
  return text;
}

nlohmann::json storage_json(const planned_storage& storage) {
  const auto& decision = storage.decision;
  return {{"from_disk", decision.from_disk},
          {"why", decision.reason},
          {"data_bytes", decision.data.bytes()},
          {"feature_bytes", decision.data.features},
          {"available_bytes", decision.room.bytes},
          {"batch_bytes", decision.batch_bytes},
          {"row_cache_bytes", decision.memory.row_cache},
          {"page_bytes", decision.memory.pages},
          {"expected_disk_share", storage.fraction}};
}

struct plan_command_options : definition_options {
  storage_choice storage;
  bool caches = false;
};

result<int> plan(const plan_command_options& options) {
  GRAPHMILL_TRY(auto source, load_definition(options.file, options.overrides));
  GRAPHMILL_TRY(const auto data, find_dataset(source, options.data));
  GRAPHMILL_TRY(const auto opened, partitioned_graph::open(data));
  take_name_at_path(source, options.data, opened.info());
  const auto problems = problems_with(source, opened);
  if (!problems.empty())
    return to_error(problems);
  GRAPHMILL_TRY(auto chosen, choose_target(opened, source.value));
  const auto graph =
    std::make_shared<const partitioned_graph>(std::move(chosen));
  auto def = source.value;
  settle_threads(def, def.trainer.replicas, usable_processors());
  GRAPHMILL_TRY(auto planned,
                plan_run(def, graph->info(), graph->part_count()));
  GRAPHMILL_TRY(const auto storage,
                storage_of(def, graph, options.storage, planned));
  add_storage(planned, storage.decision);
  std::optional<cache_report> counted;
  if (options.caches) {
    GRAPHMILL_TRY(counted, caches_of(def, graph));
  }
  if (options.json) {
    auto json = plan_json(def, data.string(), planned);
    json["storage"] = storage_json(storage);
    if (counted)
      json["cache"] = cache_json(*counted);
    say("{}\n", one_line(json));
    return 0;
  }
  print_plan(def, data.string(), planned);
  say_lines("\n" + wrapped(printable(storage_text(storage)), 0));
  if (counted)
    say_lines("\n" + cache_text(*counted));
  return 0;
}

/// Where a cluster would carry it out.
result<int> plan_on(const definition_options& options,
                    const cluster_options& cluster) {
  GRAPHMILL_TRY(auto source, load_definition(options.file, options.overrides));
  source.value.model.weights.clear(); // They change nobody's place.
  GRAPHMILL_TRY(auto client, connect(cluster, "plan"));
  GRAPHMILL_TRY(const auto placed, client.plan(source.value));
  if (options.json) {
    say("{}\n",
        one_line(placement_json(source.value, client.address(), placed)));
    return 0;
  }
  say("{} on the cluster at {}\n\n", source.value.name, client.address());
  say_lines(placement_text(placed));
  return 0;
}

} // namespace

void add_plan_command(command_line& cli) {
  auto options = std::make_shared<plan_command_options>();
  auto cluster = std::make_shared<cluster_options>();
  auto* command = cli.app.add_subcommand(
    "plan", "Show the resources of a run: stages, steps, budgets, memory");
  add_definition_options(*command, *options);
  add_storage_options(*command, options->storage);
  auto* count = command->add_flag(
    "--cache", options->caches,
    "Sample an epoch and count the rows that several sizes of fetch.cache "
    "would save, for both values of fetch.cache_order");
  auto* address = command->add_option(
    "--cluster", cluster->address,
    "Show where the cluster with this coordinator would run it");
  add_key_options(*command, cluster->key, cluster->insecure);
  address->excludes(command->get_option("--data"));
  address->excludes(count);
  command->callback([&cli, options, cluster, address] {
    const auto asks = address->count() != 0;
    cli.run = [options, cluster, asks] {
      return asks ? plan_on(*options, *cluster) : plan(*options);
    };
  });
}

} // namespace graphmill
