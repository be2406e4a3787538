#pragma once

#include "actors/base/ticket_table.hpp"
#include "messages/base/error.hpp"
#include "messages/wire/frame.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace graphmill {

/// The requests to one part: sent in the order of arrival, a bounded number at
/// a time, encoded when their turn comes. A request with the same bytes as one
/// that is under way is not sent; it shares the answer.
///
/// `Work` is what one request asks for; `work.wanted()` tells whether somebody
/// still waits for it. Not thread-safe.
template <class Work>
class call_window {
public:
  explicit call_window(std::uint32_t limit) : limit_(std::max(1U, limit)) {}

  void push(Work work) { waiting_.push_back(std::move(work)); }
  /// Puts a request in front of all others: one that is asked again in pieces.
  void push_first(Work work) { waiting_.push_front(std::move(work)); }

  /// Sends what the window allows.
  /// @param encode (Work&) -> result<payload>
  /// @param send (ticket, payload)
  /// @param fail (Work&, error): it could not be encoded.
  /// @returns how many requests shared another one's answer.
  template <class Encode, class Send, class Fail>
  std::size_t pump(Encode encode, Send send, Fail fail) {
    std::size_t merged = 0;
    while (!waiting_.empty() && calls_.size() < limit_) {
      auto work = std::move(waiting_.front());
      waiting_.pop_front();
      if (!work.wanted())
        continue;
      auto data = encode(work);
      if (!data) {
        fail(work, data.error());
        continue;
      }
      const auto hash = hash_of(data.value());
      if (auto* same = find(hash, data.value())) {
        same->works.push_back(std::move(work));
        ++merged;
        continue;
      }
      call made{data.value(), hash, {}};
      made.works.push_back(std::move(work));
      send(calls_.add(std::move(made)), std::move(data).value());
    }
    return merged;
  }

  /// Ends the request `ticket`; returns what it was for.
  std::vector<Work> take(std::uint64_t ticket) {
    auto call = calls_.take(ticket);
    return call ? std::move(call->works) : std::vector<Work>{};
  }

  /// Ends everything.
  std::vector<Work> take_all() {
    std::vector<Work> works;
    for (auto& call : calls_.take_all())
      std::move(call.works.begin(), call.works.end(),
                std::back_inserter(works));
    std::move(waiting_.begin(), waiting_.end(), std::back_inserter(works));
    waiting_.clear();
    return works;
  }

private:
  struct call {
    payload data;
    std::size_t hash = 0;
    std::vector<Work> works;
  };

  static std::string_view text_of(const frame& part) {
    return {reinterpret_cast<const char*>(part.data()), part.size()};
  }

  static std::size_t hash_of(const payload& data) {
    auto hash = std::hash<std::string_view>{}(text_of(data.body));
    for (const auto& part : data.bulk)
      hash = hash * 31 + std::hash<std::string_view>{}(text_of(part));
    return hash;
  }

  static bool equal(const payload& a, const payload& b) {
    const auto same = [](const frame& x, const frame& y) {
      return text_of(x) == text_of(y);
    };
    return same(a.body, b.body)
           && std::equal(a.bulk.begin(), a.bulk.end(), b.bulk.begin(),
                         b.bulk.end(), same);
  }

  call* find(std::size_t hash, const payload& data) {
    for (auto& [ticket, call] : calls_)
      if (call.hash == hash && equal(call.data, data))
        return &call;
    return nullptr;
  }

  std::size_t limit_;
  std::deque<Work> waiting_;
  ticket_table<call> calls_; ///< Few: found by looking.
};

} // namespace graphmill
