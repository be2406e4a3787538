#include "actors/feed/loop_verdict.hpp"

#include "pipelines/health/blame.hpp"
#include "pipelines/health/verdict.hpp"

#include <fmt/format.h>

#include <utility>

namespace graphmill {

verdict loop_verdict(const run_health& run) {
  const auto outlets = all_of(run, actor_kind::trainer);
  if (outlets.empty() || !tells_of_training(run))
    return verdict_saying("", "no batch has come back from the loop yet");
  const auto& outlet = *outlets.front().actor;
  auto out = verdict_of(run);
  // The shares of all trainers, as they call themselves.
  if (!out.evidence.empty())
    out.evidence.front() =
      fmt::format("your loop: busy {:.0f} %, waits for batches {:.0f} %",
                  percent_of(outlet.busy), percent_of(outlet.starved));
  if (out.limit == "trainer") {
    out.limit = "loop";
    out.sentence = fmt::format(
      "your loop is the limit: it is busy {:.0f} % of the time, and batches "
      "wait for it",
      percent_of(outlet.busy));
  } else if (out.limit == "none") {
    out.sentence = "well balanced: your loop and the stages before it have no "
                   "time to spare";
  }
  return out;
}

} // namespace graphmill
