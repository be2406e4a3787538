#pragma once

#include "messages/base/error.hpp"
#include "partition/importers/csv/csv.hpp"
#include "tests/support/temp_folder.hpp"

#include <fstream>
#include <string>
#include <vector>

namespace graphmill::test {

/// A table of three nodes, imported with two edges between them.
struct table_import {
  bool regression = false;
  std::vector<std::string> regression_sets{};

  /// @param lines Behind the table's header; of nodes a, b and c.
  result<dataset> operator()(const std::string& header,
                             const std::string& lines) const {
    temp_folder source;
    temp_folder out;
    std::ofstream{source / "nodes.csv"} << header << '\n' << lines;
    std::ofstream{source / "edges.csv"} << "source,destination\na,b\nb,c\n";
    csv_import_options options;
    options.nodes = {{"", source / "nodes.csv"}};
    options.edges = {{"", source / "edges.csv"}};
    options.regression = regression;
    options.regression_sets = regression_sets;
    GRAPHMILL_TRYV(import_csv(options, out.path()));
    return dataset::open(out.path());
  }
};

} // namespace graphmill::test
