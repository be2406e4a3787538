#include "actors/commands/status.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/cluster_options.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/commands/text/figure_columns.hpp"
#include "actors/commands/text/follow.hpp"
#include "actors/commands/text/health_text.hpp"
#include "actors/commands/text/run_screen.hpp"
#include "actors/commands/text/summary_text.hpp"
#include "actors/launch/part_list.hpp"
#include "actors/process/say.hpp"
#include "actors/process/signals.hpp"
#include "pipelines/figures/figure_tables.hpp"
#include "pipelines/figures/status_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace graphmill {

namespace {

/// The parts that nobody in service has: no run can start without them.
std::vector<part_id> missing_parts(const status_reply& now) {
  std::vector<part_id> out;
  const auto owners = owners_in(now);
  for (part_id part = 0; part < static_cast<part_id>(now.parts); ++part)
    if (!owners.contains(part))
      out.push_back(part);
  return out;
}

/// How many owners in service a part has, as in "1 to 2".
std::string owners_text(const status_reply& now) {
  const auto owners = owners_in(now);
  auto least = owners.size() < now.parts ? std::size_t{0} : SIZE_MAX;
  auto most = std::size_t{0};
  for (const auto& [part, daemons] : owners) {
    least = std::min(least, daemons.size());
    most = std::max(most, daemons.size());
  }
  return least < most ? fmt::format("{} to {}", least, most)
                      : std::to_string(most);
}

/// Who lets itself be harmed: nobody wants to hear of that too late.
std::string chaos_line(const std::vector<daemon_status>& daemons) {
  std::vector<std::string> names;
  for (const auto& daemon : daemons)
    if (daemon.chaos)
      names.push_back(daemon.name);
  return fmt::format("chaos allowed (--chaos-allowed): {}",
                     fmt::join(names, ", "));
}

void print_daemons(const std::vector<daemon_status>& daemons) {
  std::size_t name = 6, host = 4, address = 7, parts = 5;
  for (const auto& daemon : daemons) {
    name = std::max(name, daemon.name.size());
    host = std::max(host, daemon.host.size());
    address = std::max(address, daemon.address.size());
    parts = std::max(parts, to_part_text(daemon.parts).size());
  }
  say("\n{:<{}}  {:<8}  {:<{}}  {:<{}}  {:<{}}  {:>5} {}\n", "daemon", name,
      "state", "host", host, "address", address, "parts", parts, "slots",
      column_titles(figures::load, column_room::small));
  for (const auto& daemon : daemons)
    say("{:<{}}  {:<8}  {:<{}}  {:<{}}  {:<{}}  {:>5} {}{}{}\n", daemon.name,
        name, to_string(daemon.state), daemon.host, host, daemon.address,
        address, to_part_text(daemon.parts), parts, daemon.slots,
        column_values(figures::load, column_room::small,
                      daemon.load ? &*daemon.load : nullptr),
        daemon.note.empty() ? "" : "  ", daemon.note);
}

/// What their records say of the runs that are on, and of the first one that
/// waits: how it has recovered, say, or for whom it waits, and until when.
struct run_standings {
  std::vector<std::string> running; ///< Of each.
  std::string next;
};

/// A line below that of the run; none if its record says nothing.
void print_standing(const std::string& says) {
  if (!says.empty())
    say("             {}\n", says);
}

void print_status(const std::string& address, const status_reply& now,
                  const run_standings& standings) {
  say("coordinator  {} at {}\n", now.coordinator, address);
  say("dataset      {} in {} {}\n", now.dataset, now.parts,
      now.parts == 1 ? "part" : "parts");
  say("owners       {} of each part in service\n", owners_text(now));
  const auto on = now.all_running();
  if (on.empty())
    say("running      nothing\n");
  for (std::size_t i = 0; i < on.size(); ++i) {
    say("{:<13}{}\n", i == 0 ? "running" : "", on[i]);
    print_standing(standings.running[i]);
  }
  if (!now.queued.empty())
    say("queued       {}\n", fmt::format("{}", fmt::join(now.queued, ", ")));
  print_standing(standings.next);
  if (!now.stand_ins.empty())
    say("stand-ins    {}\n", fmt::format("{}", fmt::join(now.stand_ins, ", ")));
  if (!now.note.empty())
    say("trouble      {}\n", now.note);
  print_daemons(now.daemons);
  if (std::ranges::any_of(now.daemons, &daemon_status::chaos))
    say("\n{}\n", chaos_line(now.daemons));
  if (const auto missing = missing_parts(now); !missing.empty())
    say("\nno daemon in service has part {}: no run can start\n",
        to_part_text(missing));
}

/// What a run's record says, if there is a run. It may just have been
/// forgotten, which is no reason to show nothing of the cluster.
std::string standing_of(cluster_client& client, const std::string& run) {
  const auto found = client.run(run);
  return found ? found.value().message : std::string{};
}

/// `exit_troubled` if a daemon is lost, damaged or hard to reach, nobody in
/// service has some part, or the coordinator tells of trouble; else 0.
int cluster_code(const status_reply& now) {
  const auto is_troubled = [](const daemon_status& daemon) {
    return daemon.state == daemon_state::lost
           || daemon.state == daemon_state::damaged || !daemon.note.empty();
  };
  const auto sick = std::ranges::any_of(now.daemons, is_troubled)
                    || !missing_parts(now).empty() || !now.note.empty();
  return sick ? exit_troubled : 0;
}

void show_cluster(cluster_client& client, const status_reply& now, bool json,
                  bool again) {
  if (json) {
    say("{}\n", one_line(status_json(client.address(), now)));
    return;
  }
  run_standings standings;
  for (const auto& run : now.all_running())
    standings.running.push_back(standing_of(client, run));
  if (!now.queued.empty())
    standings.next = standing_of(client, now.queued.front());
  if (again)
    clear_terminal();
  print_status(client.address(), now, standings);
}

struct shown {
  int code = 0;      ///< For the shell.
  bool over = false; ///< It will not change any more.
};

/// Shows something once, or if it is to be watched, every second: until it is
/// over, until Ctrl-C, which does not wait for an answer, or until nobody reads
/// it. The coordinator may be started anew meanwhile.
/// @param show Is told whether it has been shown before.
result<int>
show_repeatedly(bool watch, signal_watch& signals,
                const std::function<result<shown>(bool again)>& show) {
  GRAPHMILL_TRY(auto last, show(false));
  GRAPHMILL_TRY(const auto reader, flush_output());
  if (!watch || last.over || reader != output_reader::there)
    return last.code;
  const follow_pace pace{.interval = timeouts::health_report};
  signals.wait(pace.interval);
  const auto look = [&]() -> result<bool> {
    GRAPHMILL_TRY(last, show(true));
    return last.over;
  };
  const auto ended = follow(look, signals, pace);
  if (!ended && signals.count() == 0)
    return ended.error();
  return last.code;
}

result<int> cluster_status(const cluster_options& options, bool watch) {
  signal_watch signals;
  GRAPHMILL_TRY(auto client, connect(options, "status", &signals));
  return show_repeatedly(watch, signals, [&](bool again) -> result<shown> {
    GRAPHMILL_TRY(const auto now, client.status());
    show_cluster(client, now, options.json, again);
    return shown{cluster_code(now)};
  });
}

struct status_options {
  cluster_options cluster;
  std::string run;
  bool watch = false;
  bool actors = false;
  std::string daemon;
};

/// Of a run that is not on: what has become of it.
int print_record(const run_record& run, bool json, bool again) {
  if (json)
    say("{}\n", one_line(run_status_json(run)));
  else {
    if (again)
      clear_terminal();
    say("run       {}\nstate     {}{}{}\n", run.id, to_string(run.state),
        run.message.empty() ? "" : ": ", run.message);
    if (const auto summary = summary_json(run);
        is_over(run.state) && !summary.is_null())
      say_lines("\n" + result_text(summary));
  }
  if (run.state == run_state::failed)
    return exit_failed;
  // It has begun, and waits for what its next attempt needs.
  const auto waits =
    run.state == run_state::queued && run.started != unix_time{0};
  return waits ? exit_troubled : 0;
}

/// What is shown of a run.
struct run_view {
  bool json = false;
  bool actors = false; ///< Each of them, rather than a screen.
  std::string daemon;  ///< Its actors alone; empty: all.
};

/// @param standing What the run's record says.
int print_health(const run_health& run, const std::string& standing,
                 run_view view, bool again) {
  if (view.json)
    say("{}\n", one_line(run_status_json(run)));
  else {
    if (again)
      clear_terminal();
    say_lines(view.actors ? health_text(run, standing)
                          : run_screen(run, standing));
  }
  return health_code(run);
}

/// A run that is attempted again is queued in between.
result<shown> show_run(cluster_client& client, const std::string& id,
                       run_view view, bool again, signal_watch& signals) {
  for (;;) {
    GRAPHMILL_TRY(const auto run, client.run(id));
    if (run.state != run_state::running)
      return shown{print_record(run, view.json, again), is_over(run.state)};
    const auto now = client.health({run.id, view.daemon});
    if (now && !view.daemon.empty() && now.value().daemons.empty())
      return fail(
        ec::unavailable, // It has yet to, in the next attempt.
        "daemon \"{}\" has reported nothing about run {}: `graphmill status` "
        "shows the daemons, and the run's definition which it uses",
        view.daemon, run.id);
    if (now)
      return shown{print_health(now.value(), run.message, view, again)};
    if (now.error().code != ec::not_found || signals.count() != 0)
      return now.error();
    signals.wait(timeouts::ask_again); // It has just ended.
  }
}

} // namespace

result<int> show_run_status(const cluster_options& cluster,
                            const std::string& id, bool watch, bool actors,
                            const std::string& daemon) {
  signal_watch signals;
  GRAPHMILL_TRY(auto client, connect(cluster, "status", &signals));
  return show_repeatedly(watch, signals, [&](bool again) {
    return show_run(client, id, {cluster.json, actors, daemon}, again, signals);
  });
}

void add_status_command(command_line& cli) {
  auto options = std::make_shared<status_options>();
  auto* command = cli.app.add_subcommand(
    "status", "Show a cluster: daemons, running and queued runs");
  auto* run = command->add_option("run", options->run,
                                  "Id of a run: show its state instead");
  command->add_flag("-w,--watch", options->watch,
                    "Update every second, until the run ends or until Ctrl-C");
  command
    ->add_flag("--actors", options->actors,
               "With RUN: show each actor of each daemon instead of a screen")
    ->needs(run);
  command
    ->add_option("--daemon", options->daemon,
                 "With RUN: show only the actors of this daemon, also if the "
                 "list of all leaves it out")
    ->needs(run);
  add_cluster_options(*command, options->cluster);
  command->footer(
    "Exit code 0: all is well. Exit code 3: a daemon of the cluster is lost, "
    "damaged or\n"
    "silent, no daemon in service has some part, or results of runs cannot be "
    "written; of\n"
    "a run, something is wrong but it goes on, or will. Exit code 4: the run "
    "has failed.\n"
    "With --watch, the code is that of the last screen, also after Ctrl-C.");
  command->callback([&cli, options] {
    cli.run = [options] {
      return options->run.empty()
               ? cluster_status(options->cluster, options->watch)
               : show_run_status(options->cluster, options->run, options->watch,
                                 options->actors, options->daemon);
    };
  });
}

} // namespace graphmill
