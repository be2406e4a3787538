#include "actors/cluster/coordinator/records/run_watchers.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/coordinator/outside/coordinator_limits.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace graphmill {

void run_watchers::watch(const payload& request, const responder& reply) {
  auto decoded = decode_watch_request(request);
  if (!decoded) {
    reply.reply(decoded.error());
    return;
  }
  const auto now = clock::now();
  auto& wanted = decoded.value();
  if (archive_.find(wanted.run) == nullptr) { // Then it is over.
    archive_.ask(wanted.run, reply,
                 [seen = board_.since(wanted.run, wanted.cursor)](
                   run_record run) -> result<payload> {
                   return encode(watch_reply{seen.first, seen.second,
                                             fitting(std::move(run))});
                 });
    return;
  }
  if (waiting_.size() >= coordinator_limits::watchers) {
    reply.reply(fail(ec::unavailable,
                     "{} watch runs of this cluster already: try again",
                     coordinator_limits::watchers));
    return;
  }
  const auto wait = std::min(wanted.wait, timeouts::longest_watch);
  waiting_watcher asks{std::move(wanted), reply, now + wait};
  if (!answer(asks, now))
    waiting_.push_back(std::move(asks));
}

/// Answers a watcher, if there are news, or its time is over.
bool run_watchers::answer(const waiting_watcher& waiting,
                          clock::time_point now) const {
  // There is one: watchers are answered before it goes to the history.
  const auto* record = archive_.find(waiting.request.run);
  watch_reply out;
  std::tie(out.next, out.events) =
    board_.since(waiting.request.run, waiting.request.cursor);
  if (out.events.empty() && !is_over(record->state) && now < waiting.until)
    return false;
  out.record = fitting(*record);
  waiting.reply.reply(encode(out));
  return true;
}

void run_watchers::look(clock::time_point now) {
  std::erase_if(waiting_, [this, now](const waiting_watcher& waiting) {
    return answer(waiting, now);
  });
}

} // namespace graphmill
