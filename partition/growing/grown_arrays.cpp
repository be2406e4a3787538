#include "partition/growing/grown_arrays.hpp"

#include "partition/dataset/dataset_names.hpp"
#include "partition/dataset/edge_weights.hpp"
#include "partition/dataset/shard.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t grown_block_bytes = std::size_t{4} << 20;

/// Gives an array to a writer in blocks, so that little is kept.
result<void> append_blocks(npy_writer& out, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto block = bytes.first(std::min(bytes.size(), grown_block_bytes));
    GRAPHMILL_TRYV(out.append_bytes(block));
    bytes = bytes.subspan(block.size());
  }
  return ok();
}

/// Where the lists of a destination lie among the old and the new edges. With
/// times, both ascend, and what is made of them does.
class list_pairs {
public:
  static result<list_pairs> of(const grown_edges& edges) {
    list_pairs out;
    GRAPHMILL_TRY(out.before_, checked_lists(edges.before));
    if (edges.more != nullptr) {
      GRAPHMILL_TRY(out.more_, checked_lists(*edges.more));
    }
    if (edges.order != nullptr)
      out.order_ = edges.order->edges;
    if (edges.more != nullptr && edges.before.times) {
      GRAPHMILL_TRY(out.times_, edges.before.times->as<std::int64_t>());
      GRAPHMILL_TRY(out.more_times_, edges.more->times->as<std::int64_t>());
    }
    out.size_ = edges.destinations;
    return out;
  }

  std::int64_t size() const { return size_; }
  std::int64_t degree(std::int64_t row) const {
    return length(before_, row) + length(more_, row);
  }

  /// Calls `visit(newer, begin, count)` for runs of edges in the order in which
  /// they are to lie: `newer` says of which edges. At the same time, old edges
  /// are the first.
  template <class Visit>
  result<void> for_each_run(Visit visit) const {
    if (!order_.empty())
      return for_each_ordered_run(visit);
    // Lists to which nothing is added are taken together.
    std::int64_t begin = 0; // Of the old edges that are still to be visited.
    std::int64_t end = 0;
    for (std::int64_t row = 0; row < size_; ++row) {
      const auto first = std::exchange(end, end + length(before_, row));
      const auto added = length(more_, row);
      if (added == 0)
        continue;
      auto next = more_[static_cast<std::size_t>(row)];
      const auto last = next + added;
      while (next < last) {
        const auto old = old_before(next, std::max(begin, first), end);
        if (old > begin)
          GRAPHMILL_TRYV(visit(false, begin, old - begin));
        begin = old;
        auto run = next + 1;
        while (run < last && (old == end || !is_behind(run, old)))
          ++run;
        GRAPHMILL_TRYV(visit(true, next, run - next));
        next = run;
      }
    }
    return visit(false, begin, end - begin);
  }

private:
  template <class Visit>
  result<void> for_each_ordered_run(Visit visit) const {
    for (std::size_t i = 0; i < order_.size();) {
      const auto newer = order_[i] < 0;
      const auto step = newer ? -1 : 1;
      auto end = i + 1;
      while (end < order_.size() && order_[end] == order_[end - 1] + step
             && (order_[end] < 0) == newer)
        ++end;
      GRAPHMILL_TRYV(visit(newer, newer ? -1 - order_[i] : order_[i],
                           static_cast<std::int64_t>(end - i)));
      i = end;
    }
    return ok();
  }

  static std::int64_t length(std::span<const std::int64_t> lists,
                             std::int64_t row) {
    const auto i = static_cast<std::size_t>(row);
    return i + 1 < lists.size() ? lists[i + 1] - lists[i] : 0;
  }

  /// Whether a new edge is at or after the time of an old one.
  bool is_behind(std::int64_t more, std::int64_t old) const {
    return more_times_[static_cast<std::size_t>(more)]
           >= times_[static_cast<std::size_t>(old)];
  }

  /// The first old edge of [from, to) that stands behind a new one; else `to`.
  std::int64_t old_before(std::int64_t more, std::int64_t from,
                          std::int64_t to) const {
    if (times_.empty())
      return to;
    const auto list = times_.subspan(static_cast<std::size_t>(from),
                                     static_cast<std::size_t>(to - from));
    return from
           + (std::ranges::upper_bound(
                list, more_times_[static_cast<std::size_t>(more)])
              - list.begin());
  }

  std::span<const std::int64_t> before_;
  std::span<const std::int64_t> more_;
  std::span<const std::int64_t> times_; ///< Empty: order is that of coming.
  std::span<const std::int64_t> more_times_;
  std::span<const std::int64_t> order_; ///< Empty: as times, or coming, say.
  std::int64_t size_ = 0;
};

/// Puts small pieces together until a writer gets them.
class piece_writer {
public:
  static result<piece_writer> create(const fs::path& path,
                                     const array_form& form) {
    GRAPHMILL_TRY(auto out,
                  npy_writer::create(path, form.type, form.row_shape));
    return piece_writer{std::move(out)};
  }

  result<void> append(std::span<const std::byte> bytes) {
    if (bytes.size() >= grown_block_bytes) {
      GRAPHMILL_TRYV(flush());
      return append_blocks(out_, bytes);
    }
    pending_.insert(pending_.end(), bytes.begin(), bytes.end());
    return pending_.size() < grown_block_bytes ? ok() : flush();
  }
  template <class T>
  result<void> append_one(T value) {
    return append(std::as_bytes(std::span<const T>{&value, 1}));
  }

  result<void> finish() {
    GRAPHMILL_TRYV(flush());
    return out_.finish();
  }

private:
  explicit piece_writer(npy_writer out) : out_(std::move(out)) {}
  result<void> flush() {
    GRAPHMILL_TRYV(out_.append_bytes(pending_));
    pending_.clear();
    return ok();
  }

  npy_writer out_;
  std::vector<std::byte> pending_;
};

/// Writes an array with a row for each edge.
/// @param more Null: nothing is new.
result<void> write_by_edge(const list_pairs& lists, const npy_array& before,
                           const npy_array* more, const fs::path& to) {
  if (more != nullptr
      && (more->type() != before.type()
          || more->row_shape() != before.row_shape()))
    return fail(ec::invalid_data, "{} and {} have other rows",
                before.path().string(), more->path().string());
  const auto width = before.row_bytes();
  GRAPHMILL_TRY(auto out,
                piece_writer::create(to, {before.type(), before.row_shape()}));
  const auto visit = [&](bool newer, std::int64_t begin, std::int64_t count) {
    return out.append((newer ? *more : before)
                        .bytes()
                        .subspan(static_cast<std::size_t>(begin) * width,
                                 static_cast<std::size_t>(count) * width));
  };
  GRAPHMILL_TRYV(lists.for_each_run(visit));
  return out.finish();
}

/// The same of ids of sources, which may have become wider.
result<void> write_sources(const list_pairs& lists, const npy_array& before,
                           const npy_array* more, dtype type,
                           const fs::path& to) {
  if (before.type() == type && (more == nullptr || more->type() == type))
    return write_by_edge(lists, before, more, to);
  const auto ids_of = [](const npy_array& array) {
    return id_span{array.data(), array.size(), array.type() == dtype::int64};
  };
  GRAPHMILL_TRY(auto out, piece_writer::create(to, {type}));
  const auto visit = [&](bool newer, std::int64_t begin,
                         std::int64_t count) -> result<void> {
    const auto ids = ids_of(newer ? *more : before);
    for (auto i = begin; i < begin + count; ++i)
      GRAPHMILL_TRYV(type == dtype::int64
                       ? out.append_one<std::int64_t>(ids[i])
                       : out.append_one(static_cast<std::int32_t>(ids[i])));
    return ok();
  };
  GRAPHMILL_TRYV(lists.for_each_run(visit));
  return out.finish();
}

result<void> write_lists(const list_pairs& lists, const fs::path& folder,
                         edge_type_info& about) {
  GRAPHMILL_TRY(auto indptr,
                piece_writer::create(folder / "indptr.npy", {dtype::int64}));
  GRAPHMILL_TRY(auto degrees, piece_writer::create(folder / "in_degrees.npy",
                                                   {dtype::int32}));
  std::int64_t sum = 0;
  GRAPHMILL_TRYV(indptr.append_one(sum));
  about.max_in_degree = 0;
  for (std::int64_t row = 0; row < lists.size(); ++row) {
    const auto degree = lists.degree(row);
    if (degree > most_degree)
      return fail(ec::invalid_data,
                  "node {} would have {} in-edges, more than {}", row, degree,
                  most_degree);
    sum += degree;
    about.max_in_degree = std::max(about.max_in_degree, degree);
    GRAPHMILL_TRYV(indptr.append_one(sum));
    GRAPHMILL_TRYV(degrees.append_one(static_cast<std::int32_t>(degree)));
  }
  about.count = sum;
  GRAPHMILL_TRYV(indptr.finish());
  return degrees.finish();
}

result<void> write_out_degrees(const grown_edges& edges, const fs::path& to) {
  GRAPHMILL_TRY(const auto before, edges.before.out_degrees.as<std::int32_t>());
  std::span<const std::int32_t> more;
  if (edges.more != nullptr) {
    GRAPHMILL_TRY(more, edges.more->out_degrees.as<std::int32_t>());
  }
  GRAPHMILL_TRY(auto out, piece_writer::create(to, {dtype::int32}));
  for (std::size_t i = 0; i < static_cast<std::size_t>(edges.sources); ++i) {
    const auto sum = (i < before.size() ? std::int64_t{before[i]} : 0)
                     + (i < more.size() ? std::int64_t{more[i]} : 0);
    if (sum > most_degree)
      return fail(ec::invalid_data,
                  "node {} would have {} out-edges, more "
                  "than {}",
                  i, sum, most_degree);
    GRAPHMILL_TRYV(out.append_one(static_cast<std::int32_t>(sum)));
  }
  return out.finish();
}

/// Sums are made anew, for their rounding depends on all weights in order.
result<void> write_sums(std::int64_t sources, std::string_view name,
                        const fs::path& folder) {
  GRAPHMILL_TRY(const auto indptr, npy_array::open(folder / "indptr.npy"));
  GRAPHMILL_TRY(const auto indices, npy_array::open(folder / "indices.npy"));
  GRAPHMILL_TRY(const auto weights, npy_array::open(folder / weights_file));
  GRAPHMILL_TRY(const auto lists, indptr.as<std::int64_t>());
  GRAPHMILL_TRY(const auto values, weights.as<float>());
  const id_span ids{indices.data(), indices.size(),
                    indices.type() == dtype::int64};
  for (std::int64_t i = 0; i < ids.size; ++i)
    if (ids[i] < 0 || ids[i] >= sources)
      return fail(ec::invalid_data,
                  "an edge of {} comes from node {}, but there are {}; "
                  "`graphmill inspect` says what else is broken",
                  name, ids[i], sources);
  GRAPHMILL_TRY(const auto sums,
                sum_weights(lists, ids, values, sources, name));
  GRAPHMILL_TRYV(write_npy<float>(folder / in_weights_file, sums.in));
  return write_npy<float>(folder / out_weights_file, sums.out);
}

} // namespace

result<std::span<const std::int64_t>>
checked_lists(const dataset::edge_arrays& edges) {
  GRAPHMILL_TRY(const auto lists, edges.indptr.as<std::int64_t>());
  if (lists.empty() || lists.front() != 0
      || lists.back() != edges.indices.size()
      || !std::is_sorted(lists.begin(), lists.end()))
    return fail(ec::invalid_data,
                "{} is broken: lists do not follow each other from 0 to {}; "
                "`graphmill inspect` says more",
                edges.indptr.path().string(), edges.indices.size());
  return lists;
}

result<void> take_file(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  fs::create_hard_link(from, to, failed);
  if (failed)
    fs::copy_file(from, to, failed);
  if (failed)
    return fail_errno(failed.value(), "cannot copy {} to {}", from.string(),
                      to.string());
  return ok();
}

result<void> write_longer(const npy_array* before, const array_form& like,
                          std::span<const std::byte> more, const fs::path& to) {
  if (before != nullptr && more.empty())
    return take_file(before->path(), to);
  const auto form =
    before == nullptr ? like : array_form{before->type(), before->row_shape()};
  GRAPHMILL_TRY(auto out, npy_writer::create(to, form.type, form.row_shape));
  if (before != nullptr)
    GRAPHMILL_TRYV(append_blocks(out, before->bytes()));
  GRAPHMILL_TRYV(append_blocks(out, more));
  return out.finish();
}

result<void> write_longer_ids(const npy_array* before,
                              std::span<const std::int64_t> more,
                              std::int64_t shift, const fs::path& to) {
  std::vector<std::int64_t> shifted(more.begin(), more.end());
  for (auto& id : shifted)
    id += shift;
  return write_longer(before, {dtype::int64}, std::as_bytes(std::span{shifted}),
                      to);
}

result<void> write_grown_edges(const grown_edges& edges, std::string_view name,
                               const fs::path& folder, edge_type_info& about) {
  GRAPHMILL_TRY(const auto lists, list_pairs::of(edges));
  const auto* more = edges.more;
  about.index_type = edges.sources <= std::numeric_limits<std::int32_t>::max()
                       ? dtype::int32
                       : dtype::int64;
  GRAPHMILL_TRYV(write_lists(lists, folder, about));
  GRAPHMILL_TRYV(write_sources(lists, edges.before.indices,
                               more == nullptr ? nullptr : &more->indices,
                               about.index_type, folder / "indices.npy"));
  GRAPHMILL_TRYV(write_out_degrees(edges, folder / "out_degrees.npy"));
  if (const auto& before = edges.before.weighted) {
    GRAPHMILL_TRYV(
      write_by_edge(lists, before->weights,
                    more == nullptr ? nullptr : &more->weighted->weights,
                    folder / weights_file));
    GRAPHMILL_TRYV(write_sums(edges.sources, name, folder));
  }
  if (const auto& before = edges.before.times)
    GRAPHMILL_TRYV(write_by_edge(lists, *before,
                                 more == nullptr ? nullptr : &*more->times,
                                 folder / times_file));
  if (edges.order != nullptr)
    GRAPHMILL_TRYV(write_npy_bytes(
      folder / visible_file, dtype::int32, {edges.destinations, 2},
      std::as_bytes(std::span{edges.order->visible})));
  if (const auto& before = edges.before.features)
    GRAPHMILL_TRYV(write_by_edge(lists, *before,
                                 more == nullptr ? nullptr : &*more->features,
                                 folder / features_file));
  return ok();
}

} // namespace graphmill
