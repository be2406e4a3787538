#include "partition/importers/columns/fields/number_scale.hpp"

#include "partition/importers/columns/fields/column_state.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace graphmill {

namespace {

constexpr std::int64_t most_quantiles = 1025;

/// The number below which a share of the standard normal distribution lies, by
/// Newton's method, which converges from 0 on the same side of the root.
/// @param share Between 0 and 1, both excluded.
double normal_quantile(double share) {
  if (share > 0.5)
    return -normal_quantile(1 - share);
  constexpr auto most_steps = 100;
  constexpr auto close_enough = 1e-13;
  double z = 0;
  for (auto step = 0; step < most_steps; ++step) {
    const auto below = 0.5 * std::erfc(-z / std::numbers::sqrt2);
    const auto density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    const auto change = (below - share) / density;
    z -= change;
    if (std::fabs(change) < close_enough)
      break;
  }
  return z;
}

double signed_log(double value) {
  return std::copysign(std::log1p(std::fabs(value)), value);
}

} // namespace

number_scale number_scale::of(column_options& options, const char* usual) {
  number_scale out;
  auto names = options.texts("scale");
  if (names.empty())
    names.emplace_back(usual);
  for (const auto& name : names) {
    auto next = kind::none;
    if (name == "log")
      out.log_ = true;
    else if (name == "min-max")
      next = kind::min_max;
    else if (name == "standard")
      next = kind::standard;
    else if (name == "rank")
      next = kind::rank;
    else if (name == "gauss")
      next = kind::gauss;
    else if (name != "none")
      options.add_mistake(fmt::format("scale is \"{}\"; none, log, min-max, "
                                      "standard, rank or gauss expected",
                                      name));
    if (next == kind::none)
      continue;
    if (out.kind_ != kind::none)
      options.add_mistake("scale has two values; only log may stand beside "
                          "another one: [log, standard]");
    out.kind_ = next;
  }
  return out;
}

void number_scale::learn(double value) {
  fit_.learn(log_ ? signed_log(value) : value);
}

void number_scale::finish() {
  switch (kind_) {
  case kind::min_max:
    offset_ = fit_.least();
    divisor_ = fit_.greatest() - fit_.least();
    break;
  case kind::standard:
    offset_ = fit_.mean();
    divisor_ = fit_.deviation();
    break;
  case kind::rank:
  case kind::gauss:
    quantiles_ = fit_.quantiles(most_quantiles);
    break;
  case kind::none:
    break;
  }
  if (!(divisor_ > 0))
    divisor_ = 1; // A column of equal numbers becomes zeros.
  fit_ = {};
}

double number_scale::rank_of(double value) const {
  const auto last = std::ssize(quantiles_) - 1;
  if (last <= 0)
    return 0.5;
  const auto begin = quantiles_.begin();
  const auto lower = std::lower_bound(begin, quantiles_.end(), value) - begin;
  const auto upper = std::upper_bound(begin, quantiles_.end(), value) - begin;
  double place = 0;
  if (lower < upper) { // Equal numbers share the middle of their places.
    place = static_cast<double>(lower + upper - 1) / 2;
  } else if (lower > last) {
    place = static_cast<double>(last);
  } else if (lower > 0) {
    const auto below = quantiles_[static_cast<std::size_t>(lower - 1)];
    const auto above = quantiles_[static_cast<std::size_t>(lower)];
    place = static_cast<double>(lower - 1) + (value - below) / (above - below);
  }
  return place / static_cast<double>(last);
}

double number_scale::apply(double value) const {
  const auto logged = log_ ? signed_log(value) : value;
  switch (kind_) {
  case kind::none:
    return logged;
  case kind::min_max:
  case kind::standard:
    return (logged - offset_) / divisor_;
  case kind::rank:
    return rank_of(logged);
  case kind::gauss: {
    // Half a place is left at both ends, where the quantile is infinite.
    const auto margin =
      0.5 / static_cast<double>(std::max<std::size_t>(1, quantiles_.size()));
    return normal_quantile(margin + rank_of(logged) * (1 - 2 * margin));
  }
  }
  return logged;
}

nlohmann::json number_scale::state() const {
  if (kind_ == kind::rank || kind_ == kind::gauss)
    return {{"quantiles", quantiles_}};
  if (kind_ == kind::none)
    return nlohmann::json::object();
  return {{"offset", offset_}, {"divisor", divisor_}};
}

result<void> number_scale::restore(const nlohmann::json& state) {
  if (kind_ == kind::rank || kind_ == kind::gauss) {
    GRAPHMILL_TRY(quantiles_, state_numbers(state, "quantiles"));
    if (!std::is_sorted(quantiles_.begin(), quantiles_.end()))
      return fail(ec::invalid_data, "the quantiles are not in order");
  } else if (kind_ != kind::none) {
    GRAPHMILL_TRY(offset_, state_number(state, "offset"));
    GRAPHMILL_TRY(divisor_, state_number(state, "divisor"));
    if (!(divisor_ > 0))
      return fail(ec::invalid_data, "the divisor is not above 0");
  }
  return ok();
}

} // namespace graphmill
