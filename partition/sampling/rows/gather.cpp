#include "partition/sampling/rows/gather.hpp"

#include "partition/files/half.hpp"
#include "partition/sampling/neighbour_lists.hpp"
#include "partition/sampling/rows/packed_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#ifdef __SSE2__
#  include <immintrin.h>
#endif

namespace graphmill {

namespace {

constexpr std::size_t line = 64; ///< Bytes of a cache line.
/// Bytes of a block of rows. Up to two blocks are asked for before their use.
constexpr std::size_t ahead = 8192;
/// Rows of a block. Narrow rows often lie on a page each, which has to be found,
/// too: with 32 rows, gathering takes half as long again.
constexpr std::size_t most_ahead = 128;

/// Bytes of output from which on it is written past the caches: so much would
/// push everything else out of them, and would itself be gone from them before
/// its reader comes.
constexpr std::size_t streamed_from = std::size_t{4} << 20;

/// Where to read, what to write: the same for all element types.
struct gather_task {
  const std::byte* from;
  std::size_t row_bytes;
  node_id begin;
  std::span<const node_id> ids;
  std::span<const local_id> rows;

  const std::byte* source(std::size_t i) const {
    return from + static_cast<std::size_t>(ids[i] - begin) * row_bytes;
  }
  std::size_t target(std::size_t i) const {
    return rows.empty() ? i : static_cast<std::size_t>(rows[i]);
  }
};

/// Asks for rows [begin, end). Inlined, since a function that only prefetches
/// counts as one without effect, and compilers remove calls of it.
inline __attribute__((always_inline)) void
prefetch_rows(const gather_task& task, std::size_t begin, std::size_t end) {
  for (auto i = begin; i < end; ++i)
    for (std::size_t at = 0; at < task.row_bytes; at += line)
      __builtin_prefetch(task.source(i) + at);
}

/// Calls `copy(source, row)` for each row until one answers false. Rows are
/// asked for block by block: a prefetch waits until its page is found, and a
/// core looks for many pages at once only if little else lies between.
/// @returns how many answered true.
template <class Copy>
std::size_t for_each_row(const gather_task& task, Copy copy) {
  const auto count = task.ids.size();
  const auto block =
    std::clamp<std::size_t>(ahead / task.row_bytes, 2, most_ahead);
  prefetch_rows(task, 0, std::min(block, count));
  for (std::size_t begin = 0; begin < count; begin += block) {
    const auto end = std::min(begin + block, count);
    prefetch_rows(task, end, std::min(end + block, count));
    for (auto i = begin; i < end; ++i)
      if (!copy(task.source(i), task.target(i)))
        return i;
  }
  return count;
}

// Each of the next three copies `width` values and answers whether all of them
// may be used. Values are not finite if all bits of their exponents are set;
// what is wrong is collected, and not left at, so that the loops have no branch
// and become a few vector instructions.

/// Copies values as they are.
bool copy_floats(float* out, const std::byte* from, std::size_t width) {
  constexpr std::uint32_t exponent = 0x7f800000;
  const auto* values = reinterpret_cast<const float*>(from);
  std::uint32_t found = 0;
  for (std::size_t i = 0; i < width; ++i) {
    out[i] = values[i];
    const auto bits = std::bit_cast<std::uint32_t>(values[i]);
    found |= (bits & exponent) == exponent ? ~0u : 0u;
  }
  return found == 0;
}

bool widen_halves(float* out, const std::byte* from, std::size_t width) {
  constexpr std::uint16_t exponent = 0x7c00;
  const auto* values = reinterpret_cast<const std::uint16_t*>(from);
  std::transform(values, values + width, out, from_half);
  return std::none_of(values, values + width, [](std::uint16_t bits) {
    return (bits & exponent) == exponent;
  });
}

bool round_floats(float* out, const std::byte* from, std::size_t width) {
  constexpr auto overflow = std::bit_cast<std::uint32_t>(half_overflow);
  const auto* values = reinterpret_cast<const float*>(from);
  std::uint32_t found = 0;
  for (std::size_t i = 0; i < width; ++i) {
    const auto magnitude =
      std::bit_cast<std::uint32_t>(values[i]) & 0x7fffffffu;
    found |= magnitude >= overflow ? ~0u : 0u;
    out[i] = round_to_half(values[i]);
  }
  return found == 0;
}

#ifdef __SSE2__
/// Four values as they are. For a value that is not finite, bits in its lane of
/// `found` are set.
struct kept {
  static inline __attribute__((always_inline)) __m128 of(__m128 four,
                                                         __m128i& found) {
    // x - x is 0 for a finite x, and else not a number, which has bits set.
    const auto rest = _mm_castps_si128(_mm_sub_ps(four, four));
    found = _mm_or_si128(found, rest);
    return four;
  }
};

/// Four values as `round_to_half` rounds them, which explains each step. For a
/// value that float16 cannot hold, bits in its lane of `found` are set.
struct rounded_to_half {
  static inline __attribute__((always_inline)) __m128 of(__m128 four,
                                                         __m128i& found) {
    const auto sign_bit = _mm_set1_epi32(INT32_MIN);
    const auto half = _mm_set1_ps(0.5f);
    const auto below =
      _mm_set1_epi32(std::bit_cast<std::int32_t>(half_overflow) - 1);
    const auto bits = _mm_castps_si128(four);
    const auto magnitude = _mm_andnot_si128(sign_bit, bits);
    const auto odd =
      _mm_and_si128(_mm_srli_epi32(magnitude, 13), _mm_set1_epi32(1));
    const auto normal = _mm_and_si128(
      _mm_add_epi32(_mm_add_epi32(magnitude, _mm_set1_epi32(0xfff)), odd),
      _mm_set1_epi32(~0x1fff));
    const auto subnormal = _mm_castps_si128(
      _mm_sub_ps(_mm_add_ps(_mm_castsi128_ps(magnitude), half), half));
    const auto small = _mm_cmplt_epi32(magnitude, _mm_set1_epi32(0x38800000));
    found = _mm_or_si128(found, _mm_cmpgt_epi32(magnitude, below));
    return _mm_castsi128_ps(
      _mm_or_si128(_mm_and_si128(sign_bit, bits),
                   _mm_or_si128(_mm_and_si128(small, subnormal),
                                _mm_andnot_si128(small, normal))));
  }
};

inline __attribute__((always_inline)) bool none(__m128i found) {
  return _mm_movemask_epi8(_mm_cmpeq_epi32(found, _mm_setzero_si128()))
         == 0xffff;
}

/// Writes a row past the caches, which spares reading the lines of the target
/// first. `out` is aligned to 16 bytes, `width` is a multiple of 4.
template <class Values>
bool stream_row(float* out, const std::byte* from, std::size_t width) {
  const auto* values = reinterpret_cast<const float*>(from);
  auto found = _mm_setzero_si128();
  for (std::size_t i = 0; i < width; i += 4)
    _mm_stream_ps(out + i, Values::of(_mm_loadu_ps(values + i), found));
  return none(found);
}

/// The same for values as they are, 32 bytes at a time: a core that is shared
/// with another hardware thread gains by fewer instructions. `out` need not be
/// aligned to 32 bytes: four values before and four behind bring it there.
__attribute__((target("avx2"))) bool
stream_row_wide(float* out, const std::byte* from, std::size_t width) {
  const auto* values = reinterpret_cast<const float*>(from);
  auto few = _mm_setzero_si128();
  auto found = _mm256_setzero_ps();
  std::size_t i = 0;
  if (reinterpret_cast<std::uintptr_t>(out) % 32 != 0 && width != 0) {
    _mm_stream_ps(out, kept::of(_mm_loadu_ps(values), few));
    i = 4;
  }
  for (; i + 8 <= width; i += 8) {
    const auto eight = _mm256_loadu_ps(values + i);
    _mm256_stream_ps(out + i, eight);
    found = _mm256_or_ps(found, _mm256_sub_ps(eight, eight));
  }
  if (i < width)
    _mm_stream_ps(out + i, kept::of(_mm_loadu_ps(values + i), few));
  const auto bits = _mm256_castps_si256(found);
  return none(few) && _mm256_testz_si256(bits, bits) != 0;
}

/// The same by writes that stay in the caches, of rows of any width.
__attribute__((target("avx2"))) bool
copy_row_wide(float* out, const std::byte* from, std::size_t width) {
  const auto* values = reinterpret_cast<const float*>(from);
  auto found = _mm256_setzero_ps();
  std::size_t i = 0;
  for (; i + 8 <= width; i += 8) {
    const auto eight = _mm256_loadu_ps(values + i);
    _mm256_storeu_ps(out + i, eight);
    found = _mm256_or_ps(found, _mm256_sub_ps(eight, eight));
  }
  const auto bits = _mm256_castps_si256(found);
  return _mm256_testz_si256(bits, bits) != 0
         && copy_floats(out + i, from + i * sizeof(float), width - i);
}

bool can_stream(const float* out, std::size_t width, std::size_t rows) {
  return reinterpret_cast<std::uintptr_t>(out) % 16 == 0 && width % 4 == 0
         && width * sizeof(float) * rows >= streamed_from;
}
#endif

/// Writes all rows by `Copy`.
template <auto Copy>
std::size_t write_rows(const gather_task& task, std::size_t width, float* out) {
  return for_each_row(task,
                      [out, width](const std::byte* from, std::size_t row) {
                        return Copy(out + row * width, from, width);
                      });
}

#ifdef __SSE2__
const bool wide = __builtin_cpu_supports("avx2");

/// The same, 32 bytes at a time where `Copy` is a loop.
template <auto Copy>
__attribute__((target("avx2"), flatten)) std::size_t
write_rows_wide(const gather_task& task, std::size_t width, float* out) {
  return write_rows<Copy>(task, width, out);
}

std::size_t stream_rows(const gather_task& task, std::size_t width, float* out,
                        bool rounded) {
  const auto done =
    rounded ? write_rows<stream_row<rounded_to_half>>(task, width, out)
    : wide  ? write_rows_wide<stream_row_wide>(task, width, out)
            : write_rows<stream_row<kept>>(task, width, out);
  // Writes past the caches are not ordered with later ones: without this,
  // another thread could be told that the rows are there before they are.
  _mm_sfence();
  return done;
}
#endif

std::size_t copy_rows(const gather_task& task, std::size_t width, float* out,
                      bool rounded) {
#ifdef __SSE2__
  if (can_stream(out, width, task.ids.size()))
    return stream_rows(task, width, out, rounded);
  if (wide && !rounded)
    return write_rows_wide<copy_row_wide>(task, width, out);
#endif
  return rounded ? write_rows<round_floats>(task, width, out)
                 : write_rows<copy_floats>(task, width, out);
}

} // namespace

feature_row_copy::feature_row_copy(const node_type_info& type, bool rounded)
  : copy_(type.feature_type == dtype::float16 ? widen_halves
          : rounded                           ? round_floats
                                              : copy_floats),
    width_(static_cast<std::size_t>(type.feature_width)),
    row_bytes_(width_ * size_of(type.feature_type)) {}

error bad_features(const node_type_info& type, node_id original,
                   std::span<const float> values) {
  const auto infinite = [](float x) { return !std::isfinite(x); };
  const auto large = std::find_if(values.begin(), values.end(), [](float x) {
    return std::abs(x) >= half_overflow;
  });
  if (large != values.end()
      && std::none_of(values.begin(), values.end(), infinite))
    return fail(ec::invalid_data,
                "the features of node {} of type {} have the value {}, beyond "
                "the range of float16: set fetch.precision to float32, or "
                "import the features scaled",
                original, type.name, *large);
  return fail(ec::invalid_data,
              "the features of node {} of type {} are not all finite "
              "numbers; `graphmill inspect` says where",
              original, type.name);
}

error bad_feature_row(const node_type_info& type, node_id original,
                      const std::byte* row) {
  if (type.feature_type != dtype::float32)
    return bad_features(type, original, {});
  return bad_features(type, original,
                      {reinterpret_cast<const float*>(row),
                       static_cast<std::size_t>(type.feature_width)});
}

namespace {

result<void> check_gather(const shard& graph, node_type_id type,
                          std::span<const node_id> ids,
                          std::span<const local_id> rows) {
  const auto& nodes = graph.nodes(type);
  const auto& info = graph.info().node_types[type];
  if (!nodes.has_features() || info.feature_width == 0)
    return fail(ec::invalid_argument, "node type \"{}\" has no features",
                info.name);
  if (!rows.empty() && rows.size() != ids.size())
    return fail(ec::invalid_argument, "{} rows were given for {} nodes",
                rows.size(), ids.size());
  for (auto id : ids)
    if (id < nodes.begin || id >= nodes.end)
      return fail(ec::invalid_argument,
                  "node {} of type \"{}\" is not in part {}, which owns [{}, "
                  "{})",
                  id, info.name, graph.part(), nodes.begin, nodes.end);
  return ok();
}

/// Of sparse features, in a form that may be packed or not.
result<void> gather_sparse(const shard& graph, node_type_id type,
                           std::span<const node_id> ids,
                           std::span<const local_id> rows, float* out,
                           bool rounded, const row_form& form) {
  sparse_row_reader reader{graph, type, rounded};
  for (std::size_t i = 0; i < ids.size(); ++i) {
    GRAPHMILL_TRY(const auto row, reader.read(ids[i]));
    const auto at = rows.empty() ? i : static_cast<std::size_t>(rows[i]);
    auto* to = out + at * form.floats();
    if (form.packed()) {
      pack(row, form, to);
      continue;
    }
    std::fill_n(to, form.width, 0.0f);
    for (std::size_t v = 0; v < row.columns.size(); ++v)
      to[row.columns[v]] = row.values[v];
  }
  return ok();
}

} // namespace

result<void> gather_rows(const shard& graph, node_type_id type,
                         std::span<const node_id> ids,
                         std::span<const local_id> rows, float* out,
                         bool rounded) {
  const auto form = row_form::of(graph.info().node_types[type]);
  if (!form.packed())
    return gather_features(graph, type, ids, rows, out, rounded);
  GRAPHMILL_TRYV(check_gather(graph, type, ids, rows));
  return gather_sparse(graph, type, ids, rows, out, rounded, form);
}

result<void> gather_features(const shard& graph, node_type_id type,
                             std::span<const node_id> ids,
                             std::span<const local_id> rows, float* out,
                             bool rounded) {
  GRAPHMILL_TRYV(check_gather(graph, type, ids, rows));
  const auto& nodes = graph.nodes(type);
  const auto& info = graph.info().node_types[type];
  const auto width = static_cast<std::size_t>(info.feature_width);
  if (nodes.features == nullptr)
    return gather_sparse(graph, type, ids, rows, out, rounded, {width, 0});
  const auto half = info.feature_type == dtype::float16;
  const gather_task task{nodes.features, width * (half ? 2 : 4), nodes.begin,
                         ids, rows};
  const auto done = half ? write_rows<widen_halves>(task, width, out)
                         : copy_rows(task, width, out, rounded);
  if (done == ids.size())
    return ok();
  return bad_feature_row(info, nodes.original(ids[done]), task.source(done));
}

result<void> gather_edge_features(const shard& graph, edge_type_id type,
                                  std::span<const edge_id> places,
                                  std::span<const local_id> rows, float* out,
                                  bool rounded) {
  const auto& info = graph.info().edge_types[static_cast<std::size_t>(type)];
  const auto& edges = graph.edges(type);
  if (places.empty())
    return ok();
  if (edges.features == nullptr || info.feature_width == 0)
    return fail(ec::invalid_argument, "edges of type \"{}\" have no features",
                graph.info().edge_type_name(type));
  if (!rows.empty() && rows.size() != places.size())
    return fail(ec::invalid_argument, "{} rows were given for {} edges",
                rows.size(), places.size());
  for (const auto place : places)
    if (place < 0 || place >= edges.indices.size)
      return fail(ec::invalid_argument,
                  "there is no edge {} of {} of type \"{}\" in part {}", place,
                  edges.indices.size, graph.info().edge_type_name(type),
                  graph.part());
  const auto width = static_cast<std::size_t>(info.feature_width);
  const auto half = info.feature_type == dtype::float16;
  const gather_task task{edges.features, info.feature_row_bytes(), 0, places,
                         rows};
  const auto done = half ? write_rows<widen_halves>(task, width, out)
                         : copy_rows(task, width, out, rounded);
  if (done == places.size())
    return ok();
  return fail(ec::invalid_data,
              "the features of edge {} of type {} in part {} are not all "
              "finite numbers{}; `graphmill inspect` says where",
              places[done], graph.info().edge_type_name(type), graph.part(),
              rounded ? " within the range of float16" : "");
}

result<void> find_places(const shard& graph, edge_type_id type,
                         std::span<const node_id> destinations,
                         std::span<const edge_id> edges, edge_id* out) {
  const auto& info = graph.info();
  const auto& lists = graph.edges(type);
  const auto& nodes =
    graph.nodes(info.edge_types[static_cast<std::size_t>(type)].destination);
  if (destinations.size() != edges.size())
    return fail(ec::invalid_argument, "{} edges of {} nodes are asked for",
                edges.size(), destinations.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const auto id = destinations[i];
    if (id < nodes.begin || id >= nodes.end)
      return fail(ec::invalid_argument, "node {} is not in part {}", id,
                  graph.part());
    const auto row = static_cast<std::size_t>(id - nodes.begin);
    const auto begin = lists.indptr[row];
    const auto first =
      lists.original_begin.empty() ? begin : lists.original_begin[row];
    if (edges[i] < first || edges[i] - first >= lists.indptr[row + 1] - begin)
      return fail(ec::invalid_argument,
                  "edge {} of type {} is none of the in-edges of node {}",
                  edges[i], info.edge_type_name(type), nodes.original(id));
    out[i] = begin + (edges[i] - first);
  }
  return ok();
}

namespace {

/// The sum of the weights of what is left of a list, as it would be stored.
result<double> left_weight(const edge_shard& edges, const node_shard& nodes,
                           node_id id, std::span<const edge_id> excluded,
                           edge_level level) {
  const auto row = static_cast<std::size_t>(id - nodes.begin);
  const auto begin = edges.indptr[row];
  const auto end = edges.indptr[row + 1];
  if (begin < 0 || begin > end || end > edges.indices.size
      || end - begin > INT32_MAX)
    return fail(
      ec::invalid_data,
      "the list of in-edges of node {} goes from {} to {} of {} edges",
      nodes.original(id), begin, end, edges.indices.size);
  const auto seen = seen_degree(edges, row, end - begin, level);
  if (seen < 0)
    return fail(ec::invalid_data,
                "visible.npy says that {} of the {} in-edges of node {} are of "
                "level {} or below",
                edges.seen(row, level), end - begin, nodes.original(id), level);
  std::vector<std::uint32_t> skips(excluded.size());
  if (find_skips(edges, nodes, id, {seen, 0, seen}, excluded, skips.data()) < 0)
    return fail(ec::invalid_argument,
                "edges are to be excluded from the {} in-edges of node {}, but "
                "one of them is none of its in-edges",
                seen, nodes.original(id));
  const auto left = static_cast<std::uint32_t>(seen - std::ssize(excluded));
  if (edges.weights.empty())
    return static_cast<double>(left);
  double sum = 0;
  for (std::uint32_t i = 0; i < left; ++i)
    sum += static_cast<double>(
      edges
        .weights[static_cast<std::size_t>(begin + whole_position(skips, i))]);
  return static_cast<double>(static_cast<float>(sum));
}

} // namespace

result<float> in_weight(const shard& graph, node_type_id type, node_id id,
                        std::span<const std::span<const edge_id>> excluded,
                        edge_level level) {
  const auto& nodes = graph.nodes(type);
  const auto row = static_cast<std::size_t>(id - nodes.begin);
  double sum = 0;
  auto sound = true;
  for (std::size_t e = 0; e < graph.info().edge_types.size(); ++e) {
    if (graph.info().edge_types[e].destination != type)
      continue;
    const auto& edges = graph.edges(static_cast<edge_type_id>(e));
    double here = edges.in_weights.empty()
                    ? static_cast<double>(edges.in_degrees[row])
                    : static_cast<double>(edges.in_weights[row]);
    const auto without =
      excluded.empty() ? std::span<const edge_id>{} : excluded[e];
    if (!without.empty()
        || (edges.hides(level)
            && edges.seen(row, level) != edges.in_degrees[row])) {
      GRAPHMILL_TRY(here, left_weight(edges, nodes, id, without, level));
    }
    sound &= here >= 0;
    sum += here;
  }
  const auto out = static_cast<float>(sum);
  if (!sound || !std::isfinite(out))
    return fail(ec::invalid_data,
                "the weights of the in-edges of node {} add up to {} on "
                "record; graphmill inspect says more",
                nodes.original(id), sum);
  return out;
}

} // namespace graphmill
