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

/// Named float tensors and a few words about them, as one file in the
/// safetensors format (github.com/huggingface/safetensors), which other tools
/// read without running code: 8 bytes header length, a JSON header padded with
/// spaces to a multiple of 8, the tensors end to end, little-endian.
struct tensor_file {
  std::vector<named_tensor> tensors;
  std::map<std::string, std::string> metadata; ///< `__metadata__`, for people.
};

/// Writes aside, syncs, renames: the file is there whole or as it was before.
/// Fails on a shape that does not fit its values, and on a name that is empty,
/// reserved or there twice.
result<void> write_safetensors(const std::filesystem::path& path,
                               const tensor_file& content);

/// Writes such a file to one that is empty, and no more than that: syncing it
/// and giving it its name are up to the caller. Fails as `write_safetensors`
/// does.
/// @param path For the error only.
/// @returns the digest of what was to be written, and was not read back.
result<file_digest>
write_tensors(int fd, const std::filesystem::path& path,
              std::span<const named_tensor> tensors,
              const std::map<std::string, std::string>& metadata);

/// Reads a file of F32 tensors. Trusts nothing: header, JSON, shapes, and that
/// the tensors cover the rest of the file without hole or overlap. Tensors come
/// in the order in which they lie in the file.
result<tensor_file> read_safetensors(const std::filesystem::path& path);

/// Makes the digest that a model with these weights gives (`replica::digest`),
/// of tensors that come piece by piece, in its order.
class weights_hash {
public:
  /// The next tensor, with the values that `add` brings from now on.
  void begin(const std::string& name, std::span<const std::int64_t> shape);
  void add(std::span<const float> values);

  std::string digest() const { return hash_.digest(); }

private:
  content_hash hash_;
};

/// The same of all at once.
std::string weights_digest(std::span<const named_tensor> tensors);

} // namespace graphmill
