#include "actors/commands/text/health_text.hpp"

#include "actors/commands/text/figure_columns.hpp"
#include "messages/base/pluralized.hpp"
#include "messages/base/printable.hpp"
#include "pipelines/figures/figure_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace graphmill {

namespace {

/// "train 2/17": both from 1, as logs and traces have them.
std::string health_batch(const actor_health& actor) {
  if (!actor.batch)
    return "-";
  return fmt::format("{} {}/{}", to_string(actor.batch->phase),
                     std::int64_t{actor.batch->epoch} + 1,
                     actor.batch->step + 1);
}

std::string row_of(const actor_health& actor, std::size_t width) {
  auto out =
    format_printable("  {:<{}} {:<10} {:>7}{}  {}", health_label(actor), width,
                     to_string(actor.state), health_seconds(actor.in_state),
                     column_values(figures::actor, column_room::wide, &actor),
                     health_batch(actor));
  if (actor.in_trouble() && !actor.last_error.empty())
    out += format_printable("  {}", actor.last_error);
  return out + "\n";
}

/// And its connections that are not as they should be, or not yet.
std::string peer_line(const peer_health& peer) {
  auto out = format_printable("  to {}: {}\n", peer.name,
                              column_list(figures::peer, peer));
  if (peer.in_trouble() || peer.state == actor_state::starting)
    out += format_printable(
      "    its connections: {} for {}{}{}\n", to_string(peer.state),
      health_seconds(peer.in_state), peer.why.empty() ? "" : ": ", peer.why);
  return out;
}

std::string daemon_text(const daemon_health& daemon) {
  auto out = format_printable("\ndaemon {}: {}\n", daemon.daemon,
                              column_list(figures::load, daemon_load{daemon}));
  for (const auto& actor : daemon.actors)
    if (actor.kind == actor_kind::dispatcher)
      out += fmt::format("credit in use: {} of {} batches, {:.1f} of {:.1f} "
                         "MB\n",
                         actor.credit_batches, actor.most_batches,
                         double(actor.credit_bytes) * 1e-6,
                         double(actor.most_bytes) * 1e-6);
  out += column_list(figures::share, daemon) + "\n";
  std::size_t width = 16;
  for (const auto& actor : daemon.actors)
    width = std::max(width, health_label(actor).size());
  out +=
    fmt::format("  {:<{}} {:<10} {:>7}{}  {}\n", "actor", width, "state", "for",
                column_titles(figures::actor, column_room::wide), "epoch/step");
  for (const auto& actor : daemon.actors)
    out += row_of(actor, width);
  if (daemon.left_out != 0)
    out += fmt::format("  {} more are left out\n", daemon.left_out);
  for (const auto& sentence : daemon.long_work)
    out += format_printable("  {}\n", sentence);
  for (const auto& peer : daemon.peers)
    out += peer_line(peer);
  return out;
}

} // namespace

std::string health_seconds(double seconds) {
  if (seconds < 0)
    return "-";
  if (seconds < 120)
    return fmt::format("{:.0f} s", seconds);
  if (seconds < 7200)
    return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::string health_label(const actor_health& actor) {
  std::string out{to_string(actor.kind)};
  if (actor.part >= 0)
    out += fmt::format(" {}", actor.part);
  if (actor.rank >= 0)
    out += fmt::format(" {}", actor.rank);
  if (!actor.peer.empty())
    out += fmt::format(" -> {}", actor.peer);
  return out;
}

std::string health_progress(const run_progress& now) {
  // Epochs, seeds of training and learning are of runs that train.
  if (!now.work.empty())
    return format_printable("progress  {}, step {} of {}\n", now.work, now.step,
                            now.steps);
  auto out = fmt::format(
    "progress  {}, epoch {} of {}, step {} of {}; {} seeds/s; {} left\n",
    to_string(now.phase), std::int64_t{now.epoch} + 1, now.epochs, now.step,
    now.steps,
    now.seeds_per_second > 0 ? fmt::format("{:.0f}", now.seeds_per_second)
                             : std::string{"-"},
    health_seconds(now.seconds_left));
  out += fmt::format(
    "learning  rate {:.3g}, loss {}; last checkpoint {}\n", now.learning_rate,
    std::isfinite(now.loss) ? fmt::format("{:.4f}", now.loss)
                            : std::string{"-"},
    now.checkpoint_age < 0 ? std::string{"-"}
                           : health_seconds(now.checkpoint_age) + " ago");
  return out;
}

std::string health_head(const run_health& run, const std::string& standing) {
  auto out = format_printable("run       {}\n", run.run);
  if (!standing.empty())
    out += format_printable("state     running: {}\n", standing);
  out += format_printable("verdict   {}\n", run.verdict.sentence);
  for (const auto& line : run.verdict.evidence)
    out += format_printable("          {}\n", line);
  if (run.progress)
    out += health_progress(*run.progress);
  if (run.attempt != 0)
    out += fmt::format("attempt   {}, with {}\n", run.attempt,
                       pluralized(run.trainers, "trainer"));
  for (const auto& name : run.silent)
    out += format_printable("silent    daemon {}\n", name);
  return out;
}

std::string health_text(const run_health& run, const std::string& standing) {
  auto out = health_head(run, standing);
  for (const auto& daemon : run.daemons)
    out += daemon_text(daemon);
  if (run.left_out != 0)
    out += fmt::format("\n{} more daemons did not fit in the answer: --daemon "
                       "NAME shows one\n",
                       run.left_out);
  return out;
}

int health_code(const run_health& run) {
  auto sick = !run.silent.empty();
  for (const auto& daemon : run.daemons)
    sick = sick || std::ranges::any_of(daemon.actors, &actor_health::in_trouble)
           || std::ranges::any_of(daemon.peers, &peer_health::in_trouble);
  return sick ? exit_troubled : 0;
}

} // namespace graphmill
