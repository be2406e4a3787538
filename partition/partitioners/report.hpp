#pragma once

#include "messages/base/error.hpp"
#include "partition/partitioners/graph/loads.hpp"
#include "partition/partitioners/methods/assign.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// What a partitioning is worth: how many edges it cuts, and how evenly it
/// deals out what costs time and memory. A value type. The stored form depends
/// on nothing but the dataset and the options.
struct partition_report {
  /// How evenly one constraint of `vertex_loads` is dealt out.
  struct balance_row {
    std::string constraint;   ///< "nodes of paper", "training seeds", ...
    std::int64_t total = 0;   ///< Over all parts.
    std::int64_t largest = 0; ///< What the part with the most has.
    double mean = 0;          ///< total / parts
    double imbalance = 1;     ///< largest / mean
    double best_possible = 1; ///< What no assignment can be below.
    bool within = true;       ///< imbalance <= 1.05
    bool dealt = false;       ///< Too small for METIS, dealt out afterwards.
  };

  /// What one part has.
  struct part_row {
    std::vector<std::int64_t> nodes; ///< How many of each node type it owns.
    std::int64_t training_seeds = 0;
    std::int64_t in_edges = 0;
    std::int64_t cut_edges = 0; ///< In-edges from other parts.
    std::int64_t halo = 0;   ///< Distinct nodes of other parts among sources.
    std::uint64_t bytes = 0; ///< On disk.
  };

  part_id parts = 1;
  partition_method method = partition_method::metis;
  bool coarsened = false; ///< METIS was to cut a coarsened graph.
  std::uint64_t seed = 0;
  std::int64_t nodes = 0;
  std::int64_t edges = 0;
  std::int64_t cut_edges = 0; ///< Between parts.
  std::vector<std::string> node_types;
  std::vector<balance_row> balance;
  std::vector<part_row> part_rows;
  std::vector<std::string> notes;
  /// The most that this process or METIS's held, mapped files apart. Not
  /// stored: 0 when the partitions were there already.
  std::uint64_t memory_bytes = 0;

  /// `cut` when the parts were made, if nodes have been added since.
  std::optional<double> first_cut{};

  /// The share of all edges that run between parts, from 0 to 1.
  double cut() const {
    return edges == 0
             ? 0
             : static_cast<double>(cut_edges) / static_cast<double>(edges);
  }
};

/// The balance of an assignment, a row per constraint, in their order; those of
/// which the dataset has nothing are left out.
std::vector<partition_report::balance_row>
balance_of(const vertex_loads& loads, part_id parts,
           const assigned_parts& assigned);

nlohmann::json to_json(const partition_report& report);

/// Reads what `to_json` has written. Fails with `invalid_data` if a field is
/// missing or of another type.
/// @param where Names the file in errors.
result<partition_report> report_of(const nlohmann::json& stored,
                                   const std::string& where);

/// Why parts that have grown should be made anew, as the end of a sentence.
/// Empty: they are about as good as they were.
std::string wear_of(const partition_report& report);

/// A table for people.
std::string to_text(const partition_report& report);

} // namespace graphmill
