#include "actors/cluster/health/health_warnings.hpp"

#include "messages/base/pluralized.hpp"
#include "pipelines/health/blame.hpp"

#include <fmt/format.h>

namespace graphmill {

std::vector<std::string> health_warnings::in(const daemon_health& report,
                                             clock::time_point now) {
  std::vector<std::string> out;
  if (actors_.size() > most_actors)
    actors_.clear();
  for (const auto& actor : report.actors)
    if (actor.restarts != 0 || actor.state == actor_state::failed)
      look_at(report, actor, now, out);
  if (report.long_work.empty())
    return out;
  const auto& sentence = report.long_work.front();
  auto& delay = delays_[report.daemon];
  if (sentence == delay.told || now < delay.quiet_until || pace_.level(now) < 1)
    return out;
  pace_.take(now);
  delay = {sentence, now + repeat};
  out.push_back(fmt::format("at daemon \"{}\": {}", report.daemon, sentence));
  return out;
}

void health_warnings::look_at(const daemon_health& report,
                              const actor_health& actor, clock::time_point now,
                              std::vector<std::string>& out) {
  const auto title = title_of({&report, &actor});
  auto& told = actors_[title];
  if (actor.state == actor_state::failed && !told.failed
      && pace_.level(now) >= 1) {
    pace_.take(now);
    told.failed = true;
    out.push_back(
      fmt::format("the {} has failed: {}", title, actor.last_error));
  }
  if (actor.restarts > told.restarts && now >= told.quiet_until
      && pace_.level(now) >= 1) {
    pace_.take(now);
    told.restarts = actor.restarts;
    told.quiet_until = now + repeat;
    out.push_back(fmt::format("the {} has had {} replaced so far, the last "
                              "because: {}",
                              title, pluralized(actor.restarts, "worker"),
                              actor.last_error));
  }
}

} // namespace graphmill
