#pragma once

#include "messages/base/error.hpp"
#include "partition/importers/columns/column_transform.hpp"
#include "partition/importers/columns/fields/column_options.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// Takes the error of a field: the place of its request, and the error, which
/// does not name the column. Reading goes on with the next field if it returns
/// success.
using field_fault = std::function<result<void>(std::size_t, const error&)>;

/// All features of one node type: the transforms of several columns, one behind
/// the other. States and order of calls are those of `column_transform`.
/// Move-only; not thread-safe. Returned errors name the column, but no row.
class feature_columns {
public:
  /// No columns at all.
  feature_columns() = default;

  /// Fails with the mistakes of all requests.
  /// @param scaled_later Whether the importer scales the features again.
  static result<feature_columns> make(std::vector<column_request> requests,
                                      bool scaled_later);

  /// Fitted transforms, as `state` gave them.
  static result<feature_columns> restore(const nlohmann::json& state,
                                         bool scaled_later);

  /// In the order of features. A column may come several times.
  const std::vector<column_request>& requests() const { return requests_; }

  bool needs_fit() const;

  /// Looks for fields of a row that cannot become features, as far as that is
  /// known without a fit. @param fields [requests]
  /// @param on_fault Without it, the first such field fails.
  result<void> check(std::span<const std::string_view> fields,
                     const field_fault& on_fault = {});

  /// @param fields [requests]
  result<void> learn(std::span<const std::string_view> fields,
                     const field_fault& on_fault = {});
  result<void> finish();

  /// The number of features.
  std::int64_t width() const { return width_; }
  /// [width] The name of the column and of the feature.
  std::vector<std::string> names() const;

  /// @param fields [requests]
  /// @param out [width], of zeros.
  result<void> write(std::span<const std::string_view> fields,
                     std::span<double> out, const field_fault& on_fault = {});

  /// Begins to count anew for `notes`, before rows are written again.
  void begin_notes();

  /// What there is to tell about fields without a feature of their own.
  std::vector<std::string> notes() const;

  /// Requests and fitted states, for `restore`.
  nlohmann::json state() const;

private:
  void count_features();
  result<void> tell(std::size_t request, const result<void>& done,
                    const field_fault& on_fault) const;

  std::vector<column_request> requests_;
  std::vector<std::unique_ptr<column_transform>> transforms_; ///< [requests]
  std::vector<std::size_t> widths_;                           ///< [requests]
  std::int64_t width_ = 0;
};

} // namespace graphmill
