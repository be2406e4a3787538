#pragma once

#include "partition/importers/columns/column_transform.hpp"
#include "partition/importers/columns/fields/column_options.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace graphmill {

/// `as: category`: a feature for each of the `most` most frequent values that
/// come `least` times, or for each of `values`. It is 1 where a field has the
/// value. One more, "=(other)", is for all other values, those included that
/// come tomorrow. With `separator`, a field may have several values. A field
/// without a value has zeros, and 1 in "=(missing)" with `missing: true`.
class category_column final : public column_transform {
public:
  static std::unique_ptr<column_transform> make(column_options& options,
                                                bool scaled_later);

  bool needs_fit() const override { return !fixed_; }
  result<void> learn(std::string_view field) override;
  result<void> finish() override;
  std::vector<std::string> names() const override;
  result<void> write(std::string_view field, std::span<double> out) override;
  nlohmann::json state() const override;
  result<void> restore(const nlohmann::json& state) override;
  void begin_note() override;
  std::string note() const override;

private:
  void set_values(std::vector<std::string> values);
  void note_missing(std::string_view item);

  std::string separator_;
  std::vector<std::string> none_;
  std::int64_t most_ = 0;
  std::int64_t least_ = 1;
  bool missing_ = false;
  bool fixed_ = false; ///< The user has given the values.
  std::unordered_map<std::string, std::int64_t> counts_; ///< While fitting.
  std::vector<std::string> values_;
  std::unordered_map<std::string, std::size_t> places_; ///< Of values.
  std::int64_t fields_ = 0;                             ///< Written.
  std::int64_t others_ = 0; ///< Of them, with another value.
  std::int64_t missing_words_ = 0;
  std::string missing_word_; ///< The first of them.
};

} // namespace graphmill
