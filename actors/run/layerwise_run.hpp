#pragma once

#include "actors/process/signals.hpp"
#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "messages/definition/definition.hpp"
#include "partition/dataset/label_sets.hpp"
#include "pipelines/model/layerwise/layerwise_model.hpp"
#include "pipelines/planning/storage_decision.hpp"
#include "pipelines/results/named_tensor.hpp"

#include <spdlog/fwd.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
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
  std::shared_ptr<spdlog::logger> log;
  progress_callback on_progress = {};
};

struct layerwise_result {
  std::unique_ptr<layerwise_model> model; ///< Of the rows; outlives them.
  layerwise_model::outcome made;
  double seconds = 0; ///< For the layers.
  std::uint64_t peak_memory_bytes = 0;
};

/// Computes a model layer by layer over all of a dataset, in this process, on
/// all of its processors. Of the memory that there is, rows of layers get half;
/// with `storage_kind::disk` none, so that all of them go to files. Data are
/// verified meanwhile: damage ends it, and it succeeds only once all was found
/// sound. Any signal ends it with `cancelled`.
/// @param signals As of `run_locally`.
result<layerwise_result> run_layerwise(layerwise_config config,
                                       std::optional<signal_watch>& signals);

} // namespace graphmill
