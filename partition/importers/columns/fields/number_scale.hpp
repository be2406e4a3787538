#pragma once

#include "messages/base/error.hpp"
#include "partition/importers/columns/fields/column_options.hpp"
#include "partition/importers/columns/fields/number_fit.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <vector>

namespace graphmill {

/// How numbers are scaled, by the option `scale`: none; log, the logarithm of 1
/// and the absolute value, with the sign of the value; min-max, to 0 to 1;
/// standard, to mean 0 and variance 1; rank, to the share of smaller values; or
/// gauss, to the quantile of the normal distribution of that share. After `log`
/// one of the others may follow. Numbers beyond what was fitted are scaled on
/// by min-max and standard, and are cut by rank and gauss. Value type.
class number_scale {
public:
  number_scale() = default;
  /// @param usual The scale if the option is not there.
  static number_scale of(column_options& options, const char* usual);

  bool scales() const { return log_ || kind_ != kind::none; }
  bool needs_fit() const { return kind_ != kind::none; }

  /// @param value Unscaled.
  void learn(double value);
  void finish();

  double apply(double value) const;

  nlohmann::json state() const;
  result<void> restore(const nlohmann::json& state);

private:
  enum class kind : std::uint8_t { none, min_max, standard, rank, gauss };

  double rank_of(double value) const;

  bool log_ = false;
  kind kind_ = kind::none;
  number_fit fit_;
  double offset_ = 0;
  double divisor_ = 1; ///< Above 0.
  std::vector<double> quantiles_;
};

} // namespace graphmill
