#pragma once

#include "messages/base/error.hpp"
#include "pipelines/results/safetensors.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace graphmill {

/// Headers beyond this are refused: so many names are a kilobyte each.
inline constexpr std::uint64_t largest_tensor_header = std::uint64_t{64} << 20;
/// Tensors of a file, as many as an order to `load` may have.
inline constexpr std::size_t most_tensors_of_file = 65536;

/// The JSON header of a safetensors file with this content, padded. Fails if
/// `parse_tensor_header` would not take it.
result<std::string>
format_tensor_header(std::span<const named_tensor> tensors,
                     const std::map<std::string, std::string>& metadata);

/// Reads and checks a JSON header. The tensors come in the order of their data,
/// which covers `data_size` bytes without hole or overlap; their values are
/// sized, but not yet there.
/// @param name Of the file, for errors.
result<tensor_file> parse_tensor_header(const std::string& json,
                                        std::uint64_t data_size,
                                        const std::string& name);

} // namespace graphmill
