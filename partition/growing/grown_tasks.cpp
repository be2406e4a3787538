#include "partition/growing/grown_tasks.hpp"

#include "partition/dataset/dataset_names.hpp"
#include "partition/dataset/label_rows.hpp"
#include "partition/dataset/shard.hpp"
#include "partition/dataset/task_checks.hpp"
#include "partition/files/file_io.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

/// An edge in a list that grows.
struct listed_edge {
  std::uint8_t level = 0;
  std::int64_t time = 0;
  std::int64_t place = 0; ///< As `grown_order` has it.
};

/// The edges of a type, list by list.
class listed_edges {
public:
  /// @param edges Null: there are none.
  static result<listed_edges> of(const dataset::edge_arrays* edges) {
    listed_edges out;
    if (edges == nullptr)
      return out;
    GRAPHMILL_TRY(out.begin_, checked_lists(*edges));
    out.sources_ = id_span{edges->indices.data(), edges->indices.size(),
                           edges->indices.type() == dtype::int64};
    if (edges->times) {
      GRAPHMILL_TRY(out.times_, edges->times->as<std::int64_t>());
    }
    if (edges->visible) {
      GRAPHMILL_TRY(out.visible_, edges->visible->as<std::int32_t>());
      for (std::size_t d = 0; d + 1 < out.begin_.size(); ++d)
        if (out.visible_[2 * d] < 0
            || out.visible_[2 * d] > out.visible_[2 * d + 1]
            || out.visible_[2 * d + 1] > out.begin_[d + 1] - out.begin_[d])
          return fail(ec::invalid_data,
                      "{} is broken: the levels of list {} do not ascend "
                      "within it; `graphmill inspect` says more",
                      edges->visible->path().string(), d);
    }
    return out;
  }

  std::int64_t size() const { return begin_.empty() ? 0 : begin_.back(); }

  /// Adds the edges of a list.
  /// @param sign -1: new ones.
  /// @param held By which levels rise. @param by_time Whether times count.
  /// @param trains Whether their own level is 0, whatever it was.
  void add(std::size_t destination, int sign, const held_reverses& held,
           bool by_time, std::vector<listed_edge>& to,
           bool trains = false) const {
    if (destination + 1 >= begin_.size())
      return;
    for (auto e = begin_[destination]; e < begin_[destination + 1]; ++e) {
      const auto time =
        times_.empty() ? 0 : times_[static_cast<std::size_t>(e)];
      auto level = trains ? std::uint8_t{0}
                          : level_of(destination, e - begin_[destination]);
      if (!held.empty())
        level = std::max(level, held.level(sources_[e],
                                           static_cast<node_id>(destination),
                                           by_time ? static_cast<double>(time)
                                                   : held_reverses::any_time));
      to.push_back({level, time, sign < 0 ? -1 - e : e});
    }
  }

private:
  std::uint8_t level_of(std::size_t destination, std::int64_t at) const {
    if (visible_.empty())
      return 0;
    return at < visible_[2 * destination]       ? 0
           : at < visible_[2 * destination + 1] ? 1
                                                : 2;
  }

  std::span<const std::int64_t> begin_;
  id_span sources_{};
  std::span<const std::int64_t> times_;
  std::span<const std::int32_t> visible_; ///< Empty: all are of level 0.
};

/// Whether edges have the times of their sources, as those without times of
/// their own do.
result<bool> are_times_of_sources(const dataset& data, edge_type_id type) {
  const auto& about = data.info().edge_types[static_cast<std::size_t>(type)];
  const auto& edges = data.edges(type);
  const auto& nodes = data.nodes(about.source);
  if (!edges.times || !nodes.times)
    return false;
  GRAPHMILL_TRY(const auto times, edges.times->as<std::int64_t>());
  GRAPHMILL_TRY(const auto of_nodes, nodes.times->as<std::int64_t>());
  const id_span sources{edges.indices.data(), edges.indices.size(),
                        edges.indices.type() == dtype::int64};
  for (std::size_t e = 0; e < times.size(); ++e) {
    const auto source = sources[static_cast<std::int64_t>(e)];
    if (source < 0 || source >= std::ssize(of_nodes)
        || of_nodes[static_cast<std::size_t>(source)] != times[e])
      return false;
  }
  return true;
}

/// The bytes of rows of arrays of old splits, and of one of new rows.
class row_bytes {
public:
  row_bytes(const std::array<const npy_array*, 3>& before,
            const npy_array* more)
    : before_(before), more_(more) {}

  /// Null: there is none.
  const npy_array* any() const {
    const auto at = std::ranges::find_if(
      before_, [](const npy_array* array) { return array != nullptr; });
    return at == before_.end() ? more_ : *at;
  }

  void add(bool newer, split was, std::size_t row,
           std::vector<std::byte>& to) const {
    const auto& from = newer ? *more_ : *before_[static_cast<std::size_t>(was)];
    const auto width = from.row_bytes();
    const auto bytes = from.bytes().subspan(row * width, width);
    to.insert(to.end(), bytes.begin(), bytes.end());
  }

private:
  std::array<const npy_array*, 3> before_;
  const npy_array* more_;
};

} // namespace

result<grown_tasks> grown_tasks::open(const dataset& before,
                                      const dataset& edges, dataset_info& info,
                                      bool rolls) {
  grown_tasks out{before, edges, info, rolls};
  for (edge_type_id e = 0; e < std::ssize(info.edge_types); ++e)
    if (info.edge_types[static_cast<std::size_t>(e)].leveled)
      if (const auto there =
            edges.info().find_edge_type(info.edge_type_name(e)))
        out.stay_ = out.stay_ && edges.edges(*there).indices.size() == 0;
  out.tasks_.resize(info.tasks.size());
  for (std::size_t t = 0; t < info.tasks.size(); ++t)
    GRAPHMILL_TRYV(out.add_task(t));
  return out;
}

result<void> grown_tasks::add_task(std::size_t task) {
  auto& about = info_.tasks[task];
  auto& to = tasks_[task];
  GRAPHMILL_TRY(to.before,
                open_task(before_.folder(), before_.info(), about.name));
  const edge_task_info* more = nullptr;
  if (const auto there = edges_.info().find_task(about.name)) {
    more = &edges_.info().tasks[*there];
    to.more = &edges_.task(*there);
    if (more->kind != about.kind || more->timed != about.timed
        || more->weighted != about.weighted
        || (more->class_count != about.class_count
            && more->split_counts != std::array<std::int64_t, 3>{}))
      return fail(ec::invalid_data,
                  "new rows of the task {} have other labels, times or weights "
                  "than those that are there",
                  about.name);
  }
  if (rolls_)
    about.unlabelled = 0;
  if (more != nullptr)
    about.unlabelled += more->unlabelled;
  for (const auto which : all_splits)
    GRAPHMILL_TRYV(add_split(task, which, more));
  return ok();
}

/// Old training rows have as many given negatives as those that join them, or
/// none at all: then the others lose theirs.
result<void> grown_tasks::settle_negatives(std::size_t task) {
  const auto& old = before_.info().tasks[task];
  auto& about = info_.tasks[task];
  const auto first = std::ranges::find_if(all_splits, [&old](split which) {
    return old.split_counts[static_cast<std::size_t>(which)] > 0;
  });
  const auto each = first == all_splits.end()
                      ? 0
                      : old.negative_counts[static_cast<std::size_t>(*first)];
  for (const auto which : all_splits) {
    const auto s = static_cast<std::size_t>(which);
    if (each > 0 && old.split_counts[s] > 0 && old.negative_counts[s] != each)
      return fail(ec::invalid_argument,
                  "--roll-forward: each row of the {} split of the task {} has "
                  "{} given negatives, and of the {} split {}: they cannot "
                  "train together; import all tables again",
                  file_stem(*first), about.name, each, file_stem(which),
                  old.negative_counts[s]);
  }
  about.negative_counts = {each, 0, 0};
  return ok();
}

/// The old rows of all splits as training rows. They stand as in an import of
/// one table in the order of time, or else split after split.
result<std::vector<grown_tasks::grown_row>>
grown_tasks::rolled_forward(std::size_t task) {
  const auto& old = before_.info().tasks[task];
  auto& to = tasks_[task];
  GRAPHMILL_TRYV(settle_negatives(task));
  std::vector<std::int32_t> places(old.edge_types.size());
  std::iota(places.begin(), places.end(), 0);
  std::array<std::vector<grown_row>, 3> rows;
  for (const auto which : all_splits) {
    auto& own = rows[static_cast<std::size_t>(which)];
    const auto& arrays = to.before.splits[static_cast<std::size_t>(which)];
    if (!arrays)
      continue;
    GRAPHMILL_TRY(own, rows_of(*arrays, false, places));
    for (auto& row : own)
      row.was = which;
    if (which == split::train)
      continue;
    stay_ = false;
    const auto count = std::ssize(own);
    if (which == split::test && old.unlabelled > 0 && arrays->labels) {
      const auto kind = *traits_of(old.kind).labels;
      std::erase_if(own, [&](const grown_row& row) {
        return !is_known(kind, old.class_count, *arrays->labels, row.from);
      });
    }
    to.rolled.moved += std::ssize(own);
    to.rolled.left_out += count - std::ssize(own);
  }
  const auto by_type = std::ranges::all_of(rows, [](const auto& own) {
    return std::ranges::is_sorted(
      own, {}, [](const grown_row& row) { return row.edge.type; });
  });
  const auto type_of = [by_type](const grown_row& row) {
    return by_type ? row.edge.type : 0;
  };
  const auto by_time = std::ranges::all_of(rows, [&](const auto& own) {
    return std::ranges::is_sorted(own, {}, [&](const grown_row& row) {
      return std::pair{type_of(row), row.edge.time};
    });
  });
  std::vector<grown_row> out;
  for (const auto& own : rows)
    out.insert(out.end(), own.begin(), own.end());
  std::ranges::stable_sort(out, {}, [&](const grown_row& row) {
    return std::pair{type_of(row), by_time ? row.edge.time : 0.0};
  });
  return out;
}

result<std::vector<grown_tasks::grown_row>>
grown_tasks::older_rows(std::size_t task, split which) {
  if (rolls_ && which == split::train)
    return rolled_forward(task);
  const auto& arrays =
    tasks_[task].before.splits[static_cast<std::size_t>(which)];
  if (rolls_ || !arrays)
    return std::vector<grown_row>{};
  std::vector<std::int32_t> places(info_.tasks[task].edge_types.size());
  std::iota(places.begin(), places.end(), 0);
  GRAPHMILL_TRY(auto out, rows_of(*arrays, false, places));
  for (auto& row : out)
    row.was = which;
  return out;
}

/// @param places Of the edge types of the rows, in the task.
result<std::vector<grown_tasks::grown_row>>
grown_tasks::rows_of(const task_split_arrays& arrays, bool newer,
                     const std::vector<std::int32_t>& places) const {
  GRAPHMILL_TRY(const auto ends, arrays.edges.as<std::int64_t>());
  GRAPHMILL_TRY(const auto ids, arrays.ids.as<std::int64_t>());
  std::span<const std::int32_t> types;
  std::span<const double> times;
  if (arrays.types) {
    GRAPHMILL_TRY(types, arrays.types->as<std::int32_t>());
  }
  if (arrays.times) {
    GRAPHMILL_TRY(times, arrays.times->as<double>());
  }
  std::vector<grown_row> out;
  out.reserve(ids.size());
  for (std::size_t row = 0; row < ids.size(); ++row)
    out.push_back(
      {{places[types.empty() ? 0 : static_cast<std::size_t>(types[row])],
        ids[row], ends[2 * row], ends[2 * row + 1],
        times.empty() ? 0 : times[row]},
       newer,
       row});
  return out;
}

/// New rows follow the old ones, as in an import of everything: of several edge
/// types, those of one follow those of that one, unless the old rows stand in
/// another order, such as that of times.
/// @param more The task of new edges; null: there is none.
result<void> grown_tasks::add_split(std::size_t task, split which,
                                    const edge_task_info* more) {
  auto& about = info_.tasks[task];
  auto& to = tasks_[task];
  const auto s = static_cast<std::size_t>(which);
  GRAPHMILL_TRY(auto older, older_rows(task, which));
  std::vector<grown_row> newer;
  if (more != nullptr && to.more->splits[s]) {
    std::vector<std::int32_t> places;
    for (const auto type : more->edge_types) {
      const auto there =
        info_.find_edge_type(edges_.info().edge_type_name(type));
      const auto at = there ? std::ranges::find(about.edge_types, *there)
                            : about.edge_types.end();
      if (at == about.edge_types.end())
        return fail(ec::internal, "new rows of the task {} are of another type",
                    about.name);
      places.push_back(
        static_cast<std::int32_t>(at - about.edge_types.begin()));
    }
    GRAPHMILL_TRY(newer, rows_of(*to.more->splits[s], true, places));
    auto& each = about.negative_counts[s];
    if (older.empty())
      each = more->negative_counts[s];
    if (each != more->negative_counts[s])
      return fail(ec::invalid_argument,
                  "task {}: each row of the {} split has {} negatives, and new "
                  "ones have {}: give as many, or put the new edges into "
                  "another split (--split {}=SPLIT)",
                  about.name, file_stem(which), each, more->negative_counts[s],
                  about.name);
  }
  about.split_counts[s] = std::ssize(older) + std::ssize(newer);
  const auto by_type = [](const grown_row& a, const grown_row& b) {
    return a.edge.type < b.edge.type;
  };
  auto& rows = to.rows[s];
  rows.reserve(older.size() + newer.size());
  if (std::ranges::is_sorted(older, by_type)) {
    std::ranges::merge(older, newer, std::back_inserter(rows), by_type);
    return ok();
  }
  rows = std::move(older);
  rows.insert(rows.end(), newer.begin(), newer.end());
  return ok();
}

/// Likewise, of old and new edges.
result<bool> grown_tasks::has_source_times(edge_type_id type) const {
  GRAPHMILL_TRY(auto out, are_times_of_sources(before_, type));
  const auto there = edges_.info().find_edge_type(info_.edge_type_name(type));
  if (out && there) {
    GRAPHMILL_TRY(out, are_times_of_sources(edges_, *there));
  }
  return out;
}

/// As the writer of a dataset decides it: see `dataset_writer`.
result<bool> grown_tasks::reverses_by_time(edge_type_id type) const {
  if (!info_.edge_types[static_cast<std::size_t>(type)].timed)
    return false;
  GRAPHMILL_TRY(const auto own, has_source_times(type));
  if (own)
    return false;
  for (const auto& task : info_.tasks)
    for (std::size_t i = 0; i < task.edge_types.size(); ++i)
      if (task.reverse_types[i] == type) {
        GRAPHMILL_TRY(const auto of_rows, has_source_times(task.edge_types[i]));
        if (of_rows)
          return false;
      }
  return true;
}

result<grown_order> grown_tasks::order_of(edge_type_id type) {
  const auto& about = info_.edge_types[static_cast<std::size_t>(type)];
  const auto there = edges_.info().find_edge_type(info_.edge_type_name(type));
  GRAPHMILL_TRY(const auto before, listed_edges::of(&before_.edges(type)));
  GRAPHMILL_TRY(const auto more,
                listed_edges::of(there ? &edges_.edges(*there) : nullptr));
  GRAPHMILL_TRY(const auto by_time, reverses_by_time(type));
  held_reverses held;
  for (std::size_t t = 0; t < tasks_.size(); ++t)
    for (std::uint8_t level = 1; level < 3; ++level)
      for (const auto& row : tasks_[t].rows[level]) {
        const auto& task = info_.tasks[t];
        if (task.reverse_types[static_cast<std::size_t>(row.edge.type)] == type)
          held.add(row.edge,
                   by_time && task.timed ? row.edge.time
                                         : held_reverses::any_time,
                   level);
      }
  grown_order out;
  out.edges.reserve(static_cast<std::size_t>(before.size() + more.size()));
  auto& moved = moved_[type];
  moved.before.resize(static_cast<std::size_t>(before.size()));
  moved.more.resize(static_cast<std::size_t>(more.size()));
  const auto destinations =
    info_.node_types[static_cast<std::size_t>(about.destination)].count;
  std::vector<listed_edge> list;
  for (std::size_t d = 0; d < static_cast<std::size_t>(destinations); ++d) {
    list.clear();
    before.add(d, 1, held, by_time, list, rolls_);
    more.add(d, -1, held, by_time, list);
    std::ranges::stable_sort(list, {}, [](const listed_edge& edge) {
      return std::pair{edge.level, edge.time};
    });
    for (const auto level : {0, 1})
      out.visible.push_back(static_cast<std::int32_t>(std::ranges::count_if(
        list, [level](const auto& edge) { return edge.level <= level; })));
    for (const auto& edge : list) {
      const auto place = std::ssize(out.edges);
      if (edge.place >= 0)
        moved.before[static_cast<std::size_t>(edge.place)] = place;
      else
        moved.more[static_cast<std::size_t>(-1 - edge.place)] = place;
      out.edges.push_back(edge.place);
    }
  }
  return out;
}

std::int64_t grown_tasks::repeated_rows(std::size_t task) const {
  using rows_of_pairs =
    std::unordered_map<node_pair, std::int64_t, node_pair_hash>;
  std::vector<rows_of_pairs> fresh(info_.tasks[task].edge_types.size());
  const auto each = [&](bool newer, auto visit) {
    for (const auto& rows : tasks_[task].rows)
      for (const auto& [edge, is_newer, from, was] : rows)
        if (is_newer == newer)
          visit(fresh[static_cast<std::size_t>(edge.type)],
                node_pair{edge.source, edge.destination});
  };
  each(true, [](rows_of_pairs& of, const node_pair& pair) { ++of[pair]; });
  std::int64_t out = 0;
  each(false, [&out](rows_of_pairs& of, const node_pair& pair) {
    if (const auto at = of.find(pair); at != of.end()) {
      out += at->second;
      of.erase(at);
    }
  });
  return out;
}

/// All arrays of the old rows, unchanged.
result<void> grown_tasks::take_files(const fs::path& folder) const {
  for (std::size_t t = 0; t < tasks_.size(); ++t)
    for (const auto which : all_splits)
      if (const auto& arrays =
            tasks_[t].before.splits[static_cast<std::size_t>(which)])
        for (const auto& [name, array] : arrays->all())
          GRAPHMILL_TRYV(take_file(
            array->path(),
            folder / task_file(info_.tasks[t].name, file_stem(which), name)));
  return ok();
}

result<void> grown_tasks::write_split(const fs::path& folder, std::size_t task,
                                      split which) const {
  const auto& about = info_.tasks[task];
  const auto s = static_cast<std::size_t>(which);
  const auto& rows = tasks_[task].rows[s];
  const auto* more = tasks_[task].more == nullptr ? nullptr
                     : tasks_[task].more->splits[s]
                       ? &*tasks_[task].more->splits[s]
                       : nullptr;
  std::vector<task_edge> edges;
  std::vector<std::int64_t> ends;
  std::vector<std::int64_t> ids;
  std::vector<std::int32_t> types;
  for (const auto& row : rows) {
    const auto type = about.edge_types[static_cast<std::size_t>(row.edge.type)];
    const auto& moved = moved_.at(type);
    edges.push_back(row.edge);
    ends.insert(ends.end(), {row.edge.source, row.edge.destination});
    ids.push_back((row.newer
                     ? moved.more
                     : moved.before)[static_cast<std::size_t>(row.edge.given)]);
    types.push_back(row.edge.type);
  }
  GRAPHMILL_TRYV(
    write_task_array<std::int64_t>(folder, about, which, "edges", ends, {2}));
  GRAPHMILL_TRYV(
    write_task_array<std::int64_t>(folder, about, which, "ids", ids));
  if (about.edge_types.size() > 1)
    GRAPHMILL_TRYV(
      write_task_array<std::int32_t>(folder, about, which, "types", types));
  const auto copy =
    [&](
      std::string_view name,
      std::optional<npy_array> task_split_arrays::*which_one) -> result<void> {
    const auto of = [&](const task_split_arrays* arrays) -> const npy_array* {
      return arrays != nullptr && arrays->*which_one ? &*(arrays->*which_one)
                                                     : nullptr;
    };
    std::array<const npy_array*, 3> old{};
    for (const auto each : all_splits)
      if (const auto& arrays =
            tasks_[task].before.splits[static_cast<std::size_t>(each)];
          arrays && (rolls_ ? which == split::train : each == which))
        old[static_cast<std::size_t>(each)] = of(&*arrays);
    const row_bytes from{old, of(more)};
    if (from.any() == nullptr)
      return ok();
    std::vector<std::byte> bytes;
    for (const auto& row : rows)
      from.add(row.newer, row.was, row.from, bytes);
    auto shape = from.any()->row_shape();
    shape.insert(shape.begin(), std::ssize(rows));
    return write_npy_bytes(folder
                             / task_file(about.name, file_stem(which), name),
                           from.any()->type(), shape, bytes);
  };
  GRAPHMILL_TRYV(copy("labels", &task_split_arrays::labels));
  GRAPHMILL_TRYV(copy("times", &task_split_arrays::times));
  GRAPHMILL_TRYV(copy("weights", &task_split_arrays::weights));
  if (about.negative_counts[s] > 0)
    GRAPHMILL_TRYV(copy("negatives", &task_split_arrays::negatives));
  if (!traits_of(about.kind).negatives)
    return ok();
  return which == split::train
           ? write_exclusions(folder, info_, about, edges)
           : write_known_links(folder, info_, about, which, edges);
}

result<void> grown_tasks::write(const fs::path& folder) const {
  for (const auto& task : info_.tasks)
    GRAPHMILL_TRYV(make_folders(folder / "tasks" / task.name));
  if (stay_)
    return take_files(folder);
  for (std::size_t t = 0; t < tasks_.size(); ++t)
    for (const auto which : all_splits)
      if (!tasks_[t].rows[static_cast<std::size_t>(which)].empty())
        GRAPHMILL_TRYV(write_split(folder, t, which));
  return ok();
}

} // namespace graphmill
