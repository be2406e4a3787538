#pragma once

#include "messages/base/error.hpp"
#include "tests/support/catch.hpp"

namespace graphmill::test {

/// The value of a result; fails the test with the error's sentence otherwise.
template <class T>
T value_of(result<T> got) {
  if (!got)
    CATCH_FAIL(to_string(got.error()));
  if constexpr (!std::is_void_v<T>)
    return std::move(got).value();
}

/// The error of a result; fails the test if there is a value.
template <class T>
error error_of(result<T> got) {
  if (got)
    CATCH_FAIL("expected an error, got a value");
  return std::move(got).error();
}

} // namespace graphmill::test
