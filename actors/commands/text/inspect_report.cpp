#include "actors/commands/text/inspect_report.hpp"
#include "messages/base/pluralized.hpp"
#include "messages/base/printable.hpp"
#include "messages/words/byte_text.hpp"
#include "partition/dataset/label_sets.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace graphmill {

using nlohmann::json;

namespace {

/// With more classes than this, only the extremes are shown to people.
constexpr std::size_t most_classes_shown = 64;

template <class... Ts>
void print(std::string& out, fmt::format_string<Ts...> text, Ts&&... args) {
  out += format_printable(text, std::forward<Ts>(args)...);
}

std::string class_name(const node_type_info& type, std::size_t i) {
  return type.class_names.empty() ? std::to_string(i) : type.class_names[i];
}

/// Of labels that are numbers. @param which As for `print_classes`.
void print_values(std::string& out, const std::string& which,
                  const node_type_info& type, const label_inspection& found) {
  print(out, "\n{}: {}, {} without\n", which,
        pluralized(found.values.size(), "number"),
        pluralized(found.unlabelled, "node"));
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    if (i == most_classes_shown) {
      print(out, "  --json lists all\n");
      return;
    }
    const auto& one = found.values[i];
    print(out, "  {:<30} {:.6g} to {:.6g}, mean {:.6g}, deviation {:.6g}\n",
          class_name(type, i), one.least, one.most, one.mean, one.deviation);
  }
}

/// @param which "labels of <type>", or "label set <set> of <type>".
void print_classes(std::string& out, const std::string& which,
                   const node_type_info& type, const label_inspection& found) {
  const auto& counts = found.class_counts;
  if (counts.empty())
    return;
  const auto& labels = traits_of(type.labels);
  print(out, "\n{}: {}, {} without\n", which,
        pluralized(counts.size(), labels.unit, labels.units),
        pluralized(found.unlabelled, "node"));
  if (counts.size() > most_classes_shown) {
    const auto [least, most] = std::ranges::minmax_element(counts);
    print(out, "  from {} nodes ({}) to {} ({}); --json lists all\n", *least,
          class_name(type, least - counts.begin()), *most,
          class_name(type, most - counts.begin()));
    return;
  }
  for (std::size_t i = 0; i < counts.size(); ++i)
    print(out, "  {:<30} {:>12}\n", class_name(type, i), counts[i]);
}

void print_labels(std::string& out, const node_type_info& type,
                  const node_type_inspection& found) {
  const auto print_one = [&out](const std::string& which,
                                const node_type_info& shown,
                                const label_inspection& one) {
    if (one.values.empty())
      print_classes(out, which, shown, one);
    else
      print_values(out, which, shown, one);
  };
  print_one("labels of " + type.name, type, found);
  for (std::size_t s = 0; s < type.label_sets.size(); ++s) {
    const auto& set = type.label_sets[s];
    print_one(fmt::format("label set {} of {} (train {}, val {}, test {})",
                          set.name, type.name, set.split_counts[0],
                          set.split_counts[1], set.split_counts[2]),
              with_labels_of(type, set), found.label_sets[s]);
  }
}

void print_degrees(std::string& out, const char* which,
                   const degree_summary& degrees) {
  print(out, "  {:<4} {:>9.2f} {:>8}", which, degrees.mean, degrees.least);
  for (auto value : degrees.percentiles)
    print(out, " {:>8}", value);
  print(out, " {:>9} {:>11}\n", degrees.most, degrees.without);
}

/// What sparse features spare.
void print_sparsity(std::string& out, const node_type_info& type) {
  if (!type.sparse_features)
    return;
  const auto all = double(type.count) * double(type.feature_width);
  print(out,
        "\n{}: sparse features, {} values ({:.2f} % of all), {} in a row at "
        "the most; {} instead of {}\n",
        type.name, type.feature_entries,
        100 * double(type.feature_entries) / std::max(all, 1.0),
        type.most_row_entries, byte_text(type.feature_bytes()),
        byte_text(static_cast<std::uint64_t>(
          all * double(size_of(type.feature_type)))));
}

void print_tasks(std::string& out, const inspected& inspection) {
  const auto& info = inspection.with_tasks();
  for (std::size_t t = 0; t < inspection.found.tasks.size(); ++t) {
    const auto& task = info.tasks[t];
    const auto& found = inspection.found.tasks[t];
    print(out, "\ntask {}: {} of {}, train {}, val {}, test {}\n", task.name,
          traits_of(task.kind).name,
          info.edge_type_name(task.edge_types.front()), task.split_counts[0],
          task.split_counts[1], task.split_counts[2]);
    for (std::size_t i = 1; i < task.edge_types.size(); ++i)
      print(out, "  and of {}\n", info.edge_type_name(task.edge_types[i]));
    for (const auto& [count, what] :
         {std::pair{task.unlabelled,
                    "of the test split without a label: they are predicted, "
                    "and no metric counts them"},
          std::pair{found.overlapping,
                    "with the nodes of a row of an earlier split"},
          std::pair{found.reversed,
                    "whose reverse is a row of an earlier split"},
          std::pair{found.shown_back,
                    "held out, whose other direction training shows as an "
                    "edge"},
          std::pair{found.repeated, "with the nodes of an earlier row of their "
                                    "split"},
          std::pair{found.untrained, "of edge types that no training row has"},
          std::pair{found.without_others[0],
                    "whose source has known links to all nodes, so that no "
                    "destination is left as a negative"},
          std::pair{found.without_others[1],
                    "whose destination has known links from all nodes, so that "
                    "no source is left as a negative"}})
      if (count > 0)
        print(out, "  {} {}\n", pluralized(count, "row"), what);
    if (found.unseen > 0)
      print(out, "  {} that no training row has\n",
            pluralized(found.unseen, "node"));
  }
}

json tasks_json(const inspected& inspection) {
  const auto& info = inspection.with_tasks();
  auto out = json::array();
  for (std::size_t t = 0; t < inspection.found.tasks.size(); ++t) {
    const auto& task = info.tasks[t];
    const auto& found = inspection.found.tasks[t];
    auto types = json::array();
    for (const auto type : task.edge_types)
      types.push_back(info.edge_type_name(type));
    out.push_back({{"name", task.name},
                   {"kind", traits_of(task.kind).name},
                   {"edge_types", std::move(types)},
                   {"train", task.split_counts[0]},
                   {"val", task.split_counts[1]},
                   {"test", task.split_counts[2]},
                   {"unlabelled", task.unlabelled},
                   {"overlapping", found.overlapping},
                   {"reversed", found.reversed},
                   {"shown_back", found.shown_back},
                   {"repeated", found.repeated},
                   {"unseen", found.unseen},
                   {"untrained", found.untrained},
                   {"without_destinations", found.without_others[0]},
                   {"without_sources", found.without_others[1]}});
  }
  return out;
}

void print_one(std::string& out, const inspected& inspection, bool part) {
  const auto& info = inspection.data.info();
  print(out, "{:<20} {:>11} {:>13} {:>8} {:>9} {:>9} {:>9} {:>9}\n",
        "node type", "nodes", "features", "classes", "train", "val", "test",
        part ? "" : "isolated");
  for (std::size_t t = 0; t < info.node_types.size(); ++t) {
    const auto& type = info.node_types[t];
    const auto features = type.feature_width == 0
                            ? std::string{"-"}
                            : fmt::format("{} {}", type.feature_width,
                                          to_string(type.feature_type));
    print(out, "{:<20} {:>11} {:>13} {:>8} {:>9} {:>9} {:>9} {:>9}\n",
          type.name, type.count, features, type.class_count,
          type.split_counts[0], type.split_counts[1], type.split_counts[2],
          part ? "" : std::to_string(inspection.found.node_types[t].isolated));
  }
  for (std::size_t t = 0; t < info.node_types.size(); ++t) {
    print_sparsity(out, info.node_types[t]);
    print_labels(out, info.node_types[t], inspection.found.node_types[t]);
  }
  for (std::size_t t = 0; t < info.edge_types.size(); ++t) {
    const auto name = info.edge_type_name(static_cast<edge_type_id>(t));
    const auto original = inspection.names.find(name);
    print(out, "\n{}: {} edges{}\n", name, info.edge_types[t].count,
          original == inspection.names.end()
            ? ""
            : fmt::format(", \"{}\" in the source", original->second));
    print(out, "  {:<4} {:>9} {:>8}", "", "mean", "least");
    for (auto percent : degree_summary::percents)
      print(out, " {:>8}", fmt::format("{} %", percent));
    print(out, " {:>9} {:>11}\n", "most", "nodes with 0");
    const auto& found = inspection.found.edge_types[t];
    print_degrees(out, "in", found.in);
    if (!part)
      print_degrees(out, "out", found.out);
    if (found.weights)
      print(out, "  weights {:.6g} to {:.6g}, mean {:.6g}, {} of 0\n",
            found.weights->least, found.weights->most, found.weights->mean,
            found.weights->zeros);
    if (info.edge_types[t].feature_width > 0)
      print(out, "  features {} {}\n", info.edge_types[t].feature_width,
            to_string(info.edge_types[t].feature_type));
    if (part)
      continue;
    if (found.self_loops > 0 || found.duplicates > 0)
      print(out, "  {}, {} of an earlier edge\n",
            pluralized(found.self_loops, "self-loop"),
            pluralized(found.duplicates, "duplicate"));
    if (found.early > 0)
      print(out, "  {} before the time of one of their nodes\n",
            pluralized(found.early, "edge"));
  }
  if (!part)
    print_tasks(out, inspection);
  for (const auto& array : inspection.found.unused)
    print(out,
          "\n"
          "{} exists, but nothing uses it yet\n",
          array);
}

json to_json(const degree_summary& degrees) {
  json out{{"mean", degrees.mean},
           {"min", degrees.least},
           {"max", degrees.most},
           {"without", degrees.without}};
  for (std::size_t i = 0; i < degrees.percents.size(); ++i)
    out[fmt::format("p{}", degrees.percents[i])] = degrees.percentiles[i];
  return out;
}

json values_json(const std::vector<value_summary>& values) {
  auto out = json::array();
  for (const auto& one : values)
    out.push_back({{"min", one.least},
                   {"max", one.most},
                   {"mean", one.mean},
                   {"deviation", one.deviation}});
  return out;
}

json edges_json(const inspected& inspection, bool part) {
  const auto& info = inspection.data.info();
  auto edges = json::array();
  for (std::size_t t = 0; t < info.edge_types.size(); ++t) {
    const auto name = info.edge_type_name(static_cast<edge_type_id>(t));
    edges.push_back(
      {{"name", name},
       {"count", info.edge_types[t].count},
       {"in_degree", to_json(inspection.found.edge_types[t].in)}});
    if (const auto original = inspection.names.find(name);
        original != inspection.names.end())
      edges.back()["original_name"] = original->second;
    const auto& found = inspection.found.edge_types[t];
    if (found.weights)
      edges.back()["weights"] = {{"min", found.weights->least},
                                 {"max", found.weights->most},
                                 {"mean", found.weights->mean},
                                 {"zeros", found.weights->zeros}};
    if (info.edge_types[t].feature_width > 0) {
      edges.back()["feature_width"] = info.edge_types[t].feature_width;
      edges.back()["feature_type"] = to_string(info.edge_types[t].feature_type);
    }
    if (part)
      continue;
    edges.back()["out_degree"] = to_json(found.out);
    edges.back()["self_loops"] = found.self_loops;
    edges.back()["duplicates"] = found.duplicates;
    if (info.edge_types[t].timed)
      edges.back()["before_their_nodes"] = found.early;
  }
  return edges;
}

/// What is said of labels that are not classes.
void tell_kind(json& labels, label_kind kind, const label_inspection& found) {
  if (!traits_of(kind).rows)
    return;
  labels[std::string{to_string(kind)}] = true;
  if (traits_of(kind).numbers)
    labels["values"] = values_json(found.values);
}

json to_json(const inspected& inspection, bool part) {
  const auto& info = inspection.data.info();
  auto nodes = json::array();
  for (std::size_t t = 0; t < info.node_types.size(); ++t) {
    const auto& type = info.node_types[t];
    const auto& found = inspection.found.node_types[t];
    nodes.push_back({{"name", type.name},
                     {"count", type.count},
                     {"feature_width", type.feature_width},
                     {"feature_type", to_string(type.feature_type)},
                     {"class_names", type.class_names},
                     {"class_counts", found.class_counts},
                     {"unlabelled", found.unlabelled},
                     {"train", type.split_counts[0]},
                     {"val", type.split_counts[1]},
                     {"test", type.split_counts[2]}});
    tell_kind(nodes.back(), type.labels, found);
    if (type.sparse_features)
      nodes.back()["sparse_features"] = {{"entries", type.feature_entries},
                                         {"most_in_row", type.most_row_entries},
                                         {"bytes", type.feature_bytes()}};
    if (!part)
      nodes.back()["isolated"] = found.isolated;
    for (std::size_t s = 0; s < type.label_sets.size(); ++s) {
      const auto& set = type.label_sets[s];
      nodes.back()["label_sets"].push_back(
        {{"name", set.name},
         {"class_names", set.class_names},
         {"class_counts", found.label_sets[s].class_counts},
         {"unlabelled", found.label_sets[s].unlabelled},
         {"train", set.split_counts[0]},
         {"val", set.split_counts[1]},
         {"test", set.split_counts[2]}});
      tell_kind(nodes.back()["label_sets"].back(), set.labels,
                found.label_sets[s]);
    }
  }
  json out{{"folder", inspection.data.folder().string()},
           {"name", info.name},
           {"target", info.node_types[info.target].name},
           {"provenance", info.provenance},
           {"digest", info.digest},
           {"node_types", std::move(nodes)},
           {"edge_types", edges_json(inspection, part)},
           {"broken", inspection.found.broken},
           {"unused", inspection.found.unused}};
  if (!inspection.with_tasks().tasks.empty() && !part)
    out["tasks"] = tasks_json(inspection);
  return out;
}

/// What is to be known of the dataset as a whole, a sentence each.
std::vector<std::string> notes_on(std::span<const inspected> parts) {
  auto whole = parts.front().data.info();
  for (const auto& part : parts.subspan(1)) {
    const auto& info = part.data.info();
    for (std::size_t t = 0; t < whole.edge_types.size(); ++t)
      whole.edge_types[t].count += info.edge_types[t].count;
    for (std::size_t t = 0; t < whole.node_types.size(); ++t)
      for (std::size_t s = 0; s < info.node_types[t].split_counts.size(); ++s)
        whole.node_types[t].split_counts[s] +=
          info.node_types[t].split_counts[s];
  }
  return notes_on_target(whole);
}

} // namespace

std::string inspection_text(std::span<const inspected> parts,
                            bool partitioned) {
  std::string out;
  std::vector<std::string> broken;
  const auto& info = parts.front().data.info();
  print(out, "{}: {}\ntarget {}, digest {}\n", info.name, info.provenance,
        info.node_types[info.target].name, info.digest);
  if (partitioned)
    print(out, "partitioned, {}\n", pluralized(parts.size(), "part"));
  for (std::size_t p = 0; p < parts.size(); ++p) {
    print(out, "\n");
    if (partitioned)
      print(out, "-- part {}\n", p);
    print_one(out, parts[p], partitioned);
    broken.insert(broken.end(), parts[p].found.broken.begin(),
                  parts[p].found.broken.end());
  }
  if (partitioned)
    print_tasks(out, parts.front());
  for (const auto& note : notes_on(parts))
    print(out, "\nwarning: {}\n", note);
  if (broken.empty()) {
    print(out, "\nnothing broken\n");
    return out;
  }
  print(out, "\nbroken:\n");
  for (const auto& sentence : broken)
    print(out, "  {}\n", sentence);
  return out;
}

std::string inspection_json(std::span<const inspected> parts,
                            bool partitioned) {
  json out;
  if (partitioned) {
    out = {{"parts", json::array()}, {"broken", json::array()}};
    for (const auto& part : parts) {
      out["parts"].push_back(to_json(part, true));
      for (const auto& sentence : part.found.broken)
        out["broken"].push_back(sentence);
    }
    if (!parts.front().with_tasks().tasks.empty())
      out["tasks"] = tasks_json(parts.front());
  } else {
    out = to_json(parts.front(), false);
  }
  out["notes"] = notes_on(parts);
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

} // namespace graphmill
