#pragma once

#include "messages/base/error.hpp"
#include "messages/base/progress.hpp"
#include "partition/dataset/dataset.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace graphmill {

/// A fingerprint of a dataset's content: XXH3 with 128 bits (Collet) over its
/// types, counts, features, labels, splits, edge lists and weights, as 32
/// hexadecimal digits. Neither names of files nor provenance count, nor degrees
/// and sums of weights, which follow from the rest. Reads all of it once.
result<std::string> content_digest(const dataset& data,
                                   const progress_callback& on_progress = {});

/// That, and the digest of each array's elements by itself, degrees included.
struct dataset_digests {
  std::string content;
  std::map<std::string, std::string> arrays; ///< By path within the folder.
};

/// Reads all of it once.
result<dataset_digests> digests_of(const dataset& data,
                                   const progress_callback& on_progress = {});

/// Adds "array_digests" to the dataset.json of a folder, or replaces them.
result<void>
write_array_digests(const std::filesystem::path& folder,
                    const std::map<std::string, std::string>& digests);

/// The field of partitions.json with the digest of all others.
inline constexpr const char* own_digest_field = "own_digest";

/// Of the JSON text without spaces, keys in their order, of all fields but
/// that: how the file is laid out does not matter.
std::string own_digest(const nlohmann::json& book);

/// What a digest of a folder is over: texts and arrays in turn. A text goes
/// before its array; the last piece may have none.
struct digest_piece {
  std::string text;
  const npy_array* array = nullptr;
};

/// Of `content_digest`.
std::vector<digest_piece> content_of(const dataset& data);

/// Of a part, as `written_part::digest` says.
/// @param original_ids Of each node type, and
/// @param original_begin of each edge type: arrays that only parts have.
std::vector<digest_piece>
content_of_part(const dataset& part, std::span<const npy_array> original_ids,
                std::span<const npy_array> original_begin);

/// All arrays that are open.
std::vector<const npy_array*> arrays_of(const dataset& data);

} // namespace graphmill
