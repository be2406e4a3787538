#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/cluster_options.hpp"
#include "actors/commands/status.hpp"
#include "actors/commands/top/top_asker.hpp"
#include "actors/commands/top/top_keys.hpp"
#include "actors/commands/top/top_screen.hpp"
#include "actors/commands/top/top_terminal.hpp"
#include "actors/process/signals.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace graphmill {

namespace {

using namespace std::chrono_literals;

/// How long a key or a signal may wait at the most.
constexpr auto key_look = 100ms;
/// The screen tells how long the cluster has been silent.
constexpr auto redraw_interval = 1s;

struct top_options {
  cluster_options cluster;
  std::string run;
};

/// A cluster that cannot be reached and a run that there is not are said at
/// once; what happens later is said on the screen.
result<void> await_first_answer(const top_asker& asker,
                                const signal_watch& signals) {
  for (auto now = asker.now();; now = asker.now()) {
    if (signals.count() != 0)
      return fail(ec::cancelled, "interrupted");
    if (now->rounds != 0)
      return now->failure ? result<void>{*now->failure} : ok();
    std::this_thread::sleep_for(key_look);
  }
}

/// What is on the screen, and why.
struct top_session {
  top_asker& asker;
  top_terminal& terminal;
  top_view view{};
  std::uint64_t rounds = 0;   ///< Of the answers that are shown.
  std::uint64_t outcomes = 0; ///< Of the commands that are told of.
  top_asker::clock::time_point drawn{};

  /// @returns whether the user goes on.
  bool take_keys() {
    while (const auto key = terminal.key()) {
      const auto now = asker.now();
      auto step = press(std::move(view), *key, now->data);
      view = std::move(step.view);
      if (step.end)
        return false;
      if (step.command)
        view.message =
          asker.carry_out(*step.command)
            ? "asking the cluster ..."
            : "not done: the cluster has not answered the previous request";
      drawn = {};
      asker.follow(view.followed);
      if (!view.run.empty())
        asker.look_at(view.run);
    }
    return true;
  }

  void show() {
    const auto now = asker.now();
    const auto time = top_asker::clock::now();
    if (is_choice_over(now->data, view)) {
      view.run.clear();
      asker.look_at({});
    }
    if (now->outcomes != outcomes)
      view.message = now->outcome;
    if (now->rounds == rounds && time - drawn < redraw_interval)
      return;
    outcomes = now->outcomes;
    rounds = now->rounds;
    drawn = time;
    const std::chrono::duration<double> silence = time - now->answered;
    terminal.draw(
      top_screen(now->data, view, terminal.canvas(), silence.count()));
  }
};

result<int> show_top(const top_options& options) {
  if (options.cluster.json || !is_drawable_terminal())
    return show_run_status(options.cluster, options.run, true, true);
  signal_watch signals;
  std::stop_source stop;
  GRAPHMILL_TRY(auto client,
                connect(options.cluster, "top", nullptr, stop.get_token()));
  top_asker asker{std::move(client), options.run, stop};
  GRAPHMILL_TRYV(await_first_answer(asker, signals));
  GRAPHMILL_TRY(const auto terminal, top_terminal::open());
  top_session session{asker, *terminal};
  for (;;) {
    session.show();
    const auto is_there = terminal->wait(key_look);
    if (!is_there || signals.count() != 0 || !session.take_keys())
      return 0;
  }
}

} // namespace

void add_top_command(command_line& cli) {
  auto options = std::make_shared<top_options>();
  auto* command = cli.app.add_subcommand(
    "top", "Show a cluster and a run live: daemons, actors, limits");
  command->add_option(
    "run", options->run,
    "Id of the run (default: the running one, or else the latest)");
  add_cluster_options(*command, options->cluster);
  command->footer(
    "Keys:\n"
    "  q                  quits\n"
    "  arrows, k and j    move; tab switches to the other table\n"
    "  s, r               sorts by the next column, reverses the order\n"
    "  /                  filters by part of a name\n"
    "  Enter              shows all figures of an actor, or the actors of a "
    "daemon\n"
    "  l                  follows the log of the daemon, or of the actor's "
    "daemon\n"
    "  Escape             goes back\n"
    "  n                  shows the next of several running runs\n"
    "  d                  drains the daemon, or returns it to service; asks "
    "first\n"
    "  c                  cancels the run; asks first\n"
    "NO_COLOR removes colours. Without a terminal, or with --json, it prints "
    "what\n"
    "`status RUN --actors --watch` prints.");
  command->callback(
    [&cli, options] { cli.run = [options] { return show_top(*options); }; });
}

} // namespace graphmill
