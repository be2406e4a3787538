#include "tests/pipelines/model/reference.hpp"
#include "tests/pipelines/model/reference_rows.hpp"

#include <cmath>
#include <vector>

namespace graphmill::test {

namespace {

/// Columns of one head: x times the block of `maps` that is its own.
row mapped(const row& x, const row& maps, std::int64_t head,
           std::int64_t width) {
  const row part(x.begin() + head * width, x.begin() + (head + 1) * width);
  const row block(maps.begin() + head * width * width,
                  maps.begin() + (head + 1) * width * width);
  return times(part, block, width);
}

} // namespace

/// What a heterogeneous graph transformer gives for node i of a type, without
/// its bias: edge by edge, with keys and values as their relations map them.
row reference_model::transformed(int l, std::size_t type,
                                 const std::vector<rows>& in,
                                 std::int64_t i) const {
  const auto& shape = layout_.layers[l];
  const auto& here = shape.types[type];
  const auto value = [this](int p) -> const row& {
    return values.at(layout_.parameters[p].name);
  };
  const auto width = shape.inside / shape.heads;
  const auto& own = in[type][i];
  row sum(shape.inside);
  for (std::int64_t h = 0; h < shape.heads; ++h) {
    double total = 0;
    row head_sum(width);
    for (std::size_t r = 0; r < layout_.relations.size(); ++r) {
      const auto& ends = layout_.relations[r];
      if (shape.weights[r] == absent || ends.destination != node_type_id(type))
        continue;
      const auto& from = shape.types[ends.source];
      auto query = times(own, value(here.query), shape.inside);
      add_to(query, value(here.query_bias));
      const auto stream = std::uint32_t(128 + l) << 24 | std::uint32_t(r) << 16
                          | std::uint32_t(batch_.data.key.rank);
      const auto& edges = batch_.relations[r].forward;
      for (auto e = edges.indptr[i]; e < edges.indptr[i + 1]; ++e) {
        const auto& x = in[ends.source][edges.columns[e]];
        const auto edge = brought(l, r, e, shape.inside);
        auto k = times(x, value(from.key), shape.inside);
        if (!edge.empty())
          add_to(k, edge);
        const auto mapped_key = mapped(k, value(shape.score_maps[r]), h, width);
        double score = 0;
        for (std::int64_t c = 0; c < width; ++c)
          score += mapped_key[c] * query[h * width + c];
        const auto power = weight_of(edges, e)
                           * std::exp(score * value(shape.priors[r])[h]
                                      / std::sqrt(double(width)));
        total += power;
        auto v = times(x, value(from.value), shape.inside);
        add_to(v, value(from.value_bias));
        if (!edge.empty())
          add_to(v, edge);
        const auto share = kept(key, stream, std::size_t(e), std::size_t(h),
                                training ? layout_.attention_threshold : 0);
        add_to(head_sum, mapped(v, value(shape.weights[r]), h, width),
               share * power);
      }
    }
    for (std::int64_t c = 0; c < width && total > 0; ++c)
      sum[h * width + c] = head_sum[c] / total;
  }
  for (auto& x : sum)
    x *= 0.5 * (1 + std::erf(x / std::sqrt(2.0)));
  const auto share = 1 / (1 + std::exp(-value(here.gate)[0]));
  const auto through =
    here.skip == absent ? own : times(own, value(here.skip), here.out);
  row out(here.out);
  add_to(out, times(sum, value(here.inner), here.out), share);
  add_to(out, through, 1 - share);
  return out;
}

} // namespace graphmill::test
