#include "actors/commands/engine/prediction_nodes.hpp"

#include "messages/words/number_text.hpp"
#include "partition/dataset/chosen_task.hpp"
#include "partition/files/file_io.hpp"
#include "partition/files/npy/npy.hpp"
#include "partition/importers/csv/text/csv_reader.hpp"
#include "pipelines/definition/yaml/problem.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace graphmill {

namespace {

namespace fs = std::filesystem;

/// A text of ids that is larger than this is a .npy by mistake.
constexpr std::size_t most_list_bytes = std::size_t{1} << 30;

/// Entries that are no nodes and are named in an error.
constexpr std::size_t named_entries = 5;

constexpr node_id no_node = -1;

/// As a user wrote them.
struct node_entries {
  std::vector<std::string> texts;
  std::vector<std::int64_t> lines; ///< From 1; empty: of an array.

  std::string place(std::size_t i) const {
    return lines.empty() ? fmt::format("number {} of the list", i + 1)
                         : fmt::format("line {}", lines[i]);
  }
};

/// What entries mean in one of the two ways.
struct meaning_of_entries {
  std::vector<node_id> nodes; ///< `no_node` where an entry means none.
  std::size_t unknown = 0;

  void add(std::optional<node_id> node) {
    nodes.push_back(node.value_or(no_node));
    unknown += !node;
  }
};

template <class T>
result<node_entries> entries_of(const npy_array& array) {
  GRAPHMILL_TRY(const auto values, array.as<T>());
  node_entries out;
  out.texts.reserve(values.size());
  for (const auto value : values)
    out.texts.push_back(std::to_string(value));
  return out;
}

result<node_entries> entries_of_array(const fs::path& file) {
  GRAPHMILL_TRY(const auto array, npy_array::open(file));
  GRAPHMILL_TRYV(array.expect_shape({-1}));
  return array.type() == dtype::int32 ? entries_of<std::int32_t>(array)
                                      : entries_of<std::int64_t>(array);
}

std::string_view without_blanks(std::string_view line) {
  const auto first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos)
    return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

/// Lines without anything in them count, too, so that errors name the line that
/// an editor shows.
result<node_entries> entries_of_text(const fs::path& file) {
  GRAPHMILL_TRY(const auto text, read_text(file, most_list_bytes));
  node_entries out;
  std::string_view rest = text;
  for (std::int64_t number = 1; !rest.empty(); ++number) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const auto line = without_blanks(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.empty())
      continue;
    out.texts.emplace_back(line);
    out.lines.push_back(number);
  }
  return out;
}

meaning_of_entries as_numbers(const node_entries& entries, node_id count) {
  meaning_of_entries out;
  for (const auto& text : entries.texts) {
    const auto number = number_from<node_id>(text);
    const auto there = number && *number >= 0 && *number < count;
    out.add(there ? number : std::nullopt);
  }
  return out;
}

/// Looks through all names, and keeps those of the list alone.
result<meaning_of_entries> as_names(const node_entries& entries, node_id count,
                                    const table_ids& names) {
  std::unordered_map<std::string_view, std::optional<node_id>> wanted;
  for (const auto& text : entries.texts)
    wanted.try_emplace(text);
  for (node_id node = 0; node < count; ++node) {
    const auto name = names.of(node);
    const auto at = wanted.find(std::string_view{name});
    if (at == wanted.end())
      continue;
    if (at->second)
      return fail(ec::invalid_argument,
                  "nodes {} and {} are both called {}: list them by number "
                  "(--nodes-by number)",
                  *at->second, node, in_quotes(name));
    at->second = node;
  }
  meaning_of_entries out;
  for (const auto& text : entries.texts)
    out.add(wanted.find(text)->second);
  return out;
}

/// "`x` as line 2, `y` as line 7": the first entries that mean no node.
std::string unknown_text(const node_entries& entries,
                         const meaning_of_entries& meant) {
  std::string out;
  std::size_t named = 0;
  for (std::size_t i = 0; i < entries.texts.size() && named < named_entries;
       ++i)
    if (meant.nodes[i] == no_node)
      out += fmt::format("{}{} as {}", named++ == 0 ? "" : ", ",
                         in_quotes(entries.texts[i]), entries.place(i));
  return meant.unknown > named ? out + ", ..." : out;
}

error unknown_entries(const fs::path& file, const node_entries& entries,
                      const meaning_of_entries& meant,
                      const node_type_info& type,
                      const std::string& what_there_is) {
  return fail(ec::not_found,
              "{} lists nodes of type {} that do not exist: {} of {}, {}; {}",
              file.string(), in_quotes(type.name), meant.unknown,
              entries.texts.size(), unknown_text(entries, meant),
              what_there_is);
}

/// Of entries that all are numbers of nodes. Fails if one may be a name: it is
/// the name of another node, or names are numbers, too, and it is none.
result<std::vector<node_id>> if_no_names(const node_entries& entries,
                                         meaning_of_entries numbers,
                                         const meaning_of_entries& named,
                                         const table_ids& names) {
  for (std::size_t i = 0; i < entries.texts.size(); ++i) {
    const auto number = numbers.nodes[i];
    if (named.nodes[i] == number)
      continue;
    const auto is_name = named.nodes[i] != no_node;
    const auto own_name = names.of(number);
    if (!is_name && !number_from<std::int64_t>(own_name))
      continue;
    return fail(
      ec::invalid_argument,
      "{} may be a number or a name: {} is node {} by its number, {}; say "
      "which by --nodes-by number or --nodes-by name",
      entries.place(i), entries.texts[i], number,
      is_name ? fmt::format("and node {} has that name", named.nodes[i])
              : fmt::format("which is called {}, and no node has that name",
                            own_name));
  }
  return std::move(numbers.nodes);
}

/// The nodes that entries of a file mean.
result<std::vector<node_id>> nodes_of(const fs::path& file,
                                      const node_entries& entries,
                                      const node_type_info& type,
                                      const table_ids* names,
                                      node_naming naming) {
  if (naming == node_naming::name && names == nullptr)
    return fail(
      ec::invalid_argument,
      "--nodes-by name: the dataset has no names of nodes of type {}; "
      "`graphmill import csv` and to_graphmill write them. List numbers",
      in_quotes(type.name));
  auto numbers = as_numbers(entries, type.count);
  const auto by_number = fmt::format("numbers go from 0 to {}", type.count - 1);
  if (names == nullptr || naming == node_naming::number) {
    if (numbers.unknown == 0)
      return std::move(numbers.nodes);
    return unknown_entries(file, entries, numbers, type,
                           names == nullptr
                             ? by_number + ", and the dataset has no names"
                             : by_number);
  }
  GRAPHMILL_TRY(auto named, as_names(entries, type.count, *names));
  if (naming == node_naming::either && numbers.unknown == 0)
    return if_no_names(entries, std::move(numbers), named, *names);
  if (named.unknown == 0)
    return std::move(named.nodes);
  const auto& nearer =
    naming == node_naming::either && numbers.unknown < named.unknown ? numbers
                                                                     : named;
  return unknown_entries(file, entries, nearer, type,
                         fmt::format("names are those of {}, and {}",
                                     names->file().string(), by_number));
}

/// The places of source, destination and edge type among the columns.
result<std::array<std::optional<std::size_t>, 3>>
edge_columns_of(const csv_reader& rows) {
  constexpr std::array words{"source", "destination", "type"};
  std::array<std::optional<std::size_t>, 3> out;
  const auto& header = rows.fields();
  for (std::size_t c = 0; c < header.size(); ++c) {
    const auto at = std::find(words.begin(), words.end(), header[c]);
    if (at == words.end() || out[static_cast<std::size_t>(at - words.begin())])
      return rows.wrong(fmt::format(
        "the column {} is none of source, destination and type, or comes "
        "twice; the first line names these columns, and others must be left "
        "out",
        in_quotes(header[c])));
    out[static_cast<std::size_t>(at - words.begin())] = c;
  }
  if (!out[0] || !out[1])
    return rows.wrong("the first line must name the columns source and "
                      "destination, and, with several edge types, type");
  return out;
}

/// The place of an edge type in the task; its full name, or its middle name
/// where that is unique.
result<std::int32_t> relation_of(const csv_reader& rows, std::string_view word,
                                 const dataset_info& info,
                                 const edge_task_info& task) {
  const auto type = info.find_edge_type(word);
  const auto at =
    type ? std::find(task.edge_types.begin(), task.edge_types.end(), *type)
         : task.edge_types.end();
  if (at != task.edge_types.end())
    return static_cast<std::int32_t>(at - task.edge_types.begin());
  return rows.wrong(fmt::format("the task {} has no edge type {}",
                                in_quotes(task.name), in_quotes(word)));
}

} // namespace

result<std::vector<node_id>> read_node_list(const fs::path& file,
                                            const node_type_info& type,
                                            const table_ids* names,
                                            node_naming naming) {
  GRAPHMILL_TRY(const auto entries, file.extension() == ".npy"
                                      ? entries_of_array(file)
                                      : entries_of_text(file));
  if (entries.texts.empty())
    return fail(ec::invalid_argument, "{} lists no node", file.string());
  return nodes_of(file, entries, type, names, naming);
}

result<edge_list_file>
read_edge_list(const fs::path& file, const dataset_info& info,
               std::span<const std::shared_ptr<const table_ids>> names,
               node_naming naming) {
  const auto& task = *chosen_task(info);
  GRAPHMILL_TRY(auto rows, csv_reader::open(file, ','));
  GRAPHMILL_TRY(const auto any, rows.next());
  if (!any)
    return fail(ec::invalid_argument, "{} lists no edge", file.string());
  GRAPHMILL_TRY(const auto columns, edge_columns_of(rows));
  if (!columns[2] && task.edge_types.size() > 1)
    return rows.wrong(fmt::format("the task {} has {} edge types: a column "
                                  "type must say which one each edge has",
                                  in_quotes(task.name),
                                  task.edge_types.size()));
  const auto width = rows.fields().size();
  edge_list_file out;
  // Of each node type, with the edges and ends that they stand for.
  std::vector<node_entries> entries(info.node_types.size());
  std::vector<std::vector<std::pair<std::size_t, int>>> ends(entries.size());
  for (;;) {
    GRAPHMILL_TRY(const auto more, rows.next());
    if (!more)
      break;
    const auto& fields = rows.fields();
    if (fields.size() != width)
      return rows.wrong(fmt::format("{} fields, and the first line has {}",
                                    fields.size(), width));
    named_edge edge;
    std::string type;
    if (columns[2]) {
      type = fields[*columns[2]];
      GRAPHMILL_TRY(edge.relation, relation_of(rows, type, info, task));
    }
    const auto& about = info.edge_types[static_cast<std::size_t>(
      task.edge_types[static_cast<std::size_t>(edge.relation)])];
    for (int end = 0; end < 2; ++end) {
      const auto of =
        static_cast<std::size_t>(end == 0 ? about.source : about.destination);
      const auto field = fields[*columns[static_cast<std::size_t>(end)]];
      entries[of].texts.emplace_back(field);
      entries[of].lines.push_back(rows.line());
      ends[of].emplace_back(out.edges.size(), end);
    }
    out.edges.push_back(edge);
    out.texts.push_back({std::string{fields[*columns[0]]},
                         std::string{fields[*columns[1]]}, std::move(type)});
  }
  if (out.edges.empty())
    return fail(ec::invalid_argument, "{} lists no edge", file.string());
  for (std::size_t t = 0; t < entries.size(); ++t) {
    if (entries[t].texts.empty())
      continue;
    GRAPHMILL_TRY(
      const auto nodes,
      nodes_of(file, entries[t], info.node_types[t], names[t].get(), naming));
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto [edge, end] = ends[t][i];
      (end == 0 ? out.edges[edge].source : out.edges[edge].destination) =
        nodes[i];
    }
  }
  return out;
}

} // namespace graphmill
