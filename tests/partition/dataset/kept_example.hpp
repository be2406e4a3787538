#pragma once

#include "partition/dataset/dataset.hpp"
#include "partition/files/npy/npy.hpp"
#include "partition/partitioners/partition_dataset.hpp"
#include "tests/partition/dataset/example.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>

namespace graphmill::test {

/// The example, whole and in two parts.
struct kept_example {
  temp_folder folder;
  std::filesystem::path whole = folder / "whole";
  std::filesystem::path parts = folder / "parts";
  std::filesystem::path memory = folder / "memory";

  kept_example() {
    std::filesystem::create_directory(whole);
    value_of(write_example(whole));
    partition_options options;
    options.method = partition_method::random;
    value_of(
      prepare_partitions(value_of(dataset::open(whole)), options, parts));
  }

  /// A time at which no file was changed a moment ago.
  static std::int64_t later() {
    using namespace std::chrono;
    return duration_cast<nanoseconds>(
             (system_clock::now() + hours{1}).time_since_epoch())
      .count();
  }
};

/// Flips a bit of the element in the middle; twice gives what was there.
inline void flip_bit(const std::filesystem::path& path) {
  std::streamoff at = 0;
  {
    const auto array = value_of(npy_array::open(path));
    at = array.data() - array.file().bytes().data()
         + array.size() / 2 * std::streamoff(size_of(array.type()));
  }
  std::fstream file{path, std::ios::in | std::ios::out | std::ios::binary};
  file.seekg(at);
  const auto byte = static_cast<char>(file.get() ^ 1);
  file.seekp(at);
  file.put(byte);
}

/// Changes a JSON file; it stays one that can be read, and has no digest of
/// itself then.
template <class Change>
void change(const std::filesystem::path& file, Change change) {
  nlohmann::json about;
  std::ifstream{file} >> about;
  change(about);
  about.erase("own_digest");
  std::ofstream{file} << about;
}

} // namespace graphmill::test
