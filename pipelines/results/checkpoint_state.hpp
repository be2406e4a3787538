#pragma once

#include "messages/base/error.hpp"
#include "partition/files/content_hash.hpp"
#include "pipelines/results/checkpoint.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace graphmill {

/// Bytes of a state.json that is read: more than any that is written.
inline constexpr std::size_t largest_checkpoint_state = std::size_t{1} << 29;

/// Writes state.json of a checkpoint, or fails if it would be too large to be
/// read, which takes some million epochs of metrics. Takes as much memory for
/// many epochs as for none, if it is given the lines as a part of their file.
/// @param file New. @param path For the error only.
/// @param tensors Of the file with its tensors.
result<void> write_checkpoint_state(int file, const std::filesystem::path& path,
                                    const checkpoint& made,
                                    const file_digest& tensors);

struct checkpoint_state {
  checkpoint content; ///< But for the tensors.
  file_digest tensors;
};

/// Reads and checks such a text.
/// @param name Of the file, for errors.
result<checkpoint_state> parse_checkpoint_state(std::string_view text,
                                                const std::string& name);

/// The same of the folder of a checkpoint, without a look at its tensors.
result<checkpoint_state>
read_checkpoint_state(const std::filesystem::path& folder);

} // namespace graphmill
