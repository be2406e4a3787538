#pragma once

#include "partition/importers/columns/column_transform.hpp"
#include "partition/importers/columns/fields/column_options.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <vector>

namespace graphmill {

/// `as: hash`: each value adds 1 to one of `buckets` features, which the XXH3
/// hash of its bytes chooses. It keeps no values, so that a column may have any
/// number of them, and values that come tomorrow have a place.
class hash_column final : public column_transform {
public:
  static std::unique_ptr<column_transform> make(column_options& options,
                                                bool scaled_later);

  bool needs_fit() const override { return false; }
  result<void> learn(std::string_view) override { return ok(); }
  result<void> finish() override { return ok(); }
  std::vector<std::string> names() const override;
  result<void> write(std::string_view field, std::span<double> out) override;
  nlohmann::json state() const override { return nlohmann::json::object(); }
  result<void> restore(const nlohmann::json&) override { return ok(); }

private:
  std::string separator_;
  std::vector<std::string> none_;
  std::int64_t buckets_ = 0;
  bool missing_ = false;
};

} // namespace graphmill
