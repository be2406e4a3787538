#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/files/digest_record.hpp"

#include <filesystem>
#include <span>
#include <vector>

namespace graphmill {

/// The expected digests of a plain dataset's arrays: one for each, else one of
/// the whole, else nothing. Stamps are of now.
result<std::vector<digest_record>> records_of(const dataset& data);

/// The same of a part of a partitioned dataset.
result<std::vector<digest_record>>
records_of_part(const std::filesystem::path& whole, part_id part);

/// The same for the mapped files of a process in a folder: of a plain dataset,
/// or of some parts of a partitioned one and its seeds.
result<std::vector<digest_record>>
records_in(const std::filesystem::path& folder, std::span<const part_id> parts);

} // namespace graphmill
