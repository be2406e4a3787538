#pragma once

#include "messages/base/error.hpp"

#include <nlohmann/json_fwd.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// Makes features of one column of a table. There is a class for each kind of
/// transform; `column_kinds` lists them.
///
/// States: new; fitted after `finish` or `restore`. A transform that
/// `needs_fit` is given the fields of all rows that it is fitted on, by
/// `learn`, and then `finish`. Others are fitted from the start. `width`,
/// `names`, `write` and `state` are for fitted transforms. Memory is bounded
/// whatever the number of rows. Not thread-safe.
///
/// Errors are sentences without a place: the caller knows row and column.
class column_transform {
public:
  virtual ~column_transform() = default;

  virtual bool needs_fit() const = 0;

  /// Fails if a field cannot become features, as far as that is known without a
  /// fit.
  virtual result<void> check(std::string_view /*field*/) { return ok(); }

  /// Takes the field of one row to fit on. Fails where `check` does, and with
  /// `invalid_argument` if the column as a whole cannot be fitted.
  virtual result<void> learn(std::string_view field) = 0;

  /// Ends the fit. Fails if the rows have not told enough.
  virtual result<void> finish() = 0;

  /// What each feature is called behind the name of the column: "" of a single
  /// one, "=DE" of a category.
  virtual std::vector<std::string> names() const = 0;

  /// Writes the features of one row.
  /// @param out [size of names()], of zeros.
  virtual result<void> write(std::string_view field, std::span<double> out) = 0;

  /// What was fitted, for `restore` of a transform with the same options.
  virtual nlohmann::json state() const = 0;

  /// Fails with `invalid_data` if the state is none of this kind.
  virtual result<void> restore(const nlohmann::json& state) = 0;

  /// Begins to count anew for `note`: `write` may be called for all rows twice.
  virtual void begin_note() {}

  /// A sentence about fields that had no feature of their own; empty: there
  /// were none. After the last `write`.
  virtual std::string note() const { return {}; }
};

} // namespace graphmill
