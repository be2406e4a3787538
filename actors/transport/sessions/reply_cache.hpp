#pragma once

#include "actors/transport/sessions/message.hpp"

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <utility>

namespace graphmill {

/// Names a request for as long as both sides live: the caller's incarnation and
/// the id that it chose.
using request_key = std::pair<std::string, std::uint64_t>;

/// Replies of methods that must not run twice, kept until their caller has no
/// reason left to ask again. Bounded: the oldest give way.
class reply_cache {
public:
  explicit reply_cache(std::uint64_t limit_bytes) : limit_(limit_bytes) {}

  /// Keeps a reply until `until`.
  void put(request_key key, message reply, session_time until);

  /// @returns null if it is not kept.
  const message* find(const request_key& key) const;

  /// Drops what is past its time.
  void expire(session_time now);

  std::size_t size() const { return index_.size(); }
  std::uint64_t bytes() const { return bytes_; }

private:
  struct entry {
    request_key key;
    message reply;
    session_time until;
  };
  using entries = std::list<entry>;

  void drop(entries::iterator at);

  std::uint64_t limit_;
  std::uint64_t bytes_ = 0;
  entries entries_; ///< Oldest first.
  std::map<request_key, entries::iterator> index_;
};

} // namespace graphmill
