#pragma once

#include "actors/remote/interfaces.hpp"
#include "actors/remote/serving/fair_queue.hpp"
#include "actors/remote/serving/reply_budget.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace graphmill {

/// A request that has been read: what its answer takes, and how it is made.
struct prepared_answer {
  std::uint64_t bytes = 0;
  std::function<void(std::shared_ptr<reply_budget::grant>)> begin;
};

/// A request that waits for its turn.
struct waiting_request {
  data_request request;
  std::optional<prepared_answer> work; ///< Once it has been looked at.
};

/// Requests that share memory for their answers, and take turns.
struct answer_line {
  explicit answer_line(std::shared_ptr<reply_budget> bytes)
    : budget(std::move(bytes)) {}

  /// Requests that the services have at a time. The others wait here, where
  /// those whose time is over are dropped.
  static constexpr std::size_t most_begun = 64;

  bool is_full() const { return *begun >= most_begun; }

  /// Counts a request that has been begun, for as long as this lives.
  std::shared_ptr<const void> count_begun() const {
    ++*begun;
    return {nullptr, [counted = begun](std::nullptr_t) { --*counted; }};
  }

  fair_queue<waiting_request> queue;
  std::shared_ptr<std::size_t> begun = std::make_shared<std::size_t>(0);
  std::shared_ptr<reply_budget> budget;
};

} // namespace graphmill
