#pragma once

#include "partition/importers/columns/column_transform.hpp"
#include "partition/importers/columns/fields/number_reader.hpp"
#include "partition/importers/columns/fields/number_scale.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace graphmill {

/// `as: number`: the number in a field; or, with `separator` and `width`, the
/// first `width` numbers of a list, each place filled and scaled on its own.
class number_column final : public column_transform {
public:
  /// @param scaled_later Whether the importer scales the result again, so that
  /// integers may be larger than float32 holds.
  static std::unique_ptr<column_transform> make(column_options& options,
                                                bool scaled_later);

  bool needs_fit() const override;
  result<void> check(std::string_view field) override;
  result<void> learn(std::string_view field) override;
  result<void> finish() override;
  std::vector<std::string> names() const override;
  result<void> write(std::string_view field, std::span<double> out) override;
  nlohmann::json state() const override;
  result<void> restore(const nlohmann::json& state) override;

private:
  /// One number of the list.
  struct place {
    number_fill fill;
    number_scale scale;
  };

  result<void> split(std::string_view field);
  result<void> check(const place& at,
                     const std::optional<number_reader::number>& number,
                     std::string_view text) const;
  static result<double> scaled(const place& at, double value,
                               std::string_view text);

  bool fitted_ = false;
  bool scaled_later_ = false;
  std::string separator_; ///< Empty: a field is one number.
  number_reader reader_;
  std::vector<place> places_;
  std::vector<std::string_view> items_; ///< [places], of the field at hand.
};

} // namespace graphmill
