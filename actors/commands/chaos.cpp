#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/cluster_options.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/commands/text/chaos_text.hpp"
#include "actors/process/say.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <memory>

namespace graphmill {

namespace {

using chaos_clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// How often the run is looked at.
constexpr milliseconds look_interval{500};

struct chaos_options {
  cluster_options cluster;
  std::uint64_t seed = 0;
  std::string run;
  std::string kinds = "kill,stop,delay,cut,corrupt";
  std::uint32_t faults = 20;
  double every_seconds = 5;
  double patience_seconds = 300;
  bool dry_run = false;
  bool planned = false; ///< Seed and run were given.
  std::string daemon;   ///< One fault for this one, in place of a plan.
  std::string at = "at_once";
  std::string peer;
  std::uint32_t lasts = 0; ///< In milliseconds.
  std::uint32_t each = 0;  ///< The same.
  std::uint32_t messages = 0;
};

milliseconds to_milliseconds(double seconds) {
  return std::chrono::duration_cast<milliseconds>(
    std::chrono::duration<double>(seconds));
}

/// Carries a plan out while a run is on. The coordinator may be out of reach
/// for a while, for the plan may have killed it.
class chaos_drill {
public:
  chaos_drill(cluster_client& client, signal_watch& signals,
              const chaos_options& options)
    : client_(client), signals_(signals), options_(options) {}

  /// Until the run is over.
  result<run_record> carry_out(const std::vector<planned_fault>& plan) {
    auto next = chaos_clock::now();
    for (const auto& fault : plan) {
      next += fault.after;
      GRAPHMILL_TRY(auto run, follow_until(next));
      if (is_over(run.state))
        return run;
      GRAPHMILL_TRY(const auto outcome, inflict(fault.request));
      done_.push_back({fault, outcome});
      if (!options_.cluster.json)
        say("{}: {}\n", sentence_of(fault.request), outcome);
      next = std::max(next, chaos_clock::now());
    }
    return follow_until(chaos_clock::time_point::max());
  }

  const std::vector<chaos_outcome>& done() const { return done_; }

private:
  /// Asks until the coordinator answers, or for longer than it may be away.
  template <class Ask>
  auto patiently(Ask ask) -> decltype(ask()) {
    const auto until =
      chaos_clock::now() + to_milliseconds(options_.patience_seconds);
    for (;;) {
      auto got = ask();
      if (got
          || (got.error().code != ec::unavailable
              && got.error().code != ec::timeout)
          || chaos_clock::now() >= until)
        return got;
      signals_.wait(look_interval);
    }
  }

  /// @returns the run as it is then, or when it is over.
  result<run_record> follow_until(chaos_clock::time_point end) {
    for (;;) {
      GRAPHMILL_TRY(auto run,
                    patiently([this] { return client_.run(options_.run); }));
      const auto now = chaos_clock::now();
      if (is_over(run.state) || now >= end)
        return run;
      auto pause = look_interval;
      if (end - now < pause)
        pause = std::chrono::ceil<milliseconds>(end - now);
      signals_.wait(pause);
    }
  }

  /// Whom the plan has killed may not be back yet: that is noted, and no error.
  result<std::string> inflict(const chaos_request& request) {
    GRAPHMILL_TRY(const auto now,
                  patiently([this] { return client_.status(); }));
    for (const auto& name : {request.daemon, request.peer}) {
      const auto is_there =
        name.empty()
        || std::ranges::any_of(now.daemons, [&name](const auto& daemon) {
             return daemon.name == name && daemon.state != daemon_state::lost;
           });
      if (!is_there)
        return fmt::format("left out, for {} is lost", name);
    }
    const auto asked = client_.chaos(request);
    if (asked)
      return std::string{"asked"};
    if (asked.error().code == ec::cancelled)
      return asked.error();
    return asked.error().message;
  }

  cluster_client& client_;
  signal_watch& signals_;
  const chaos_options& options_;
  std::vector<chaos_outcome> done_;
};

nlohmann::json chaos_json(const chaos_options& options,
                          const std::vector<chaos_outcome>& faults) {
  auto list = nlohmann::json::array();
  for (const auto& one : faults)
    list.push_back(to_json(one));
  return {
    {"seed", options.seed}, {"run", options.run}, {"faults", std::move(list)}};
}

int show_plan(const chaos_options& options,
              const std::vector<planned_fault>& plan) {
  std::vector<chaos_outcome> faults;
  for (const auto& one : plan)
    faults.push_back({one, {}});
  if (options.cluster.json)
    say("{}\n", one_line(chaos_json(options, faults)));
  return 0;
}

/// @returns the exit code: 0 for a run that has finished.
int conclude_chaos(const chaos_options& options, const run_record& run,
                   const std::vector<chaos_outcome>& done) {
  const auto asked = std::ranges::count(done, "asked", &chaos_outcome::outcome);
  if (options.cluster.json) {
    auto out = chaos_json(options, done);
    out["state"] = to_string(run.state);
    out["message"] = run.message;
    say("{}\n", one_line(out));
  } else {
    say("run {} is {} after {} of these faults{}{}\n", run.id,
        to_string(run.state), asked, run.message.empty() ? "" : ": ",
        run.message);
  }
  return run.state == run_state::finished ? 0 : 1;
}

/// Whether the flags that a kind cannot do without were given.
result<void> check_flags_of(chaos_kind kind, const chaos_options& options) {
  const auto delays = kind == chaos_kind::delay;
  const auto lasts =
    delays || kind == chaos_kind::stop || kind == chaos_kind::disk;
  const auto missing = [kind](const char* flag, const char* what) {
    return fail(ec::invalid_argument, "--kinds {} needs {}: {}",
                to_string(kind), flag, what);
  };
  if (lasts && options.lasts == 0)
    return missing("--lasts", "for how many milliseconds");
  if (delays && options.each == 0)
    return missing("--each", "for how many milliseconds a message is held");
  if (kind == chaos_kind::corrupt && options.messages == 0)
    return missing("--messages", "how many are damaged");
  return ok();
}

/// A single fault, as it is asked for.
result<chaos_request> request_of(const chaos_options& options) {
  GRAPHMILL_TRY(const auto kinds, parse_chaos_kinds(options.kinds));
  const auto at = moment_named(options.at);
  if (kinds.size() != 1)
    return fail(ec::invalid_argument,
                "--daemon {} is for one fault: name the one by --kinds, as in "
                "--kinds kill",
                options.daemon);
  if (!at)
    return fail(ec::invalid_argument, "--at {} is no moment: --help lists them",
                options.at);
  GRAPHMILL_TRYV(check_flags_of(kinds.front(), options));
  chaos_request request{.daemon = options.daemon,
                        .kind = kinds.front(),
                        .at = *at,
                        .lasts = milliseconds{options.lasts},
                        .each = milliseconds{options.each},
                        .messages = options.messages,
                        .peer = options.peer};
  if (*at != moment::at_once)
    request.wait = chaos_request::longest_wait;
  GRAPHMILL_TRYV(request.check());
  return request;
}

/// What the parser cannot know of the words.
result<void> check_words(const chaos_options& options) {
  if (!options.daemon.empty()) {
    GRAPHMILL_TRYV(request_of(options));
    return ok();
  }
  if (!options.planned)
    return fail(ec::invalid_argument,
                "a plan takes --seed and --during; a single fault, --daemon");
  GRAPHMILL_TRYV(parse_chaos_kinds(options.kinds));
  return ok();
}

result<int> inflict_one(const chaos_options& options) {
  GRAPHMILL_TRY(const auto request, request_of(options));
  GRAPHMILL_TRY(auto client, connect(options.cluster, "chaos"));
  GRAPHMILL_TRYV(client.chaos(request));
  if (options.cluster.json)
    say("{}\n", one_line(to_json({{{}, request}, "asked"})));
  else
    say("{}: asked\n", sentence_of(request));
  return 0;
}

result<int> chaos(const chaos_options& options) {
  if (!options.daemon.empty())
    return inflict_one(options);
  signal_watch signals;
  chaos_wishes wishes;
  wishes.seed = options.seed;
  wishes.faults = options.faults;
  wishes.every = to_milliseconds(options.every_seconds);
  GRAPHMILL_TRY(wishes.kinds, parse_chaos_kinds(options.kinds));
  GRAPHMILL_TRY(auto client, connect(options.cluster, "chaos", &signals));
  GRAPHMILL_TRY(const auto now, client.status());
  GRAPHMILL_TRY(wishes.daemons, daemons_for_chaos(now.daemons));
  wishes.coordinator = now.coordinator;
  for (const auto& daemon : now.daemons)
    if (daemon.slots != 0)
      wishes.trainers.push_back(daemon.name);
  const auto plan = plan_chaos(wishes);
  if (!options.cluster.json)
    say_lines(plan_text(plan));
  if (options.dry_run)
    return show_plan(options, plan);
  GRAPHMILL_TRY(const auto run, client.run(options.run));
  if (is_over(run.state))
    return fail(ec::invalid_argument,
                "run {} is {} already: name a running or queued run", run.id,
                to_string(run.state));
  chaos_drill drill{client, signals, options};
  GRAPHMILL_TRY(const auto end, drill.carry_out(plan));
  return conclude_chaos(options, end, drill.done());
}

constexpr const char* chaos_footer =
  "The plan depends only on seed, kinds, the names of the daemons, the "
  "coordinator\n"
  "and the daemons with slots. It starts at once and ends with the run. A "
  "fault\n"
  "whose daemon is lost is left out. All daemons need --chaos-allowed, and a\n"
  "supervisor must restart killed daemons.\n"
  "  kill     SIGKILL, at once or at a moment of the run\n"
  "  stop     SIGSTOP for 1, 3 or 10 s\n"
  "  delay    messages of a daemon leave late\n"
  "  cut      connections end\n"
  "  corrupt  messages between daemons are unreadable\n"
  "  disk     files of runs cannot be written. At the coordinator that may "
  "fail\n"
  "           the run, as a full disk does. Not in the default list\n"
  "The exit code is 0 if the run has finished, 1 if it failed or was "
  "cancelled,\n"
  "or if the cluster is unreachable. Ctrl-C ends the chaos, not the run.";

/// @returns the one without which the others make no sense.
CLI::Option* add_single_options(CLI::App& command, chaos_options& options) {
  auto* daemon = command.add_option(
    "--daemon", options.daemon,
    "Harm only this daemon, once, by the one kind in --kinds; no plan");
  command
    .add_option("--at", options.at,
                "With --daemon: the moment of the fault: at_once, start_up, "
                "filling_caches, mid_epoch, exchange, checkpoint, epoch_edge, "
                "evaluation or drain; within 10 min")
    ->capture_default_str()
    ->needs(daemon);
  command
    .add_option("--peer", options.peer,
                "With --daemon, for delay and cut: only requests to this peer")
    ->needs(daemon);
  command
    .add_option(
      "--lasts", options.lasts,
      "With --daemon: milliseconds of stop, delay or disk; required by them")
    ->needs(daemon);
  command
    .add_option("--each", options.each,
                "With --daemon: milliseconds for which delay holds a message; "
                "required by it")
    ->needs(daemon);
  command
    .add_option(
      "--messages", options.messages,
      "With --daemon: how many messages corrupt damages; required by it")
    ->needs(daemon);
  return daemon;
}

} // namespace

void add_chaos_command(command_line& cli) {
  auto options = std::make_shared<chaos_options>();
  auto* command = cli.app.add_subcommand(
    "chaos", "Harm the daemons of a cluster by a plan during a run");
  auto* seed = command->add_option("--seed", options->seed, "Of the plan");
  auto* run = command->add_option("--during", options->run, "Id of the run");
  command
    ->add_option("--kinds", options->kinds, "Kinds of faults, as in kill,cut")
    ->capture_default_str();
  command->add_option("--faults", options->faults, "Largest number of faults")
    ->check(CLI::Range(1u, 10'000u))
    ->capture_default_str();
  command
    ->add_option("--every", options->every_seconds,
                 "Mean seconds between faults")
    ->check(CLI::Range(0.1, 3600.0))
    ->capture_default_str();
  command
    ->add_option("--patience", options->patience_seconds,
                 "Seconds to wait for an unreachable coordinator")
    ->check(CLI::Range(1.0, 86'400.0))
    ->capture_default_str();
  auto* dry_run = command->add_flag("--dry-run", options->dry_run,
                                    "Print the plan only; harm no daemon");
  // A single fault has no plan, and is carried out.
  add_single_options(*command, *options)->excludes(seed, run, dry_run);
  command->footer(chaos_footer);
  add_cluster_options(*command, options->cluster);
  command->callback([&cli, options, seed, run] {
    options->planned = !seed->empty() && !run->empty();
    if (const auto sound = check_words(*options); !sound)
      refuse_words(sound.error().message);
    cli.run = [options] { return chaos(*options); };
  });
}

} // namespace graphmill
