#pragma once

#include "partition/dataset/dataset.hpp"
#include "partition/dataset/inspection/inspect.hpp"
#include "tests/fuzz/harness.hpp"

#include <filesystem>
#include <system_error>

namespace graphmill::fuzz {

/// An empty folder, for what is imported.
inline std::filesystem::path fresh_folder() {
  auto out = scratch() / "imported";
  std::error_code ignored;
  std::filesystem::remove_all(out, ignored);
  std::filesystem::create_directory(out);
  return out;
}

/// What an importer has written opens, and nothing in it is broken.
inline void check_import(const result<dataset_info>& done,
                         const std::filesystem::path& folder) {
  if (!done) {
    require(!done.error().message.empty(), "an error without a sentence");
    return;
  }
  const auto data = dataset::open(folder);
  if (!data)
    broken("what was imported does not open: " + data.error().message);
  const auto found = inspect_dataset(data.value());
  require(found.has_value(), "what was imported cannot be inspected");
  if (!found.value().broken.empty())
    broken("what was imported is broken: " + found.value().broken.front());
}

} // namespace graphmill::fuzz
