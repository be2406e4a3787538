#pragma once

#include "partition/importers/columns/column_transform.hpp"
#include "partition/importers/columns/fields/date_text.hpp"
#include "partition/importers/columns/fields/number_reader.hpp"
#include "partition/importers/columns/fields/number_scale.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// `as: date`: `parts` of a date, written as `format` says. `days` are those
/// since 1970 with their fraction, scaled by `scale` (standard unless it says
/// otherwise); `year` is the plain number. `month`, `day`, `day_of_year`,
/// `weekday`, `hour` and `minute` are cyclic: the sine and the cosine of the
/// angle that they make of their cycle.
class date_column final : public column_transform {
public:
  static std::unique_ptr<column_transform> make(column_options& options,
                                                bool scaled_later);

  bool needs_fit() const override {
    return days_ && (fill_.needs_fit() || scale_.needs_fit());
  }
  result<void> check(std::string_view field) override;
  result<void> learn(std::string_view field) override;
  result<void> finish() override;
  std::vector<std::string> names() const override;
  result<void> write(std::string_view field, std::span<double> out) override;
  nlohmann::json state() const override;
  result<void> restore(const nlohmann::json& state) override;
  std::string note() const override;

private:
  result<std::optional<calendar_moment>> read(std::string_view field) const;

  std::string format_;
  std::vector<std::string> parts_;
  std::vector<std::string> none_;
  bool days_ = false;   ///< Whether the parts have days.
  double furthest_ = 0; ///< From 1970, of moments that were written.
  number_fill fill_;
  number_scale scale_;
};

} // namespace graphmill
