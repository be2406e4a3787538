#include "pipelines/model/torch_operations.hpp"

#include "messages/base/random.hpp"

#include <limits>
#include <vector>

namespace graphmill {

namespace {

at::Tensor scale_on(const at::Device& device, const pod_vector<float>& scale,
                    std::int64_t count) {
  return tensor_on(device, {scale.data(), count, 1});
}

/// Sums rows of `values` by destination.
at::Tensor sum_by(const at::Tensor& destinations, const at::Tensor& values,
                  std::int64_t rows) {
  auto shape = values.sizes().vec();
  shape.front() = rows;
  return at::zeros(shape, values.options()).index_add(0, destinations, values);
}

/// The sum of sources, weighed by the softmax of their scores with the
/// destination's. @param by_head [sources, heads, width of one]
at::Tensor attended(const at::Tensor& by_head, const at::Tensor& source_scores,
                    const at::Tensor& own_scores, const edge_tensors& edges,
                    bool average) {
  const auto heads = by_head.size(1);
  const auto& from = edges.sources;
  const auto& to = edges.destinations;
  const auto scores = at::leaky_relu(
    source_scores.index_select(0, from) + own_scores.index_select(0, to), 0.2);
  // The largest score of a row cancels out; it only keeps powers finite.
  const auto largest = at::full({edges.rows, heads}, -1e30, scores.options())
                         .scatter_reduce(0, to.unsqueeze(1).expand({-1, heads}),
                                         scores.detach(), "amax");
  const auto powers = (scores - largest.index_select(0, to)).exp();
  const auto weights =
    powers / sum_by(to, powers, edges.rows).index_select(0, to);
  const auto out = sum_by(
    to, by_head.index_select(0, from) * weights.unsqueeze(-1), edges.rows);
  return average ? out.mean(1) : out.flatten(1);
}

} // namespace

edge_tensors edges_on(const at::Device& device, const csr& edges,
                      std::int64_t rows) {
  const auto count = edges.indptr[static_cast<std::size_t>(rows)];
  std::vector<std::int64_t> destinations(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < rows; ++i)
    std::fill(destinations.begin() + edges.indptr[i],
              destinations.begin() + edges.indptr[i + 1], i);
  const auto narrow = at::from_blob(const_cast<local_id*>(edges.columns.data()),
                                    {count}, at::kInt);
  const auto wide = at::from_blob(destinations.data(), {count}, at::kLong);
  return {narrow.to(device, at::kLong), wide.clone().to(device), rows};
}

at::Tensor tensor_on(const at::Device& device, const_matrix from) {
  return at::from_blob(const_cast<float*>(from.data), {from.rows, from.columns},
                       at::kFloat)
    .clone()
    .to(device);
}

at::Tensor sum_messages(const at::Tensor& h, const edge_tensors& edges,
                        const relation_scales& scales,
                        const at::Tensor& epsilon) {
  const auto device = h.device();
  auto messages = h.index_select(0, edges.sources);
  if (!scales.column.empty())
    messages = messages
               * scale_on(device, scales.column, h.size(0))
                   .index_select(0, edges.sources);
  auto sum = sum_by(edges.destinations, messages, edges.rows)
             * scale_on(device, scales.row, edges.rows);
  if (epsilon.defined())
    sum = sum + h.narrow(0, 0, edges.rows) * (1 + epsilon);
  if (!scales.self.empty())
    sum =
      sum
      + h.narrow(0, 0, edges.rows) * scale_on(device, scales.self, edges.rows);
  return sum;
}

at::Tensor largest_messages(const at::Tensor& h, const edge_tensors& edges) {
  const auto messages = h.index_select(0, edges.sources);
  const auto count = messages.size(0);
  const auto width = messages.size(1);
  const auto values = messages.detach();
  const auto to = edges.destinations.unsqueeze(1).expand({count, width});
  const auto largest =
    at::full({edges.rows, width}, -std::numeric_limits<float>::infinity(),
             values.options())
      .scatter_reduce(0, to, values, "amax");
  // Numbers of edges; the one behind the last stands for none.
  const auto numbers = at::arange(count, edges.sources.options())
                         .unsqueeze(1)
                         .expand({count, width});
  const auto none = at::full({1, 1}, count, edges.sources.options());
  const auto first =
    none.expand({edges.rows, width})
      .clone()
      .scatter_reduce(
        0, to, at::where(values.eq(largest.gather(0, to)), numbers, none),
        "amin");
  return at::cat({messages, at::zeros({1, width}, messages.options())})
    .gather(0, first);
}

at::Tensor attend(const at::Tensor& z, const at::Tensor& source,
                  const at::Tensor& destination, const edge_tensors& edges,
                  bool average) {
  const auto heads = source.size(0);
  const auto by_head = z.view({z.size(0), heads, z.size(1) / heads});
  const auto selves = at::arange(edges.rows, edges.sources.options());
  const edge_tensors all{at::cat({edges.sources, selves}),
                         at::cat({edges.destinations, selves}), edges.rows};
  return attended(by_head, (by_head * source).sum(-1),
                  (by_head * destination).sum(-1), all, average);
}

at::Tensor attend_by_relation(const at::Tensor& z, const at::Tensor& source,
                              const at::Tensor& own_scores,
                              const edge_tensors& edges, bool average) {
  const auto heads = source.size(0);
  const auto by_head = z.view({z.size(0), heads, z.size(1) / heads});
  return attended(by_head, (by_head * source).sum(-1), own_scores, edges,
                  average);
}

at::Tensor drop(const at::Tensor& x, const dropout& options) {
  if (options.threshold == 0)
    return x;
  constexpr std::int64_t low = 0xffffffff;
  const auto whole = x.options().dtype(at::kLong);
  const auto rows = x.size(0);
  const auto groups = (x.size(1) + 127) / 128;
  // Philox in 64-bit words; a product's sign does not matter after masking.
  auto c0 = at::arange(rows, whole).view({rows, 1, 1}).expand({-1, groups, 16});
  auto c3 = at::arange(groups * 16, whole).view({1, groups, 16});
  c3 = c3.expand({rows, groups, 16});
  auto c1 = at::zeros_like(c0);
  auto c2 = at::full_like(c0, static_cast<std::int64_t>(options.stream));
  auto k0 = static_cast<std::int64_t>(options.key & low);
  auto k1 = static_cast<std::int64_t>(options.key >> 32);
  for (int round = 0; round < philox::rounds; ++round) {
    const auto p0 = c0 * std::int64_t{philox::multiplier0};
    const auto p1 = c2 * std::int64_t{philox::multiplier2};
    c0 = (at::bitwise_right_shift(p1, 32) & low) ^ c1 ^ k0;
    c2 = (at::bitwise_right_shift(p0, 32) & low) ^ c3 ^ k1;
    c1 = p1 & low;
    c3 = p0 & low;
    k0 = (k0 + philox::step0) & low;
    k1 = (k1 + philox::step1) & low;
  }
  std::vector<at::Tensor> halves;
  for (const auto& word : {c0, c1, c2, c3})
    for (const auto shift : {0, 16})
      halves.push_back(at::bitwise_right_shift(word, shift) & 0xffff);
  const auto bits =
    at::stack(halves, 2).view({rows, groups * 128}).narrow(1, 0, x.size(1));
  const auto kept = bits.ge(static_cast<std::int64_t>(options.threshold));
  return x * kept.to(x.dtype()) * options.scale();
}

} // namespace graphmill
