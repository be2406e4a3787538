#include "partition/partitioners/report.hpp"
#include "messages/base/pluralized.hpp"
#include "messages/base/printable.hpp"
#include "messages/words/byte_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <exception>
#include <numeric>

namespace graphmill {

using nlohmann::json;

std::vector<partition_report::balance_row>
balance_of(const vertex_loads& loads, part_id parts,
           const assigned_parts& assigned) {
  const part_loads held{loads, parts, assigned.assignment};
  std::vector<partition_report::balance_row> rows;
  for (int c = 0; c < loads.constraints(); ++c) {
    const auto total = loads.total(c);
    if (total == 0)
      continue;
    const auto mean = static_cast<double>(total) / parts;
    const auto largest = held.heaviest_part(c);
    const auto least = std::max((total + parts - 1) / parts, loads.heaviest(c));
    rows.push_back(
      {.constraint = loads.constraint_name(c),
       .total = total,
       .largest = largest,
       .mean = mean,
       .imbalance = static_cast<double>(largest) / mean,
       .best_possible = static_cast<double>(least) / mean,
       .within = static_cast<double>(largest) <= mean * (1 + balance_tolerance),
       .dealt =
         std::count(assigned.dealt.begin(), assigned.dealt.end(), c) != 0});
  }
  return rows;
}

// -- JSON

json to_json(const partition_report& report) {
  auto balance = json::array();
  for (const auto& row : report.balance)
    balance.push_back({{"constraint", row.constraint},
                       {"total", row.total},
                       {"largest", row.largest},
                       {"mean", row.mean},
                       {"imbalance", row.imbalance},
                       {"best_possible", row.best_possible},
                       {"within", row.within},
                       {"dealt", row.dealt}});
  auto rows = json::array();
  for (const auto& row : report.part_rows)
    rows.push_back({{"nodes", row.nodes},
                    {"training_seeds", row.training_seeds},
                    {"in_edges", row.in_edges},
                    {"cut_edges", row.cut_edges},
                    {"halo", row.halo},
                    {"bytes", row.bytes}});
  json out{{"parts", report.parts},
           {"method", to_string(report.method)},
           {"coarsened", report.coarsened},
           {"seed", report.seed},
           {"nodes", report.nodes},
           {"edges", report.edges},
           {"cut_edges", report.cut_edges},
           {"cut", report.cut()},
           {"node_types", report.node_types},
           {"balance", balance},
           {"part_rows", rows},
           {"notes", report.notes}};
  if (report.first_cut)
    out["first_cut"] = *report.first_cut;
  return out;
}

namespace {

/// So much more of a cut costs about as much more traffic.
constexpr double tolerated_wear = 0.2;

/// Throws what nlohmann throws.
partition_report read_report(const json& stored) {
  partition_report out;
  stored.at("parts").get_to(out.parts);
  out.method = method_of(stored.at("method").get<std::string>())
                 .value_or(partition_method::metis);
  out.coarsened = stored.value("coarsened", false); // Older reports lack it.
  stored.at("seed").get_to(out.seed);
  if (stored.contains("first_cut"))
    out.first_cut = stored.at("first_cut").get<double>();
  stored.at("nodes").get_to(out.nodes);
  stored.at("edges").get_to(out.edges);
  stored.at("cut_edges").get_to(out.cut_edges);
  stored.at("node_types").get_to(out.node_types);
  stored.at("notes").get_to(out.notes);
  for (const auto& row : stored.at("balance"))
    out.balance.push_back({.constraint = row.at("constraint"),
                           .total = row.at("total"),
                           .largest = row.at("largest"),
                           .mean = row.at("mean"),
                           .imbalance = row.at("imbalance"),
                           .best_possible = row.at("best_possible"),
                           .within = row.at("within"),
                           .dealt = row.at("dealt")});
  for (const auto& row : stored.at("part_rows"))
    out.part_rows.push_back({.nodes = row.at("nodes"),
                             .training_seeds = row.at("training_seeds"),
                             .in_edges = row.at("in_edges"),
                             .cut_edges = row.at("cut_edges"),
                             .halo = row.at("halo"),
                             .bytes = row.at("bytes")});
  return out;
}

} // namespace

result<partition_report> report_of(const json& stored,
                                   const std::string& where) {
  try {
    return read_report(stored);
  } catch (const json::exception& broken) {
    return fail(ec::invalid_data, "the report in {} is broken: {}", where,
                broken.what());
  }
}

// -- text

namespace {

std::string verdict_of(const partition_report::balance_row& row) {
  std::string text;
  if (!row.within)
    text = fmt::format("{:.1f} % above the mean", (row.imbalance - 1) * 100);
  if (!row.within && row.best_possible > 1 + balance_tolerance)
    text += fmt::format("; {:.1f} % cannot be avoided",
                        (row.best_possible - 1) * 100);
  if (row.dealt)
    text += text.empty() ? "dealt out after METIS" : ", dealt out after METIS";
  return text.empty() ? "within 5 %" : text;
}

} // namespace

std::string wear_of(const partition_report& report) {
  if (!report.first_cut)
    return "";
  if (report.cut() > *report.first_cut * (1 + tolerated_wear))
    return fmt::format("{:.2f} % of all edges are cut now, and {:.2f} % were "
                       "when the parts were made",
                       report.cut() * 100, *report.first_cut * 100);
  for (const auto& row : report.balance)
    if (!row.within && row.best_possible <= 1 + balance_tolerance)
      return fmt::format("the largest part has {:.1f} % more {} than the mean",
                         (row.imbalance - 1) * 100, row.constraint);
  return "";
}

std::string to_text(const partition_report& report) {
  auto text = fmt::format("{} by {}: {} of {} cut ({:.2f} %)\n\n",
                          pluralized(report.parts, "part"),
                          to_string(report.method), report.cut_edges,
                          pluralized(report.edges, "edge"), report.cut() * 100);
  text += fmt::format("{:<28} {:>12} {:>12} {:>12}\n", "balance", "total",
                      "largest part", "over mean");
  for (const auto& row : report.balance)
    text +=
      format_printable("{:<28} {:>12} {:>12} {:>12.4f}  {}\n", row.constraint,
                       row.total, row.largest, row.imbalance, verdict_of(row));
  text += fmt::format("\n{:>4} {:>12} {:>12} {:>12} {:>12} {:>12} {:>10}\n",
                      "part", "nodes", "train seeds", "in-edges", "cut edges",
                      "halo", "size");
  for (std::size_t p = 0; p < report.part_rows.size(); ++p) {
    const auto& row = report.part_rows[p];
    text += fmt::format(
      "{:>4} {:>12} {:>12} {:>12} {:>12} {:>12} {:>10}\n", p,
      std::accumulate(row.nodes.begin(), row.nodes.end(), std::int64_t{0}),
      row.training_seeds, row.in_edges, row.cut_edges, row.halo,
      byte_text(row.bytes));
  }
  for (const auto& note : report.notes)
    text += format_printable("note: {}\n", note);
  return text;
}

} // namespace graphmill
