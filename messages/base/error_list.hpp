#pragma once

#include "messages/base/error.hpp"

#include <optional>
#include <utility>

namespace graphmill {

/// The errors of checks that do not depend on each other: a user sees all of
/// them at once.
class error_list {
public:
  void add(error reason) {
    if (!found_)
      found_ = std::move(reason);
    else
      found_->message += '\n' + reason.message;
  }

  /// Keeps the error of a check that has failed. @returns the value of another.
  template <class T>
  std::optional<T> take(result<T> checked) {
    if (checked)
      return std::move(checked).value();
    add(std::move(checked).error());
    return std::nullopt;
  }

  void take(const result<void>& checked) {
    if (!checked)
      add(checked.error());
  }

  /// One error is as it was. Several are a line each, with the code of the
  /// first.
  result<void> ended() const {
    if (found_)
      return *found_;
    return ok();
  }

private:
  std::optional<error> found_;
};

} // namespace graphmill
