#pragma once

#include "actors/cluster/coordinator/runs/begun_array.hpp"
#include "actors/cluster/coordinator/runs/prediction_shape.hpp"
#include "actors/cluster/coordinator/runs/told_arrays.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace graphmill {

/// Outputs of all nodes at the ends of a task's edges, as decoders take them:
///
///   embeddings.TYPE.npy  [nodes, output width] float32
///
/// Row i is of node i of the dataset before it was partitioned.
class output_arrays final : public told_arrays {
public:
  static result<std::unique_ptr<told_arrays>>
  create(const std::filesystem::path& folder, const prediction_shape& shape);

  result<void> write(std::int64_t begin, std::span<const float> ends) override;
  result<void> commit() override;

private:
  using files = std::map<std::string, begun_array>;

  output_arrays(prediction_shape shape, files by_type)
    : shape_(std::move(shape)), files_(std::move(by_type)) {}

  result<void> write_block(std::size_t block, std::int64_t begin,
                           std::span<const float> ends);
  result<void> write_nodes(const std::string& type, std::int64_t first,
                           std::span<const float> rows);
  std::int64_t width() const { return shape_.columns / 2; }

  const prediction_shape shape_;
  files files_; ///< By node type.
};

} // namespace graphmill
