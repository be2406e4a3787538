#pragma once

#include "messages/base/error.hpp"
#include "partition/files/content_hash.hpp"
#include "pipelines/results/named_tensor.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace graphmill {

/// Named float tensors and some metadata, as one file in the safetensors format
/// (github.com/huggingface/safetensors), which other tools read without running
/// code: 8 bytes header length, a JSON header padded with spaces to a multiple
/// of 8, the tensors end to end, little-endian.
struct tensor_file {
  std::vector<named_tensor> tensors;
  std::map<std::string, std::string> metadata; ///< `__metadata__`, for people.
};

/// Writes aside, syncs, renames: the file is complete or unchanged. Fails on a
/// shape that does not fit its values, and on a name that is empty, reserved or
/// repeated.
result<void> write_safetensors(const std::filesystem::path& path,
                               const tensor_file& content);

/// Writes such a file to an empty one. The caller syncs it and gives it its
/// name. Fails as `write_safetensors` does.
/// @param path For the error only.
/// @returns the digest of the written bytes, which were not read back.
result<file_digest>
write_tensors(int fd, const std::filesystem::path& path,
              std::span<const named_tensor> tensors,
              const std::map<std::string, std::string>& metadata);

/// Reads a file of F32 tensors. Trusts nothing: header, JSON, shapes, and that
/// the tensors cover the rest of the file without gap or overlap. Tensors are
/// in the order of the file.
result<tensor_file> read_safetensors(const std::filesystem::path& path);

/// Computes the digest of a model with these weights (`replica::digest`) from
/// tensors that come piece by piece, in its order.
class weights_hash {
public:
  /// Starts the next tensor, whose values `add` brings from now on.
  void begin(const std::string& name, std::span<const std::int64_t> shape);
  void add(std::span<const float> values);

  std::string digest() const { return hash_.digest(); }

private:
  content_hash hash_;
};

/// The same of all at once.
std::string weights_digest(std::span<const named_tensor> tensors);

} // namespace graphmill
