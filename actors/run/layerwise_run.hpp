#pragma once

#include "actors/process/signals.hpp"
#include "actors/run/local_run.hpp"
#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "messages/definition/definition.hpp"
#include "partition/dataset/label_sets.hpp"
#include "pipelines/model/layerwise/layerwise_model.hpp"
#include "pipelines/model/layerwise/stored_outputs.hpp"
#include "pipelines/planning/storage_decision.hpp"
#include "pipelines/results/named_tensor.hpp"

#include <spdlog/fwd.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

struct layerwise_config {
  definition def;
  std::filesystem::path data; ///< A dataset or partitioned dataset.
  bool verify = true;         ///< Compare the data with the digests on record.
  storage_choice storage;     ///< Of it `where` and `memory_bytes`.
  std::vector<named_tensor> weights;
  std::optional<label_meaning> learnt;  ///< As that of `run_setup`.
  std::vector<node_type_id> embeddings; ///< See `layerwise_model::run`.
  std::filesystem::path scratch;        ///< For rows that go to disk.
  /// A folder. If it has outputs of all nodes (`stored_outputs`), none are
  /// computed.
  std::filesystem::path outputs = {};
  std::shared_ptr<spdlog::logger> log;
  progress_callback on_progress = {};
  /// What is done with the rows before the data are known to be sound, while
  /// signals still end it. May be empty.
  std::function<result<void>(layerwise_model&, const layerwise_model::outcome&)>
    use = {};
};

/// The layers of a run that is ready to be used, whose weights this takes.
/// @param beside A file; rows that do not fit into memory go to its folder,
/// unless `scratch` names another one.
layerwise_config layers_of(local_run_config& run, const std::string& scratch,
                           const std::filesystem::path& beside,
                           progress_callback on_progress);

struct layerwise_result {
  std::unique_ptr<layerwise_model> model; ///< Of the rows; outlives them.
  std::optional<stored_outputs> stored;   ///< None: rows were computed.
  layerwise_model::outcome made;
  double seconds = 0; ///< For the layers, and what is done with them.
  std::uint64_t peak_memory_bytes = 0;
};

/// Computes a model layer by layer over all of a dataset, in this process, on
/// all of its processors, unless its outputs were computed before. Of the
/// memory that there is, rows of layers get half; with `storage_kind::disk`
/// none, so that all of them go to files. Data are verified meanwhile: damage
/// ends it, and it succeeds only once all was found sound. Any signal ends it
/// with `cancelled`.
/// @param signals As of `run_locally`.
result<layerwise_result> run_layerwise(layerwise_config config,
                                       std::optional<signal_watch>& signals);

} // namespace graphmill
