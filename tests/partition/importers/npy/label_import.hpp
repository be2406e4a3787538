#pragma once

#include "messages/base/error.hpp"
#include "partition/importers/npy/npy.hpp"
#include "tests/partition/importers/npy/array_list.hpp"
#include "tests/support/temp_folder.hpp"

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace graphmill::test {

/// A graph of three nodes with these labels, imported.
struct label_import {
  bool regression = false;
  bool renumber = false;
  bool multi_label = false;
  std::vector<std::string> no_label;
  std::optional<split_request> split;
  std::string meta = "{}";

  template <class T>
  result<dataset> operator()(const std::vector<T>& labels,
                             const std::vector<std::int64_t>& shape) const {
    temp_folder source;
    temp_folder out;
    put_array<std::int64_t>(source / "edges.npy", {0, 1, 1, 2}, {2, 2});
    put_array<T>(source / "labels.npy", labels, shape);
    if (!split)
      put_array<std::int64_t>(source / "train_idx.npy", {0});
    std::ofstream{source / "meta.json"} << meta;
    npy_import_options options{.source = source.path(),
                               .renumber_labels = renumber,
                               .multi_label = multi_label,
                               .regression = regression,
                               .no_label = no_label};
    options.changes.split = split;
    GRAPHMILL_TRYV(import_npy(options, out.path()));
    return dataset::open(out.path());
  }
};

} // namespace graphmill::test
