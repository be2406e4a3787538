#include "partition/partitioners/graph/undirected_view.hpp"

#include "partition/files/file_io.hpp"
#include "partition/writing/csc_sort.hpp"
#include "partition/writing/edge_spool.hpp"

#include <limits>
#include <system_error>
#include <utility>
#include <vector>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

/// How many edges `reversed_edges` gives at a time, or more, for it does not
/// stop within the list of a vertex.
constexpr std::size_t view_block_edges = std::size_t{1} << 16;

/// The edges of a graph, turned round: sorted by their destination, they are
/// the lists of out-neighbours.
template <class Id>
class reversed_edges final : public edge_source<spooled_edge<Id>> {
public:
  reversed_edges(const graph_view& graph, monitor& watch)
    : graph_(graph), watch_(watch) {}

  std::int64_t size() const override { return graph_.edge_count(); }

  result<void> rewind() override {
    next_vertex_ = 0;
    return ok();
  }

  result<std::span<const spooled_edge<Id>>> next() override {
    GRAPHMILL_TRYV(watch_.check());
    block_.clear();
    for (; next_vertex_ < graph_.vertex_count()
           && block_.size() < view_block_edges;
         ++next_vertex_)
      graph_.for_each_in_neighbour(next_vertex_, [this](vertex_id u) {
        block_.push_back({static_cast<Id>(next_vertex_), static_cast<Id>(u)});
      });
    return std::span<const spooled_edge<Id>>{block_};
  }

private:
  const graph_view& graph_;
  monitor& watch_;
  vertex_id next_vertex_ = 0;
  std::vector<spooled_edge<Id>> block_;
};

/// A folder that is gone with all it holds when the work is done.
class working_folder {
public:
  static result<working_folder> make(fs::path path) {
    GRAPHMILL_TRYV(make_folders(path));
    return working_folder{std::move(path)};
  }
  working_folder(working_folder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}
  working_folder& operator=(working_folder&&) = delete;
  ~working_folder() {
    std::error_code ignored;
    if (!path_.empty())
      fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

private:
  explicit working_folder(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

} // namespace

undirected_view::undirected_view(const graph_view& graph, npy_array begin,
                                 npy_array out)
  : graph_(&graph), begin_file_(std::move(begin)), out_file_(std::move(out)),
    out_begin_(reinterpret_cast<const std::int64_t*>(begin_file_.data()),
               static_cast<std::size_t>(begin_file_.size())),
    out_{out_file_.data(), out_file_.size(), out_file_.type() == dtype::int64} {
}

result<undirected_view> undirected_view::make(const graph_view& graph,
                                              const fs::path& folder,
                                              std::uint64_t memory_bytes,
                                              monitor& watch) {
  GRAPHMILL_TRY(const auto place, working_folder::make(folder / "out-edges"));
  const auto n = graph.vertex_count();
  const auto is_narrow = n <= std::numeric_limits<std::int32_t>::max();
  const csc_job job{.folder = place.path(),
                    .sources = n,
                    .destinations = n,
                    .index_type = is_narrow ? dtype::int32 : dtype::int64,
                    .memory_bytes = memory_bytes,
                    .on_progress = [&](const progress& now) {
                      watch.tell("turn edges round", now.done, now.total);
                    }};
  if (is_narrow) {
    reversed_edges<std::int32_t> edges{graph, watch};
    GRAPHMILL_TRYV(sort_to_csc(edges, job));
  } else {
    reversed_edges<std::int64_t> edges{graph, watch};
    GRAPHMILL_TRYV(sort_to_csc(edges, job));
  }
  // The kernel keeps files that are mapped, though their names go with the
  // folder: so nothing is left behind, however the process ends later.
  GRAPHMILL_TRY(auto begin, npy_array::open(place.path() / "indptr.npy"));
  GRAPHMILL_TRY(auto out, npy_array::open(place.path() / "indices.npy"));
  if (auto fault = mapped_file::first_fault())
    return std::move(*fault);
  return undirected_view{graph, std::move(begin), std::move(out)};
}

neighbour_lists neighbours_of(const undirected_view& graph) {
  return [&graph](vertex_id v, std::vector<neighbour>& out) {
    out.clear();
    graph.for_each_neighbour(v, [&](vertex_id u, std::int64_t weight) {
      out.push_back({u, weight});
    });
  };
}

} // namespace graphmill
