#pragma once

#include "partition/files/file_stamp.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace graphmill {

/// A digest that stands in a dataset.json or partitions.json, and what must
/// have it: one array; or all arrays of a folder together with what its
/// dataset.json says of them; or that file itself, as it was read.
struct digest_record {
  /// What is hashed, in this order: a text, then bytes of a file, which was in
  /// the state of `stamp` when the record was made. Without a file: the text
  /// alone.
  struct piece {
    std::string text;
    std::filesystem::path file;
    file_stamp stamp;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::string digest; ///< Of these bytes alone; empty: none is on record.

    bool operator==(const piece&) const = default;
  };

  std::filesystem::path path; ///< The array's file, or the folder.
  /// 32 hexadecimal digits. Empty: there should be one, and is not.
  std::string digest;
  std::vector<piece> pieces;

  bool operator==(const digest_record&) const = default;
};

} // namespace graphmill
