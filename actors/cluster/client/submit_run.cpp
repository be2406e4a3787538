#include "actors/cluster/client/submit_run.hpp"

#include "actors/cluster/client/upload_files.hpp"
#include "actors/process/temporary_folder.hpp"
#include "pipelines/definition/definition_file.hpp"
#include "pipelines/results/safetensors.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace graphmill {

namespace {

/// It names no dataset, for the weights may be of any: the coordinator tells by
/// that, and adds what a run has at its beginning besides weights.
result<checkpoint> beginning_with(const std::filesystem::path& weights,
                                  const definition& def) {
  GRAPHMILL_TRY(auto file, read_safetensors(weights));
  std::erase_if(file.tensors, [](const named_tensor& one) {
    return !is_weight(one.name); // A checkpoint has more than weights.
  });
  checkpoint out;
  out.state.tensors =
    std::make_shared<const std::vector<named_tensor>>(std::move(file.tensors));
  out.definition = definition_yaml(def);
  return out;
}

} // namespace

result<std::string> submit_run(cluster_client& client, definition def,
                               bool tensorboard, const progress_callback& tell,
                               std::optional<learnt_from> learnt) {
  const auto weights = std::exchange(def.model.weights, {});
  if (weights.empty())
    return client.submit(def, tensorboard);
  GRAPHMILL_TRY(auto begin, beginning_with(weights, def));
  if (!learnt) {
    GRAPHMILL_TRY(learnt, learnt_beside(weights));
  }
  begin.learnt = std::move(learnt);
  temporary_folder scratch;
  GRAPHMILL_TRY(const auto parent, scratch.make());
  GRAPHMILL_TRY(const auto folder, write_checkpoint(parent, begin, 1));
  GRAPHMILL_TRYV(upload_checkpoint(client, folder, tell));
  return client.resume(def, {.tensorboard = tensorboard, .uploaded = true});
}

} // namespace graphmill
