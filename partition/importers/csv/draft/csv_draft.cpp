#include "partition/importers/csv/draft/csv_draft.hpp"

#include "messages/base/pluralized.hpp"
#include "partition/importers/csv/csv_ends.hpp"
#include "partition/importers/csv/csv_layout.hpp"
#include "partition/importers/csv/csv_names.hpp"
#include "partition/importers/csv/csv_tables.hpp"
#include "partition/importers/csv/draft/column_guess.hpp"
#include "partition/importers/csv/text/csv_reader.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

namespace graphmill {

namespace {

/// Rows of each file of an edge list that are looked at.
constexpr std::int64_t most_edges_read = 100'000;

/// A text in YAML, whatever is in it.
std::string yaml_text(const std::string& text) {
  constexpr auto replace = nlohmann::json::error_handler_t::replace;
  return nlohmann::json(text).dump(-1, ' ', false, replace);
}

/// A table's columns and what was seen in them.
struct seen_table {
  std::vector<std::string> names;
  std::vector<column_guess> guesses;
  std::int64_t rows = 0;
  bool whole = true; ///< Whether no row is left.
};

/// Looks at the rows of one file, and at its header if it is the first one.
result<void> look_at_file(const std::filesystem::path& file,
                          const csv_table& table, char separator,
                          std::int64_t most_rows, seen_table& out) {
  GRAPHMILL_TRY(auto rows, csv_reader::open(file, separator, table.comments));
  GRAPHMILL_TRY(const auto there, rows.next());
  if (!there)
    return rows.wrong("the table is empty");
  if (out.names.empty()) {
    out.names = trimmed_fields(rows);
    out.guesses.resize(out.names.size());
  }
  for (std::int64_t row = 0;; ++row) {
    GRAPHMILL_TRY(const auto more, rows.next());
    if (!more)
      break;
    if (row == most_rows) {
      out.whole = false;
      break;
    }
    ++out.rows;
    const auto& fields = rows.fields();
    // Rows of another length are for the import to complain about.
    if (fields.size() == out.names.size())
      for (std::size_t i = 0; i < fields.size(); ++i)
        out.guesses[i].add(trim_blanks(fields[i]));
  }
  return ok();
}

result<seen_table> look_at(const csv_table& table, char separator,
                           std::int64_t most_rows) {
  seen_table out;
  GRAPHMILL_TRYV(look_at_file(table.file, table, separator, most_rows, out));
  for (const auto& file : table.more)
    GRAPHMILL_TRYV(look_at_file(file, table, separator, most_rows, out));
  return out;
}

/// The column that is most likely an id: of that name, or the first without
/// repetitions whose name ends in "id", or else the first without repetitions.
std::optional<std::size_t> id_column(const seen_table& table) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < table.names.size(); ++i) {
    const auto lower = lower_name(table.names[i]);
    if (lower == "id")
      return i;
    if (!table.guesses[i].is_unique())
      continue;
    if (!found
        || (lower.ends_with("id")
            && !lower_name(table.names[*found]).ends_with("id")))
      found = i;
  }
  return found;
}

/// The word of a columns file for a column with answers; empty: it has none.
const char* word_of(std::optional<csv_role> role) {
  return role == csv_role::label        ? "label"
         : role == csv_role::split      ? "split"
         : role == csv_role::train_mask ? "train_mask"
         : role == csv_role::val_mask   ? "val_mask"
         : role == csv_role::test_mask  ? "test_mask"
                                        : "";
}

/// A table says its splits by one column or by masks.
bool is_mask(std::optional<csv_role> role) {
  return role == csv_role::train_mask || role == csv_role::val_mask
         || role == csv_role::test_mask;
}

/// @param roles Lines, and so the others.
std::string table_text(const csv_table& table, const seen_table& seen,
                       const std::string& roles, const std::string& ignored,
                       const std::string& features) {
  auto out = fmt::format("{}:  # {}{} looked at\n{}", yaml_text(table.type),
                         seen.whole ? "all " : "the first ",
                         pluralized(seen.rows, "row"), roles);
  if (!ignored.empty())
    out += "  ignore:\n" + ignored;
  return out
         + (features.empty() ? "  features: {}\n" : "  features:\n" + features);
}

std::string draft_nodes(const csv_table& table, const seen_table& seen) {
  std::string roles;
  std::string features;
  std::string ignored;
  std::set<std::string_view> words;
  const auto is_fresh = [&words](std::string_view word) {
    return words.insert(word).second;
  };
  const auto role_of = [](const std::string& name) {
    const auto role = node_role_of(name);
    return role ? role : suspected_role_of(name);
  };
  const auto has_split =
    std::ranges::any_of(seen.names, [&role_of](const std::string& name) {
      return role_of(name) == csv_role::split;
    });
  const auto id = id_column(seen);
  if (!id)
    roles += "  # id: ...  # no column has another value in each row\n";
  for (std::size_t i = 0; i < seen.names.size(); ++i) {
    const auto name = yaml_text(seen.names[i]);
    const auto reason = seen.guesses[i].reason();
    const auto role = role_of(seen.names[i]);
    const auto* word = id == i ? "id" : word_of(role);
    if (has_split && id != i && is_mask(role))
      ignored +=
        fmt::format("    - {}  # a mask, beside `split`; {}\n", name, reason);
    else if (*word != '\0' && is_fresh(word))
      roles += fmt::format("  {}: {}  # {}\n", word, name, reason);
    else if (*word != '\0')
      ignored += fmt::format("    - {}  # looks like `{}`, too; {}\n", name,
                             word, reason);
    else if (const auto feature = seen.guesses[i].feature(); !feature.empty())
      features += fmt::format("    {}: {}  # {}\n", name, feature, reason);
    else
      ignored += fmt::format("    - {}  # {}\n", name, reason);
  }
  return table_text(table, seen, roles, ignored, features);
}

/// The roles of the columns of an edge list: by usual names and those of node
/// types; then the first columns that may have ids are the ends, and the first
/// with times has those of edges.
std::vector<std::optional<csv_role>> edge_roles(const csv_table& table,
                                                const seen_table& seen) {
  std::vector<std::optional<csv_role>> out;
  for (const auto& name : seen.names)
    out.push_back(edge_role_of(name));
  const auto is_free = [&out](csv_role role) {
    return std::ranges::find(out, std::optional{role}) == out.end();
  };
  const auto give = [&](csv_role role, auto fits) {
    for (std::size_t i = 0; i < out.size() && is_free(role); ++i)
      if (!out[i] && fits(i))
        out[i] = role;
  };
  give(csv_role::edge_time, [&seen](std::size_t i) {
    return seen.guesses[i].is_time(is_name_of_times(seen.names[i]));
  });
  const auto types = two_end_types(table);
  constexpr std::array ends{csv_role::source, csv_role::destination};
  for (std::size_t end = 0; end < ends.size(); ++end)
    give(ends[end], [&](std::size_t i) {
      return !types[end].empty() && names_type(seen.names[i], types[end]);
    });
  for (const auto end : ends)
    give(end, [&](std::size_t i) {
      return seen.guesses[i].may_be_id() && !suspected_role_of(seen.names[i]);
    });
  return out;
}

std::string draft_edges(const csv_table& table, const seen_table& seen) {
  std::string lines;
  std::string features;
  std::string ignored;
  const auto roles = edge_roles(table, seen);
  for (std::size_t i = 0; i < seen.names.size(); ++i) {
    const auto name = yaml_text(seen.names[i]);
    const auto reason = seen.guesses[i].reason();
    const auto role = roles[i];
    const auto* word = role == csv_role::source        ? "source"
                       : role == csv_role::destination ? "destination"
                       : role == csv_role::relation    ? "relation"
                       : role == csv_role::weight      ? "weight"
                       : role == csv_role::edge_time   ? "edge_time"
                                                       : "";
    if (role)
      lines += fmt::format("  {}: {}  # {}\n", word, name, reason);
    else if (suspected_role_of(seen.names[i]))
      ignored += fmt::format("    - {}  # looks like labels or splits: take it "
                             "out here for a task of edges; {}\n",
                             name, reason);
    else if (const auto feature = seen.guesses[i].feature(); !feature.empty())
      features += fmt::format("    {}: {}  # {}\n", name, feature, reason);
    else
      ignored += fmt::format("    - {}  # {}\n", name, reason);
  }
  return table_text(table, seen, lines, ignored, features);
}

} // namespace

result<std::string> draft_columns_file(const csv_import_options& given) {
  GRAPHMILL_TRY(const auto options, join_tables(given));
  std::string out =
    "# A draft: read it, and change what is wrong. partition/columns.md tells\n"
    "# what can stand here.\nfit: all  # or train: fit on training nodes "
    "alone\n";
  for (const auto& table : options.nodes) {
    GRAPHMILL_TRY(const auto seen,
                  look_at(table, options.separator,
                          std::numeric_limits<std::int64_t>::max()));
    out += "\n" + draft_nodes(table, seen);
  }
  for (const auto& table : options.edges) {
    GRAPHMILL_TRY(const auto seen,
                  look_at(table, options.separator, most_edges_read));
    if (seen.names.size() > 2)
      out += "\n" + draft_edges(table, seen);
  }
  return out;
}

} // namespace graphmill
