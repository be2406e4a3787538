#include "partition/dataset/edge_weights.hpp"

#include <cmath>
#include <cstddef>

namespace graphmill {

std::optional<float> edge_weight_from(double value) {
  const auto rounded = static_cast<float>(value);
  if (!std::isfinite(rounded) || value < 0 || (rounded == 0) != (value == 0))
    return std::nullopt;
  return rounded + 0.0F; // Of -0, 0.
}

error no_edge_weight(double value, std::string_view where) {
  if (!std::isfinite(value) || value < 0)
    return fail(ec::invalid_data,
                "{}: the weight of an edge is {}; a finite number that is not "
                "negative expected",
                where, value);
  return fail(ec::invalid_data,
              "{}: the weight of an edge is {}, which float32 cannot hold; "
              "scale the weights",
              where, value);
}

result<float> stored_weight(double sum, std::string_view where) {
  const auto rounded = static_cast<float>(sum);
  if (!std::isfinite(rounded))
    return fail(ec::invalid_data,
                "{}: the weights add up to {}, which float32 cannot hold; "
                "scale them down",
                where, sum);
  return rounded;
}

namespace {

error of_node(const error& reason, std::string_view which, std::size_t node) {
  return fail(reason.code, "{} (the {} node {})", reason.message, which, node);
}

} // namespace

result<weight_sums> sum_weights(std::span<const std::int64_t> indptr,
                                const id_span& indices,
                                std::span<const float> weights,
                                std::int64_t sources, std::string_view where) {
  weight_sums sums;
  sums.in.resize(indptr.size() - 1);
  std::vector<double> out(static_cast<std::size_t>(sources));
  for (std::size_t to = 0; to < sums.in.size(); ++to) {
    double in = 0;
    for (auto e = indptr[to]; e < indptr[to + 1]; ++e) {
      const double weight = weights[static_cast<std::size_t>(e)];
      in += weight;
      out[static_cast<std::size_t>(indices[e])] += weight;
    }
    const auto sum = stored_weight(in, where);
    if (!sum)
      return of_node(sum.error(), "edges that end at", to);
    sums.in[to] = sum.value();
  }
  sums.out.resize(out.size());
  for (std::size_t from = 0; from < out.size(); ++from) {
    const auto sum = stored_weight(out[from], where);
    if (!sum)
      return of_node(sum.error(), "edges that begin at", from);
    sums.out[from] = sum.value();
  }
  return sums;
}

} // namespace graphmill
