#pragma once

#include "partition/importers/columns/column_transform.hpp"
#include "partition/importers/columns/fields/column_options.hpp"

#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <vector>

namespace graphmill {

/// `as: boolean`: 1 or 0. Usual words (true, yes, t, y, on, 1 and their
/// opposites, in any case) are known; `yes` and `no` add others. A missing one
/// is an error unless `missing: true` adds a feature that says so.
class boolean_column final : public column_transform {
public:
  static std::unique_ptr<column_transform> make(column_options& options,
                                                bool scaled_later);

  bool needs_fit() const override { return false; }
  result<void> check(std::string_view field) override;
  result<void> learn(std::string_view) override { return ok(); }
  result<void> finish() override { return ok(); }
  std::vector<std::string> names() const override;
  result<void> write(std::string_view field, std::span<double> out) override;
  nlohmann::json state() const override { return nlohmann::json::object(); }
  result<void> restore(const nlohmann::json&) override { return ok(); }

private:
  std::vector<std::string> yes_;
  std::vector<std::string> no_;
  std::vector<std::string> none_;
  bool missing_ = false;
};

/// What a field says in usual words; nothing if it is none of these.
std::optional<bool> boolean_in(std::string_view field);

} // namespace graphmill
