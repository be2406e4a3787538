#include "pipelines/model/torch/torch_operations.hpp"

#include "messages/base/random.hpp"

#include <limits>
#include <vector>

namespace graphmill {

namespace {

at::Tensor scale_on(const at::Device& device, const pod_vector<float>& scale,
                    std::int64_t count) {
  return tensor_on(device, {scale.data(), count, 1});
}

/// LeakyReLU's below 0.
constexpr double attention_slope = 0.2;

/// Of attention, for each pair of ends. @param z [rows, heads, width of one]
at::Tensor scores_of(const at::Tensor& z, const attention_terms& terms,
                     const edge_tensors& ends) {
  const auto& from = ends.sources;
  const auto& to = ends.destinations;
  if (terms.y.defined()) {
    const auto y = terms.y.view({terms.y.size(0), z.size(1), z.size(2)});
    const auto both = z.index_select(0, from) + y.index_select(0, to);
    return (at::leaky_relu(both, attention_slope) * terms.source).sum(-1);
  }
  const auto source_scores = (z * terms.source).sum(-1);
  const auto own_scores = (z * terms.destination).sum(-1);
  return at::leaky_relu(source_scores.index_select(0, from)
                          + own_scores.index_select(0, to),
                        attention_slope);
}

/// The sum of sources by their weights. @param by_head [sources, heads, width
/// of one] @param weights [entries, heads]
at::Tensor attended(const at::Tensor& by_head, const at::Tensor& weights,
                    const edge_tensors& ends, bool average) {
  const auto out = sum_by(
    ends.destinations,
    by_head.index_select(0, ends.sources) * weights.unsqueeze(-1), ends.rows);
  return average ? out.mean(1) : out.flatten(1);
}

} // namespace

at::Tensor sum_by(const at::Tensor& destinations, const at::Tensor& values,
                  std::int64_t rows) {
  auto shape = values.sizes().vec();
  shape.front() = rows;
  return at::zeros(shape, values.options()).index_add(0, destinations, values);
}

at::Tensor softmax_by(const at::Tensor& scores, const at::Tensor& to,
                      std::int64_t rows) {
  const auto heads = scores.size(1);
  // The largest score of a row cancels out; it only keeps powers finite.
  const auto largest =
    at::full({rows, heads}, -1e30, scores.options())
      .scatter_reduce(0, to.unsqueeze(1).expand({to.size(0), heads}),
                      scores.detach(), "amax");
  const auto powers = (scores - largest.index_select(0, to)).exp();
  // Where all edges weigh 0, there are no shares.
  const auto total = sum_by(to, powers, rows);
  return powers
         / at::where(total.eq(0), at::ones_like(total), total)
             .index_select(0, to);
}

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
  edge_tensors out{narrow.to(device, at::kLong), wide.clone().to(device), rows};
  if (!edges.weights.empty())
    out.weights = tensor_on(device, {edges.weights.data(), count, 1});
  return out;
}

at::Tensor tensor_on(const at::Device& device, const_matrix from) {
  return at::from_blob(const_cast<float*>(from.data), {from.rows, from.columns},
                       at::kFloat)
    .clone()
    .to(device);
}

at::Tensor features_on(const at::Device& device, const row_form& form,
                       const float* from, std::int64_t rows) {
  const auto width = static_cast<std::int64_t>(form.width);
  if (!form.packed())
    return tensor_on(device, {from, rows, width});
  std::vector<float> unpacked(static_cast<std::size_t>(rows) * form.width);
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i)
    unpack(from + i * form.floats(), form, unpacked.data() + i * form.width);
  return tensor_on(device, {unpacked.data(), rows, width});
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
  if (edges.weights.defined())
    messages = messages * edges.weights;
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
  constexpr auto infinity = std::numeric_limits<double>::infinity();
  const auto values =
    at::nan_to_num(messages.detach(), infinity, infinity, -infinity);
  const auto to = edges.destinations.unsqueeze(1).expand({count, width});
  const auto largest =
    at::full({edges.rows, width}, -infinity, values.options())
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

at::Tensor attend(const at::Tensor& z, const attention_terms& terms,
                  const edge_tensors& edges) {
  const auto heads = terms.source.size(0);
  const auto by_head = z.view({z.size(0), heads, z.size(1) / heads});
  const auto selves = at::arange(edges.rows, edges.sources.options());
  const edge_tensors all{at::cat({edges.sources, selves}),
                         at::cat({edges.destinations, selves}), edges.rows};
  auto scores = scores_of(by_head, terms, all);
  if (edges.weights.defined())
    scores = scores
             + at::cat({edges.weights.log(),
                        at::zeros({edges.rows, 1}, edges.weights.options())});
  const auto softmax = softmax_by(scores, all.destinations, edges.rows);
  const auto count = edges.sources.size(0);
  const auto weights =
    at::cat({drop(softmax.narrow(0, 0, count), terms.drop),
             drop(softmax.narrow(0, count, edges.rows), terms.drop_self)});
  const auto messages = drop(z, terms.drop_messages).view(by_head.sizes());
  return attended(messages, weights, all, terms.average);
}

at::Tensor attend_by_relation(const at::Tensor& z, const at::Tensor& source,
                              const at::Tensor& own_scores,
                              const edge_tensors& edges,
                              const dropout& weights_dropped, bool average) {
  const auto heads = source.size(0);
  const auto by_head = z.view({z.size(0), heads, z.size(1) / heads});
  auto scores =
    at::leaky_relu((by_head * source).sum(-1).index_select(0, edges.sources)
                     + own_scores.index_select(0, edges.destinations),
                   attention_slope);
  if (edges.weights.defined())
    scores = scores + edges.weights.log();
  return attended(
    by_head,
    drop(softmax_by(scores, edges.destinations, edges.rows), weights_dropped),
    edges, average);
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
