#include "tests/pipelines/model/reference.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

namespace graphmill::test {

namespace {

using link_numbers = std::vector<double>;
constexpr auto no_link = -std::numeric_limits<double>::infinity();

double minus_log_sigmoid(double x) {
  return std::max(-x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

std::complex<double> complex_element(const link_numbers& x, std::size_t c) {
  return {x[c], x[c + x.size() / 2]};
}

} // namespace

/// By the formulas of the decoders, for one pair.
std::vector<double>
reference_model::edge_scores(std::size_t relation, const link_numbers& h,
                             const link_numbers& t,
                             const link_numbers& edge) const {
  const auto& decoder = *layout_.decoder;
  const auto width = h.size();
  const auto of = [this](const char* name, std::size_t row,
                         std::size_t columns) {
    const auto& all = values.at(name);
    const auto first = all.begin() + std::ptrdiff_t(row * columns);
    return link_numbers(first, first + std::ptrdiff_t(columns));
  };
  double sum = 0;
  switch (decoder.kind) {
  case decoder_kind::dot:
    for (std::size_t c = 0; c < width; ++c)
      sum += h[c] * t[c];
    return {sum};
  case decoder_kind::cosine: {
    double hh = 0;
    double tt = 0;
    for (std::size_t c = 0; c < width; ++c) {
      sum += h[c] * t[c];
      hh += h[c] * h[c];
      tt += t[c] * t[c];
    }
    return {sum / std::sqrt(hh * tt)};
  }
  case decoder_kind::distmult: {
    const auto r = of("decoder.relation", relation, width);
    for (std::size_t c = 0; c < width; ++c)
      sum += h[c] * r[c] * t[c];
    return {sum};
  }
  case decoder_kind::complex: {
    const auto r = of("decoder.relation", relation, width);
    for (std::size_t c = 0; c < width / 2; ++c)
      sum += (complex_element(h, c) * complex_element(r, c)
              * std::conj(complex_element(t, c)))
               .real();
    return {sum};
  }
  case decoder_kind::transe: {
    const auto r = of("decoder.relation", relation, width);
    for (std::size_t c = 0; c < width; ++c)
      sum += decoder.norm == 1 ? std::abs(h[c] + r[c] - t[c])
                               : std::pow(h[c] + r[c] - t[c], 2);
    return {-(decoder.norm == 1 ? sum : std::sqrt(sum))};
  }
  case decoder_kind::rotate: {
    const auto r = of("decoder.relation", relation, width / 2);
    for (std::size_t c = 0; c < width / 2; ++c)
      sum += std::abs(complex_element(h, c) * std::polar(1.0, r[c])
                      - complex_element(t, c));
    return {-sum};
  }
  case decoder_kind::bilinear: {
    link_numbers out;
    const auto classes = static_cast<std::size_t>(layout_.classes);
    for (std::size_t k = 0; k < classes; ++k) {
      const auto w =
        of("decoder.weight", relation * classes + k, width * width);
      out.push_back(0);
      for (std::size_t a = 0; a < width; ++a)
        for (std::size_t b = 0; b < width; ++b)
          out.back() += h[a] * w[a * width + b] * t[b];
      for (std::size_t c = 0; c < edge.size(); ++c)
        out.back() +=
          edge[c] * values.at("decoder.edge.weight")[c * classes + k];
    }
    return out;
  }
  case decoder_kind::mlp:
    break;
  }
  auto all = h;
  all.insert(all.end(), t.begin(), t.end());
  for (std::size_t c = 0; c < width; ++c)
    all.push_back(h[c] * t[c]);
  const auto& weight = values.at("decoder.hidden.weight");
  const auto inside = weight.size() / all.size();
  auto hidden = of("decoder.hidden.bias", relation, inside);
  for (std::size_t c = 0; c < all.size(); ++c)
    for (std::size_t k = 0; k < inside; ++k)
      hidden[k] += all[c] * weight[c * inside + k];
  for (std::size_t c = 0; c < edge.size(); ++c)
    for (std::size_t k = 0; k < inside; ++k)
      hidden[k] += edge[c] * values.at("decoder.edge.weight")[c * inside + k];
  const auto& last = values.at("decoder.output.weight");
  link_numbers out(last.size() / inside);
  for (std::size_t k = 0; k < inside; ++k)
    for (std::size_t c = 0; c < out.size(); ++c)
      out[c] += std::max(hidden[k], 0.0) * last[k * out.size() + c];
  return out;
}

reference_model::rows
reference_model::edge_logits(const std::vector<rows>& outputs) const {
  const auto& seeds = *batch_.rows;
  rows out;
  const auto longest = [](const std::vector<std::vector<local_id>>& lists) {
    std::size_t most = 0;
    for (const auto& list : lists)
      most = std::max(most, list.size());
    return most;
  };
  for (std::size_t i = 0; i < seeds.rows(); ++i) {
    const auto relation =
      seeds.relations.empty() ? 0 : std::size_t(seeds.relations[i]);
    const auto& ends = layout_.decoder->ends[relation];
    const auto* local = seeds.locals.data() + i * seeds.columns;
    const auto& h = outputs[ends.source][local[0]];
    const auto& t = outputs[ends.destination][local[1]];
    link_numbers edge;
    if (const auto by = layout_.decoder->edge_weight; by != absent) {
      const auto width =
        layout_.parameters[static_cast<std::size_t>(by)].shape.front();
      const auto* from =
        batch_.data.row_features.data() + std::int64_t(i) * width;
      edge.assign(from, from + width);
    }
    auto scores = edge_scores(relation, h, t, edge);
    if (values.contains("decoder.bias"))
      for (std::size_t c = 0; c < scores.size(); ++c)
        scores[c] += values.at("decoder.bias")[c];
    const auto add = [&](local_id node, bool source) {
      if (node == seed_batch::none)
        scores.push_back(no_link);
      else if (source)
        scores.push_back(
          edge_scores(relation, outputs[ends.source][node], t)[0]);
      else
        scores.push_back(
          edge_scores(relation, h, outputs[ends.destination][node])[0]);
    };
    if (seeds.wrong_pairs != 0)
      for (std::size_t c = 2; c < seeds.columns; c += 2)
        scores.push_back(
          local[c] == seed_batch::none
            ? no_link
            : edge_scores(relation, outputs[ends.source][local[c]],
                          outputs[ends.destination][local[c + 1]])[0]);
    else
      for (std::size_t c = 2; c < seeds.columns; ++c)
        add(local[c], c >= 2 + seeds.wrong_destinations);
    const auto add_joint = [&](const std::vector<std::vector<local_id>>& lists,
                               node_type_id type, bool source) {
      for (std::size_t k = 0; k < longest(lists); ++k)
        add(k < lists[type].size() ? lists[type][k] : seed_batch::none, source);
    };
    add_joint(seeds.joint_destinations, ends.destination, false);
    add_joint(seeds.joint_sources, ends.source, true);
    out.push_back(scores);
  }
  return out;
}

double reference_model::link_loss_of(const link_numbers& scores,
                                     const link_numbers& weighing) const {
  const auto& decoder = *layout_.decoder;
  const auto p = scores[0];
  link_numbers n;
  for (std::size_t k = 1; k < scores.size(); ++k)
    if (scores[k] != no_link)
      n.push_back(scores[k]);
  const auto mean = [&](auto&& f) {
    double sum = 0;
    for (const auto one : n)
      sum += f(one);
    return n.empty() ? 0 : sum / double(n.size());
  };
  switch (decoder.loss) {
  case link_loss::bce:
    return (minus_log_sigmoid(p)
            + mean([](double x) { return minus_log_sigmoid(-x); }))
           / 2;
  case link_loss::margin:
    return mean(
      [&](double x) { return std::max(0.0, decoder.margin - p + x); });
  case link_loss::bpr:
    return mean([&](double x) { return minus_log_sigmoid(p - x); });
  case link_loss::softmax: {
    auto sum = std::exp(p);
    for (const auto one : n)
      sum += std::exp(one);
    return std::log(sum) - p;
  }
  case link_loss::self_adversarial:
    break;
  }
  double sum = 0;
  double total = 0;
  for (std::size_t k = 1; k < scores.size(); ++k)
    if (scores[k] != no_link) {
      const auto weight = std::exp(decoder.temperature * weighing[k]);
      sum += weight * minus_log_sigmoid(-decoder.margin - scores[k]);
      total += weight;
    }
  return (minus_log_sigmoid(decoder.margin + p) + (n.empty() ? 0 : sum / total))
         / 2;
}

} // namespace graphmill::test
