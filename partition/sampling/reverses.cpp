#include "partition/sampling/reverses.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

/// The edges of a list by their sources: what would be rows of the other type.
struct turned_edges {
  std::vector<std::int64_t> begins;  ///< [rows + 1]
  std::vector<local_id> from;        ///< Ascending in each row.
  std::vector<std::int64_t> numbers; ///< Where each edge is in its list.
};

turned_edges turn(const edge_list& edges, std::int64_t rows) {
  turned_edges out;
  out.begins.resize(static_cast<std::size_t>(rows) + 2);
  for (const auto source : edges.sources)
    if (source < rows)
      ++out.begins[static_cast<std::size_t>(source) + 2];
  std::partial_sum(out.begins.begin(), out.begins.end(), out.begins.begin());
  out.from.resize(static_cast<std::size_t>(out.begins.back()));
  out.numbers.resize(out.from.size());
  for (std::size_t row = 0; row + 1 < edges.indptr.size(); ++row)
    for (auto i = edges.indptr[row]; i < edges.indptr[row + 1]; ++i) {
      const auto source = edges.sources[static_cast<std::size_t>(i)];
      if (source >= rows)
        continue;
      const auto at = static_cast<std::size_t>(
        out.begins[static_cast<std::size_t>(source) + 1]++);
      out.from[at] = static_cast<local_id>(row);
      out.numbers[at] = i;
    }
  out.begins.pop_back();
  return out;
}

/// Puts one list together: rows of sampled edges, and behind them what is
/// added.
class list_maker {
public:
  list_maker(const edge_list& own, const edge_list& other, bool weighted,
             const std::shared_ptr<buffer_pool>& pool)
    : own_(own), other_(other), weighted_(weighted),
      identified_(!own.edge_ids.empty() || !other.edge_ids.empty()),
      out_{pod_vector<std::int64_t>{pool}, pod_vector<local_id>{pool},
           pod_vector<edge_id>{pool}, pod_vector<float>{pool},
           pod_vector<edge_id>{pool}} {}

  edge_list make(std::int64_t rows) {
    const auto turned = turn(other_, rows);
    const auto most = own_.sources.size() + turned.from.size();
    out_.indptr.reserve(static_cast<std::size_t>(rows) + 1);
    out_.sources.reserve(most);
    out_.weights.reserve(weighted_ ? most : 0);
    out_.edge_ids.reserve(identified_ ? most : 0);
    out_.indptr.push_back(0);
    for (std::int64_t row = 0; row < rows; ++row) {
      take_own(static_cast<std::size_t>(row));
      add_missing(turned, static_cast<std::size_t>(row));
      out_.indptr.push_back(std::ssize(out_.sources.span()));
    }
    return std::move(out_);
  }

private:
  void take_own(std::size_t row) {
    known_.clear();
    if (row + 1 >= own_.indptr.size())
      return;
    const auto begin = static_cast<std::size_t>(own_.indptr[row]);
    const auto count = static_cast<std::size_t>(own_.indptr[row + 1]) - begin;
    const auto sources = own_.sources.span().subspan(begin, count);
    out_.sources.append(sources);
    if (weighted_)
      out_.weights.append(own_.weights.span().subspan(begin, count));
    if (identified_)
      out_.edge_ids.append(own_.edge_ids.span().subspan(begin, count));
    known_.assign(sources.begin(), sources.end());
    std::sort(known_.begin(), known_.end());
  }

  /// Each known edge stands for one of those that are turned.
  void add_missing(const turned_edges& turned, std::size_t row) {
    auto known = known_.begin();
    for (auto i = turned.begins[row]; i < turned.begins[row + 1]; ++i) {
      const auto from = turned.from[static_cast<std::size_t>(i)];
      known = std::find_if(known, known_.end(),
                           [from](local_id id) { return id >= from; });
      if (known != known_.end() && *known == from) {
        ++known;
        continue;
      }
      const auto edge =
        static_cast<std::size_t>(turned.numbers[static_cast<std::size_t>(i)]);
      out_.sources.push_back(from);
      if (weighted_)
        out_.weights.push_back(other_.weights.empty() ? 1.0F
                                                      : other_.weights[edge]);
      if (identified_)
        out_.edge_ids.push_back(other_.edge_ids[edge]);
    }
  }

  const edge_list& own_;
  const edge_list& other_;
  bool weighted_;
  bool identified_;
  edge_list out_;
  std::vector<local_id> known_; ///< Sources of a row, ascending.
};

} // namespace

void add_reverses(const dataset_info& info, const sampling_scheme& scheme,
                  sampled_subgraph& batch,
                  const std::shared_ptr<buffer_pool>& pool) {
  const edge_list none;
  const auto made = [&](edge_type_id type) {
    const auto& about = info.edge_types[static_cast<std::size_t>(type)];
    const auto opposite = scheme.opposites[static_cast<std::size_t>(type)];
    return list_maker{
      batch.edges[static_cast<std::size_t>(type)],
      opposite < 0 ? none : batch.edges[static_cast<std::size_t>(opposite)],
      scheme.weighs(about), pool}
      .make(batch.rows(about.destination, batch.hops));
  };
  for (edge_type_id type = 0; type < std::ssize(batch.edges); ++type) {
    const auto opposite = scheme.opposites[static_cast<std::size_t>(type)];
    if (opposite >= 0 && opposite < type)
      continue; // Made with the other one.
    auto list = made(type);
    if (opposite > type)
      batch.edges[static_cast<std::size_t>(opposite)] = made(opposite);
    batch.edges[static_cast<std::size_t>(type)] = std::move(list);
  }
}

} // namespace graphmill
