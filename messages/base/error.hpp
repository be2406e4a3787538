#pragma once

#include <fmt/core.h>
#include <tl/expected.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace graphmill {

/// The kind of an expected failure. It decides the exit code of a command and
/// whether a retry can help. The message has the sentence for people.
enum class ec : std::uint8_t {
  invalid_argument = 1, ///< A flag, a field of a definition or a parameter.
  invalid_data,         ///< A file's or message's content is broken.
  not_found,            ///< A file, node type, run or name that is not there.
  io,                   ///< The operating system refused to read or write.
  no_space,             ///< The disk is full.
  permission,           ///< The user may not do that.
  out_of_memory,        ///< An allocation failed or a child was killed for it.
  timeout,              ///< A bounded wait ended without an answer.
  cancelled,            ///< The user asked to stop.
  version_mismatch,     ///< Written by a newer version of Graphmill.
  unavailable,          ///< The peer or stage is gone. A retry may help.
  crashed,              ///< An exception ended an actor.
  internal,             ///< A bug of ours, or an exception of a library.
  superseded,           ///< Another coordinator leads the cluster now.
};

/// The name of an error code in snake_case, for logs and JSON.
std::string_view to_string(ec code);

/// An expected failure: a code, and a sentence with the fault, the place and
/// the remedy.
struct error {
  ec code = ec::internal;
  std::string message;
};

/// Renders `error` for people: the message, then the code.
std::string to_string(const error& reason);

/// A value or an `error`. `value()` of a failure throws, so a missed check is
/// noticed. (`tl::expected` compiles ten times faster than Boost.Outcome, and
/// nearly every source includes it.)
template <class T>
class [[nodiscard]] result : public tl::expected<T, graphmill::error> {
public:
  using tl::expected<T, graphmill::error>::expected;
  /// A failure. `return fail(...)` needs no wrapper.
  result(graphmill::error reason)
    : tl::expected<T, graphmill::error>(tl::unexpect, std::move(reason)) {}
};

/// Builds an error: `return fail(ec::io, "cannot open {}", path);`.
template <class... Ts>
error fail(ec code, fmt::format_string<Ts...> text, Ts&&... args) {
  return error{code, fmt::format(text, std::forward<Ts>(args)...)};
}

/// Builds an error from an `errno`, which also decides the code.
error errno_error(std::string text, int error_number);

template <class... Ts>
error fail_errno(int error_number, fmt::format_string<Ts...> text,
                 Ts&&... args) {
  return errno_error(fmt::format(text, std::forward<Ts>(args)...),
                     error_number);
}

/// The success of a `result<void>`.
inline result<void> ok() {
  return {};
}

} // namespace graphmill

#define GRAPHMILL_CONCAT_IMPL(a, b) a##b
#define GRAPHMILL_CONCAT(a, b) GRAPHMILL_CONCAT_IMPL(a, b)

/// `GRAPHMILL_TRY(auto x, f());` takes the value or returns the error to the
/// caller.
#define GRAPHMILL_TRY(declaration, ...)                                        \
  GRAPHMILL_TRY_IMPL(GRAPHMILL_CONCAT(try_, __COUNTER__), declaration,         \
                     __VA_ARGS__)
#define GRAPHMILL_TRY_IMPL(name, declaration, ...)                             \
  auto name = (__VA_ARGS__);                                                   \
  if (!name)                                                                   \
    return std::move(name).error();                                            \
  declaration = std::move(name).value()

/// `GRAPHMILL_TRYV(f());` for a `result<void>`, or when the value does not
/// matter.
#define GRAPHMILL_TRYV(...)                                                    \
  GRAPHMILL_TRYV_IMPL(GRAPHMILL_CONCAT(try_, __COUNTER__), __VA_ARGS__)
#define GRAPHMILL_TRYV_IMPL(name, ...)                                         \
  if (auto name = (__VA_ARGS__); !name)                                        \
  return std::move(name).error()
