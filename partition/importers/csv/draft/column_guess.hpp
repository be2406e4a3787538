#pragma once

#include "partition/importers/csv/draft/date_guess.hpp"
#include "partition/importers/time_text.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace graphmill {

/// Looks at the fields of one column and guesses what becomes of it, for a
/// draft. Memory is bounded. Value type.
class column_guess {
public:
  /// @param field Without the blanks around it.
  void add(std::string_view field);

  /// Whether each row had a value of its own.
  bool is_unique() const;

  /// Whether each row had a time, as an import reads times.
  /// @param by_number Whether numbers may be some.
  bool is_time(bool by_number) const;

  /// Whether the values may be ids: they are neither dates nor numbers with a
  /// fraction.
  bool may_be_id() const;
  std::int64_t rows() const { return rows_; }

  /// What `features` says of it in YAML, such as "{as: number, fill: median}";
  /// empty: nothing becomes of it.
  std::string feature() const;

  /// Why, for a comment of one line.
  std::string reason() const;

private:
  bool all(std::int64_t count) const;
  bool may_have_thousands() const;
  std::string numbers(const char* decimal) const;
  std::string dates(const std::string& format) const;
  bool has_codes() const;
  std::vector<std::string> date_patterns() const;

  std::int64_t rows_ = 0;
  std::int64_t missing_ = 0;
  std::int64_t numbers_ = 0;
  std::int64_t comma_numbers_ = 0;
  std::int64_t grouped_ = 0;   ///< With commas that may separate thousands.
  std::int64_t uncounted_ = 0; ///< Of them, with several commas or a point.
  std::int64_t booleans_ = 0;
  std::int64_t dates_ = 0; ///< ISO 8601.
  std::int64_t timed_ = 0; ///< Dates with a time.
  date_guess written_;     ///< Dates that are not ISO 8601.
  time_text_reader times_;
  std::int64_t times_read_ = 0;
  std::int64_t fractions_ = 0; ///< Numbers with a point or comma.
  std::int64_t codes_ = 0;     ///< Fields of two capital letters.
  std::int64_t namibias_ = 0;  ///< "NA", which are missing, too.
  std::int64_t lists_ = 0;     ///< Fields with '|' or ';'.
  std::int64_t bars_ = 0;      ///< Fields with '|'.
  std::int64_t words_ = 0;     ///< In all fields.
  double least_ = 0;
  double greatest_ = 0;
  std::string example_;
  std::unordered_set<std::string> values_; ///< Up to a limit.
  std::unordered_set<std::string> items_;  ///< Of lists, up to a limit.
};

} // namespace graphmill
