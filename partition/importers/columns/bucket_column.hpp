#pragma once

#include "partition/importers/columns/column_transform.hpp"
#include "partition/importers/columns/fields/number_reader.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <vector>

namespace graphmill {

/// `as: buckets`: `count` equal ranges between the two numbers of `range`. The
/// range of a number is 1, and others are 0. Numbers below and above belong to
/// the first and the last range. With `window: S` all ranges that meet the
/// number's neighbourhood, S wide, are 1.
class bucket_column final : public column_transform {
public:
  static std::unique_ptr<column_transform> make(column_options& options,
                                                bool scaled_later);

  bool needs_fit() const override { return fill_.needs_fit(); }
  result<void> check(std::string_view field) override;
  result<void> learn(std::string_view field) override;
  result<void> finish() override { return fill_.finish(); }
  std::vector<std::string> names() const override;
  result<void> write(std::string_view field, std::span<double> out) override;
  nlohmann::json state() const override { return fill_.state(); }
  result<void> restore(const nlohmann::json& state) override {
    return fill_.restore(state);
  }

private:
  std::int64_t bucket_of(double value) const;

  number_reader reader_;
  number_fill fill_;
  double begin_ = 0;
  double end_ = 1;
  std::int64_t count_ = 1;
  double window_ = 0;
};

} // namespace graphmill
