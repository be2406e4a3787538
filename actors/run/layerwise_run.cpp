#include "actors/run/layerwise_run.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/process/memory_probe.hpp"
#include "actors/process/processors.hpp"
#include "actors/run/data_guard.hpp"
#include "actors/run/member_setup.hpp"
#include "partition/dataset/data_records.hpp"
#include "partition/dataset/reopened_graph.hpp"
#include "partition/dataset/verification/verification.hpp"
#include "partition/files/memory_limit.hpp"
#include "pipelines/definition/validation/time_checks.hpp"
#include "pipelines/definition/validation/validation.hpp"
#include "pipelines/model/state_shapes.hpp"
#include "pipelines/model/threads.hpp"
#include "pipelines/task/chosen_target.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <limits>
#include <mutex>
#include <utility>

namespace graphmill {

namespace {

using clock = std::chrono::steady_clock;

std::uint64_t memory_for_rows(const storage_choice& choice) {
  switch (choice.where) {
  case storage_kind::memory:
    return std::numeric_limits<std::uint64_t>::max();
  case storage_kind::disk:
    return 0;
  case storage_kind::automatic:
    break;
  }
  const auto available = memory_available().bytes;
  const auto allowed = choice.memory_bytes == 0
                         ? available
                         : std::min(choice.memory_bytes, available);
  return allowed / 2;
}

/// Verifies data while a model is computed, and tells that to give up if they
/// are damaged.
class layerwise_guard {
public:
  layerwise_guard(const layerwise_config& config, data_guard::records data,
                  signal_watch& signals)
    : data_(std::move(data)), signals_(signals), sound_(answer_.get_future()),
      guard_(
        {.data = config.data, .verify = config.verify, .log = config.log}) {
    guard_.check(data_, [this](const result<void>& sound) {
      damaged_ = !sound;
      answer_.set_value(sound);
    });
  }

  /// From any thread. Samples memory on the way.
  bool stopped() {
    if (const std::unique_lock lock{mutex_, std::try_to_lock})
      memory_.sample();
    return damaged_ || signals_.count() != 0;
  }

  /// After the work: whether it may be called a success.
  /// @param work Why it has failed, if it has; damage has been the reason.
  result<void> judge(const std::optional<error>& work) {
    if (work && !damaged_)
      return *work;
    guard_.hurry();
    while (sound_.wait_for(std::chrono::seconds{0})
           != std::future_status::ready) {
      if (signals_.count() != 0)
        return fail(ec::cancelled, "stopped by the user before all data were "
                                   "verified");
      signals_.wait(timeouts::memory_look);
    }
    GRAPHMILL_TRYV(sound_.get());
    return still_unchanged(data_, replaced_files::pass);
  }

  std::uint64_t peak_bytes() const { return memory_.peak_bytes(); }

private:
  const data_guard::records data_;
  signal_watch& signals_;
  std::atomic<bool> damaged_ = false;
  std::mutex mutex_; ///< Of the probe.
  memory_probe memory_;
  std::promise<result<void>> answer_;
  std::future<result<void>> sound_;
  data_guard guard_; ///< Last: ends before what its answer uses.
};

/// Whether outputs were computed before.
result<bool> has_outputs(const layerwise_config& config,
                         const dataset_info& info) {
  if (config.outputs.empty())
    return false;
  GRAPHMILL_TRY(const auto layout, make_layout(config.def, info));
  return stored_outputs::are_in(config.outputs, layout, info);
}

result<layerwise_model::outcome> outcome_of(const stored_outputs& stored,
                                            std::size_t types) {
  layerwise_model::outcome out;
  for (std::size_t place = 0; place < types; ++place)
    out.outputs.push_back({stored.at(place), nullptr});
  return out;
}

} // namespace

layerwise_config layers_of(local_run_config& run, const std::string& scratch,
                           const std::filesystem::path& beside,
                           progress_callback on_progress) {
  auto folder = std::filesystem::path{scratch};
  if (folder.empty())
    folder = beside.has_parent_path() ? beside.parent_path() : ".";
  return {.def = run.def,
          .data = run.data,
          .verify = run.verify,
          .storage = run.storage,
          .weights = std::move(run.weights),
          .learnt = run.learnt,
          .embeddings = {},
          .scratch = std::move(folder),
          .log = run.log,
          .on_progress = std::move(on_progress)};
}

result<layerwise_result> run_layerwise(layerwise_config config,
                                       std::optional<signal_watch>& watch) {
  GRAPHMILL_TRY(const auto seen, partitioned_graph::open(config.data));
  const auto share = member_share::all(config.def, seen);
  GRAPHMILL_TRY(auto records, records_in(config.data, share.parts));
  GRAPHMILL_TRY(auto graph,
                as_learnt(reopen(config.data, seen), config.learnt));
  GRAPHMILL_TRYV(
    check_against(config.def, graph->info(), data_use::weights_alone));
  if (config.learnt && !config.def.task.empty()) { // Whose outputs it has.
    GRAPHMILL_TRY(auto chosen, choose_target(*graph, config.def));
    graph = std::make_shared<const partitioned_graph>(std::move(chosen));
  }
  GRAPHMILL_TRY(const auto stored, has_outputs(config, graph->info()));
  // Links that are searched for come after all edges, as pairs that are named.
  if (!config.def.task.empty() && !stored) {
    GRAPHMILL_TRYV(check_named_pairs(config.def));
    if (config.def.sampler.latest)
      return fail(ec::invalid_argument,
                  "--top and --all take all edges of a node, and "
                  "`sampler.latest` the last ones: list pairs with --pairs");
  }
  if (config.def.sampler.is_timed() && config.def.task.empty())
    return fail(ec::invalid_argument,
                "with `sampler.time` each node sees its own past, which "
                "computing layer by layer for all nodes at once does not do: "
                "predict in batches, without --all");
  std::vector<std::shared_ptr<const shard>> shards;
  GRAPHMILL_TRYV(check_no_others(config.def, graph->info(), config.weights));
  for (const auto part : share.parts) {
    GRAPHMILL_TRY(auto opened, graph->open_shard(part));
    shards.push_back(std::move(opened));
  }
  GRAPHMILL_TRYV(still_unchanged(records, replaced_files::count));
  keep_libraries_single_threaded();
  auto& signals = watch ? *watch : watch.emplace();
  layerwise_guard guard{config, std::move(records), signals};
  const auto began = clock::now();
  GRAPHMILL_TRY(auto order,
                original_graph::create(std::move(graph), std::move(shards)));
  layerwise_result out;
  GRAPHMILL_TRY(out.model, layerwise_model::create(
                             config.def, config.weights, std::move(order),
                             {.threads = usable_processors(),
                              .memory_bytes = memory_for_rows(config.storage),
                              .scratch = config.scratch,
                              .stopped = [&guard] { return guard.stopped(); },
                              .on_progress = config.on_progress}));
  if (stored) {
    GRAPHMILL_TRY(out.stored,
                  stored_outputs::open(config.outputs, out.model->layout(),
                                       out.model->graph().info()));
  }
  auto made = out.stored
                ? outcome_of(*out.stored, out.model->layout().outputs.size())
                : out.model->run(config.embeddings);
  if (made && config.use)
    if (auto used = config.use(*out.model, made.value()); !used)
      made = used.error();
  GRAPHMILL_TRYV(
    guard.judge(made ? std::nullopt : std::optional<error>{made.error()}));
  out.made = std::move(made).value();
  out.seconds = std::chrono::duration<double>(clock::now() - began).count();
  out.peak_memory_bytes = guard.peak_bytes();
  return out;
}

} // namespace graphmill
