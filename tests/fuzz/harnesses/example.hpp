#pragma once

#include "partition/dataset/dataset.hpp"
#include "partition/partitioners/partition_dataset.hpp"
#include "tests/fuzz/harness.hpp"
#include "tests/partition/dataset/example.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

namespace graphmill::fuzz {

/// The example of the tests, whole and in parts.
struct example_folders {
  std::filesystem::path whole = scratch() / "whole";
  std::filesystem::path parts = scratch() / "parts";
  std::filesystem::path memory = scratch() / "memory";
  std::vector<std::filesystem::path> arrays; ///< Of both, by name.

  example_folders() {
    std::filesystem::create_directory(whole);
    require(test::write_example(whole).has_value(), "no example");
    auto data = dataset::open(whole);
    require(data.has_value(), "the example is broken");
    partition_options options;
    options.method = partition_method::random;
    require(prepare_partitions(data.value(), options, parts).has_value(),
            "the example cannot be cut into parts");
    for (const auto& root : {whole, parts})
      for (const auto& entry :
           std::filesystem::recursive_directory_iterator{root})
        if (entry.path().extension() == ".npy")
          arrays.push_back(entry.path());
    std::sort(arrays.begin(), arrays.end());
  }
};

inline const example_folders& example() {
  static const example_folders made;
  return made;
}

} // namespace graphmill::fuzz
