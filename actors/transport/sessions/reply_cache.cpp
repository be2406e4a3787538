#include "actors/transport/sessions/reply_cache.hpp"

#include "actors/transport/sessions/message.hpp"

namespace graphmill {

void reply_cache::put(request_key key, message reply, session_time until) {
  if (const auto old = index_.find(key); old != index_.end())
    drop(old->second);
  const auto bytes = cost_of(reply);
  if (bytes > limit_)
    return;
  while (bytes_ + bytes > limit_)
    drop(entries_.begin());
  bytes_ += bytes;
  entries_.push_back({key, std::move(reply), until});
  index_.emplace(std::move(key), std::prev(entries_.end()));
}

const message* reply_cache::find(const request_key& key) const {
  const auto at = index_.find(key);
  return at == index_.end() ? nullptr : &at->second->reply;
}

void reply_cache::expire(session_time now) {
  for (auto at = entries_.begin(); at != entries_.end();) {
    const auto here = at++;
    if (here->until <= now)
      drop(here);
  }
}

void reply_cache::drop(entries::iterator at) {
  bytes_ -= cost_of(at->reply);
  index_.erase(at->key);
  entries_.erase(at);
}

} // namespace graphmill
