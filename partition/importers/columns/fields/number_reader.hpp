#pragma once

#include "messages/base/error.hpp"
#include "partition/importers/columns/fields/column_options.hpp"
#include "partition/importers/columns/fields/number_fit.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// Whether a field says that nothing is known: it is empty, or, in any case, a
/// word that databases and tables write for that, such as NULL, NA or NaN.
/// @param others Further such texts, as they stand.
bool is_missing(std::string_view field, const std::vector<std::string>& others);

/// Reads numbers from fields, by the options `decimal` (point or comma), `none`
/// (further texts that mean nothing), `lowest` and `highest` (limits that
/// numbers beyond them are set to).
class number_reader {
public:
  static number_reader of(column_options& options);

  struct number {
    double value = 0;
    float narrow = 0; ///< The text rounded once, and not by way of a double.
    /// Whether float32 would make another number of the integer that it is.
    bool rounded = false;
  };

  /// Whether a field says that nothing is known.
  bool reads_nothing(std::string_view field) const {
    return is_missing(field, none_);
  }

  /// Nothing if the field says that nothing is known.
  result<std::optional<number>> read(std::string_view field) const;

private:
  bool comma_ = false;
  bool of_file_ = false; ///< A columns file asks for the number.
  std::optional<double> lowest_;
  std::optional<double> highest_;
  std::vector<std::string> none_;
};

/// What missing numbers become, by the option `fill` (mean, median,
/// most_frequent, zero or a number) and whether a column more says where one
/// was missing (`missing: true`). With the latter alone they become 0. Value
/// type.
class number_fill {
public:
  static number_fill of(column_options& options);

  bool fills() const { return how_ != how::none; }
  bool needs_fit() const {
    return how_ == how::mean || how_ == how::median || how_ == how::mode;
  }
  bool indicates() const { return indicates_; }

  void learn(double value) { fit_.learn(value); }
  /// Fails if a number is to be found of none.
  result<void> finish();

  /// Whether a missing number becomes another one, and not only an indicator.
  bool has_value() const { return fills() && how_ != how::indicator; }
  double value() const { return value_; }

  /// The error of a missing number if nothing fills it.
  static error not_filled();

  nlohmann::json state() const;
  result<void> restore(const nlohmann::json& state);

private:
  enum class how : std::uint8_t {
    none,
    indicator, ///< Alone: the number is 0.
    constant,
    mean,
    median,
    mode
  };

  how how_ = how::none;
  bool indicates_ = false;
  double value_ = 0;
  number_fit fit_;
};

} // namespace graphmill
