#include "partition/dataset/inspection/class_census.hpp"

#include "messages/base/ids.hpp"
#include "messages/base/pluralized.hpp"
#include "messages/words/number_text.hpp"
#include "partition/dataset/chosen_task.hpp"
#include "partition/dataset/label_rows.hpp"
#include "partition/dataset/label_sets.hpp"
#include "partition/dataset/shard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace graphmill {

namespace {

/// With more classes than this, a sentence names the first ones.
constexpr std::size_t most_named = 5;

/// From so many classes on, and when at least half of the labelled nodes have
/// one of their own, labels look like ids or numbers.
constexpr std::int64_t least_suspected_classes = 10;

/// How tables write that nothing is known, in lower case.
constexpr auto words_for_unknown =
  std::to_array<std::string_view>({"?",
                                   "-",
                                   "--",
                                   ".",
                                   "n.a.",
                                   "n/a",
                                   "#n/a",
                                   "na",
                                   "<na>",
                                   "nan",
                                   "nil",
                                   "none",
                                   "null",
                                   "(null)",
                                   "\\n",
                                   "missing",
                                   "undefined",
                                   "unknown",
                                   "unk",
                                   "unlabeled",
                                   "unlabelled",
                                   "not labeled",
                                   "no label",
                                   "unassigned",
                                   "not available",
                                   "tbd",
                                   "to be determined",
                                   "todo",
                                   "pending"});

/// Numbers that stand for no value, if they are the only negative one.
constexpr auto numbers_for_unknown =
  std::to_array<float>({-1, -9, -99, -100, -999, -9999, -99999});
/// From here on downwards other negative numbers may stand beside them.
constexpr float far_below = -999;

bool is_number_for_unknown(double value) {
  return std::ranges::find(numbers_for_unknown, value)
         != numbers_for_unknown.end();
}

bool looks_unknown(std::string_view name) {
  std::string lower{name};
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (std::ranges::find(words_for_unknown, lower) != words_for_unknown.end())
    return true;
  const auto number = number_from<double>(name);
  return number && is_number_for_unknown(*number);
}

/// Labels of the nodes from `begin` on: one of the two, as `label_kind` says.
struct label_piece {
  node_id begin = 0;
  std::span<const std::int64_t> classes;
  std::span<const std::uint8_t> rows;
};

class census_taker {
public:
  /// @param type As the labels show it. @param set Empty: its own labels.
  census_taker(const node_type_info& type, std::string_view set)
    : width_(static_cast<std::size_t>(type.class_count)) {
    out_.type = type.name;
    out_.set = set;
    out_.kind = type.labels;
    out_.named = !type.class_names.empty();
    for (std::size_t i = 0; i < width_ && !traits_of(type.labels).numbers; ++i)
      out_.classes.push_back(
        {.name = out_.named ? type.class_names[i] : std::to_string(i)});
  }

  void add_nodes(const label_piece& piece) {
    if (traits_of(out_.kind).numbers) {
      add_numbers(piece.rows);
      return;
    }
    const auto count =
      std::max(piece.classes.size(),
               piece.rows.size() / std::max<std::size_t>(width_, 1));
    for (std::size_t row = 0; row < count; ++row)
      (add(piece, row, &class_count::nodes) ? out_.labelled
                                            : out_.unlabelled) += 1;
  }

  /// @param pieces In the order of nodes; what is in none of them is passed
  /// over.
  void add_seeds(split which, std::span<const node_id> seeds,
                 std::span<const label_piece> pieces) {
    const auto s = static_cast<std::size_t>(which);
    out_.seeds[s] += std::ssize(seeds);
    if (traits_of(out_.kind).numbers)
      return;
    for (const auto seed : seeds) {
      const auto next =
        std::ranges::upper_bound(pieces, seed, {}, &label_piece::begin);
      if (next == pieces.begin() || seed < 0)
        continue;
      const auto& piece = *(next - 1);
      each_label(piece, static_cast<std::size_t>(seed - piece.begin),
                 [&](std::size_t label) { ++out_.classes[label].seeds[s]; });
    }
  }

  /// The rows of a task in a split.
  void add_rows(split which, const label_piece& piece, std::int64_t count) {
    const auto s = static_cast<std::size_t>(which);
    out_.seeds[s] += count;
    if (traits_of(out_.kind).numbers) {
      add_numbers(piece.rows);
      return;
    }
    for (std::int64_t row = 0; row < count; ++row) {
      const auto known =
        each_label(piece, static_cast<std::size_t>(row), [&](auto label) {
          ++out_.classes[label].nodes;
          ++out_.classes[label].seeds[s];
        });
      (known ? out_.labelled : out_.unlabelled) += 1;
    }
  }

  /// Seeds are the only nodes that were counted.
  void take_seeds_for_nodes() {
    for (auto& one : out_.classes)
      one.nodes = one.seeds[0] + one.seeds[1] + one.seeds[2];
    out_.labelled = out_.seeds[0] + out_.seeds[1] + out_.seeds[2];
  }

  class_census finish() {
    for (const auto& column : columns_)
      if (is_number_for_unknown(column.least)
          && (column.next >= 0
              || (column.least <= far_below && column.nodes > 1)))
        out_.odd_numbers.push_back({column.least, column.nodes});
    return std::move(out_);
  }

private:
  /// The two smallest numbers of a column.
  struct column_ends {
    float least = std::numeric_limits<float>::infinity();
    float next = std::numeric_limits<float>::infinity();
    std::int64_t nodes = 0; ///< That have the smallest one.

    void add(float value) {
      if (value == least) {
        ++nodes;
      } else if (value < least) {
        next = least;
        least = value;
        nodes = 1;
      } else {
        next = std::min(next, value);
      }
    }
  };

  /// Calls `visit` with each label of a node. What is damaged has none.
  /// @returns whether anything is known of the node.
  template <class Visit>
  bool each_label(const label_piece& piece, std::size_t row, Visit visit) {
    if (!traits_of(out_.kind).rows) {
      const auto label =
        row < piece.classes.size() ? piece.classes[row] : std::int64_t{-1};
      if (label < 0 || label >= std::ssize(out_.classes))
        return false;
      visit(static_cast<std::size_t>(label));
      return true;
    }
    if (width_ == 0 || (row + 1) * width_ > piece.rows.size())
      return false;
    const auto labels = piece.rows.subspan(row * width_, width_);
    for (std::size_t i = 0; i < width_; ++i)
      if (labels[i] == 1)
        visit(i);
    return labels.front() != no_labels;
  }

  bool add(const label_piece& piece, std::size_t row,
           std::int64_t class_count::*count) {
    return each_label(
      piece, row, [&](std::size_t label) { ++(out_.classes[label].*count); });
  }

  void add_numbers(std::span<const std::uint8_t> rows) {
    columns_.resize(width_);
    const auto count = rows.size() / sizeof(float);
    for (std::size_t i = 0; i < count; ++i) {
      const auto value = value_at(rows, i);
      if (i % width_ == 0)
        (std::isnan(value) ? out_.unlabelled : out_.labelled) += 1;
      if (!std::isnan(value))
        columns_[i % width_].add(value);
    }
  }

  std::size_t width_;
  class_census out_;
  std::vector<column_ends> columns_; ///< Of labels that are numbers.
};

/// Counts the labels of an array.
result<class_census> count_array(const node_type_info& shown,
                                 const opened_labels& from) {
  census_taker taker{shown, from.set};
  label_piece piece;
  if (shown.has_label_rows()) {
    const auto& file = *from.arrays.labels;
    piece.rows = {reinterpret_cast<const std::uint8_t*>(file.data()),
                  static_cast<std::size_t>(shown.count) * shown.label_bytes()};
  } else {
    GRAPHMILL_TRY(piece.classes, from.arrays.labels->as<std::int64_t>());
  }
  taker.add_nodes(piece);
  for (auto which : all_splits)
    if (const auto& ids = from.arrays.splits[static_cast<std::size_t>(which)]) {
      GRAPHMILL_TRY(const auto seeds, ids->as<node_id>());
      taker.add_seeds(which, seeds, {&piece, 1});
    }
  return taker.finish();
}

/// Counts the labels of a task, which has some.
result<class_census> count_rows(const edge_task_info& task,
                                const task_arrays& arrays) {
  const auto kind = *traits_of(task.kind).labels;
  census_taker taker{{.class_count = task.class_count,
                      .class_names = task.class_names,
                      .labels = kind},
                     {}};
  for (auto which : all_splits) {
    const auto& rows = arrays.splits[static_cast<std::size_t>(which)];
    if (!rows)
      continue;
    label_piece piece;
    if (traits_of(kind).rows) {
      piece.rows = {reinterpret_cast<const std::uint8_t*>(rows->labels->data()),
                    static_cast<std::size_t>(rows->labels->rows())
                      * traits_of(kind).bytes(task.class_count)};
    } else {
      GRAPHMILL_TRY(piece.classes, rows->labels->as<std::int64_t>());
    }
    taker.add_rows(which, piece, rows->labels->rows());
  }
  auto out = taker.finish();
  out.task = task.name;
  return out;
}

/// Names of classes, each with how often it occurs; of many, the first ones.
std::string names_of_first(const class_census& census,
                           const std::vector<const class_count*>& classes) {
  std::string out;
  for (std::size_t i = 0; i < std::min(classes.size(), most_named); ++i)
    out += fmt::format("{}\"{}\" ({})", i == 0 ? "" : ", ", classes[i]->name,
                       pluralized(classes[i]->nodes, census.unit()));
  if (classes.size() > most_named)
    out += fmt::format(" and {} more", classes.size() - most_named);
  return out;
}

/// What two names have in common that may be of one class: all but capital
/// letters, blanks, dashes, and how a number is written.
std::string plain_name(std::string_view name) {
  if (const auto number = number_from<double>(name))
    return fmt::format("{}", *number);
  std::string out;
  for (const auto c : name)
    if (c != ' ' && c != '_' && c != '-')
      out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

std::optional<std::string> note_on_alike(const class_census& census) {
  std::map<std::string, const class_count*> seen;
  std::vector<const class_count*> alike;
  for (const auto& one : census.classes) {
    const auto [at, fresh] = seen.emplace(plain_name(one.name), &one);
    if (!fresh && at->second->nodes > 0 && one.nodes > 0)
      for (const auto* each : {at->second, &one})
        alike.push_back(each);
  }
  if (alike.empty())
    return std::nullopt;
  return fmt::format("{}: classes have names that are almost the same: {}. If "
                     "two are one class, write them alike",
                     census.title(), names_of_first(census, alike));
}

std::optional<std::string> note_on_untrained(const class_census& census) {
  if (census.seeds[0] == 0)
    return std::nullopt; // Nothing is trained: another sentence says so.
  std::vector<const class_count*> without;
  for (const auto& one : census.classes)
    if (one.seeds[0] == 0)
      without.push_back(&one);
  if (without.empty())
    return std::nullopt;
  return fmt::format("{}: {} of {} {} have no {} in the train split, so that "
                     "no model can learn them: {}",
                     census.title(), without.size(), census.classes.size(),
                     traits_of(census.kind).units, census.unit(),
                     names_of_first(census, without));
}

std::optional<std::string> note_on_many(const class_census& census) {
  if (traits_of(census.kind).rows)
    return std::nullopt;
  const auto used = std::ranges::count_if(
    census.classes, [](const class_count& one) { return one.nodes > 0; });
  if (used < least_suspected_classes || 2 * used <= census.labelled)
    return std::nullopt;
  return fmt::format(
    "{}: {} have {} classes. Labels that are numbers are learnt after an "
    "import with {}; ids are no labels, and --ignore leaves them out",
    census.title(),
    pluralized(census.labelled, fmt::format("labelled {}", census.unit())),
    used,
    !census.task.empty() ? "--task-kind edge_value"
    : census.set.empty() ? "--regression"
                         : "--regression-set " + census.set);
}

} // namespace

std::string class_census::title() const {
  if (!task.empty())
    return "labels of task " + task;
  return set.empty() ? "labels of " + type
                     : fmt::format("label set {} of {}", set, type);
}

result<std::vector<class_census>> count_classes_of(const dataset& data) {
  std::vector<class_census> out;
  const auto& types = data.info().node_types;
  for (std::size_t t = 0; t < types.size(); ++t)
    for (const auto& from : labels_in(data, static_cast<node_type_id>(t))) {
      if (!from.arrays.labels)
        continue;
      const auto set = find_label_set(types[t], from.set);
      GRAPHMILL_TRY(
        auto counted,
        count_array(set ? with_labels_of(types[t], types[t].label_sets[*set])
                        : types[t],
                    from));
      out.push_back(std::move(counted));
    }
  const auto& tasks = data.info().tasks;
  for (std::size_t t = 0; t < tasks.size(); ++t)
    if (traits_of(tasks[t].kind).labels) {
      GRAPHMILL_TRY(out.emplace_back(), count_rows(tasks[t], data.task(t)));
    }
  return out;
}

result<class_census> count_classes_of_seeds(const partitioned_graph& graph) {
  if (const auto* task = chosen_task(graph.info()))
    return traits_of(task->kind).labels ? count_rows(*task, *graph.task())
                                        : result<class_census>{class_census{}};
  const auto target = graph.info().target;
  const auto& type = graph.info().node_types[static_cast<std::size_t>(target)];
  std::vector<std::shared_ptr<const shard>> parts;
  std::vector<label_piece> pieces;
  for (part_id p = 0; p < graph.part_count(); ++p) {
    GRAPHMILL_TRY(auto part, graph.open_shard(p));
    const auto& nodes = part->nodes(target);
    pieces.push_back({nodes.begin, nodes.labels, nodes.label_rows});
    parts.push_back(std::move(part));
  }
  census_taker taker{type, {}};
  for (auto which : all_splits)
    taker.add_seeds(which, graph.seeds(which), pieces);
  taker.take_seeds_for_nodes();
  return taker.finish();
}

std::vector<std::string> notes_on_training(const class_census& census) {
  std::vector<std::string> out;
  for (auto note : {note_on_untrained(census), note_on_many(census)})
    if (note)
      out.push_back(*std::move(note));
  return out;
}

std::vector<std::string> notes_on_names(const class_census& census) {
  std::vector<std::string> out;
  for (std::size_t i = 0; census.named && i < census.classes.size(); ++i) {
    const auto& one = census.classes[i];
    if (one.nodes > 0 && looks_unknown(one.name))
      out.push_back(fmt::format(
        "{}: \"{}\" is class {} and has {} of {}. If it says that no label is "
        "known, import with --no-label '{}'",
        census.title(), one.name, i, one.nodes,
        pluralized(census.labelled, fmt::format("labelled {}", census.unit())),
        one.name));
  }
  if (census.named)
    if (auto note = note_on_alike(census))
      out.push_back(*std::move(note));
  for (const auto& odd : census.odd_numbers)
    out.push_back(fmt::format(
      "{}: the smallest number is {}, of {}. If it says that no number is "
      "known, import with --no-label {}",
      census.title(), odd.value, pluralized(odd.nodes, census.unit()),
      odd.value));
  return out;
}

} // namespace graphmill
