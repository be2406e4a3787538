#include "actors/commands/engine/prediction_nodes.hpp"
#include "actors/commands/text/health_text.hpp"
#include "actors/commands/text/run_screen.hpp"
#include "actors/commands/text/sweep_table.hpp"
#include "actors/commands/top/top_writer.hpp"
#include "actors/process/logs/log_lines.hpp"
#include "messages/wire/log.hpp"
#include "messages/wire/trace.hpp"
#include "partition/files/json_text.hpp"
#include "pipelines/figures/status_json.hpp"
#include "pipelines/health/trace_events.hpp"
#include "tests/fuzz/harnesses/codecs.hpp"
#include "tests/fuzz/harnesses/printed.hpp"
#include "tests/fuzz/harnesses/sample_answers.hpp"
#include "tests/fuzz/registry.hpp"
#include "tests/support/sample_trace.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What commands make of the answers of a coordinator, and of files that a user
// names: screens, tables, traces, lists of nodes.

namespace graphmill::fuzz {

namespace {

std::string json_text(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void require_json(const nlohmann::json& value) {
  require(parse_json(json_text(value), "what is told").has_value(),
          "what is told in JSON is none");
}

/// Of more, that an answer may name again and again, JSON takes longer, and
/// more memory, than an input may.
constexpr std::size_t most_drawn = 300;
constexpr std::size_t most_drawn_bytes = std::size_t{1} << 16;

// -- screens

void check_screen(const top_data& data) {
  for (const bool unicode : {false, true}) {
    const top_canvas canvas{30, 90, unicode};
    const auto lines = top_screen(data, {}, canvas, 1);
    require(lines.size() <= 30, "a screen of more lines than a terminal has");
    for (const auto& line : lines) {
      std::size_t cells = 0;
      for (const auto& piece : line) {
        require_printable(piece.text, line_breaks::escape);
        cells += cell_count(piece.text);
      }
      require(cells <= 90, "a line that is wider than its terminal");
    }
  }
}

void show_health(const payload& from) {
  const auto got = decode_run_health(from);
  if (!got)
    return;
  auto listed = got.value().daemons.size();
  for (const auto& daemon : got.value().daemons)
    listed += daemon.actors.size() + daemon.peers.size();
  if (listed > most_drawn)
    return;
  require_printable(health_text(got.value(), {}), line_breaks::keep);
  require_printable(run_screen(got.value(), {}), line_breaks::keep);
  require_json(run_status_json(got.value()));
  top_data data;
  data.health = got.value();
  check_screen(data);
}

void show_cluster(const payload& from) {
  const auto got = decode_status_reply(from);
  if (!got)
    return;
  auto listed = got.value().daemons.size();
  for (const auto& daemon : got.value().daemons)
    listed += daemon.parts.size();
  if (listed > most_drawn)
    return;
  require_json(status_json("tcp://a:1", got.value()));
  top_data data;
  data.cluster = got.value();
  check_screen(data);
}

void show_runs(const payload& from) {
  const auto got = decode_runs_reply(from);
  if (!got)
    return;
  std::size_t bytes = 0;
  for (const auto& run : got.value().runs)
    bytes += run.summary.size();
  if (got.value().runs.size() > most_drawn || bytes > most_drawn_bytes)
    return;
  require_json(run_list_json(got.value()));
  if (got.value().runs.empty())
    return;
  const auto& first = got.value().runs.front(); // Others are shown alike.
  require_json(run_status_json(first));
  top_data data;
  data.run = first;
  check_screen(data);
}

void show_log(const payload& from) {
  const auto got = decode_log_reply(from);
  if (!got)
    return;
  for (const auto& line : got.value().lines) {
    const auto shown = printable_line(line);
    for (const auto* text : {&shown.text, &shown.daemon, &shown.run})
      require_printable(*text, line_breaks::escape);
    require_json(log_line_json(shown));
  }
}

constexpr std::array shows{show_health, show_cluster, show_runs, show_log};

void read_shown(std::string_view input) {
  const auto in = message_in(input);
  shows[in.which % shows.size()](in.data);
}

std::vector<std::string> shown_answers() {
  auto run = some_health();
  auto& actor = run.daemons[0].actors[0];
  actor.state = actor_state::failed;
  actor.peer = "b\x1b[2J";
  actor.last_error = "gone\nforged";
  auto cluster = some_status();
  cluster.daemons[0].name = "b\x1b";
  run_record record;
  record.id = "r";
  record.name = "n\n";
  record.state = run_state::failed;
  record.message = "the disk is full";
  record.summary = R"({"steps": 3, "validation_accuracy": 0.5})";
  log_reply lines;
  lines.lines = {
    {unix_time{7}, log_level::warn, "a", "r", "batch", "run", "torn\x1b"}};
  return {input_of(0, encode(run)), input_of(1, encode(cluster)),
          input_of(2, encode(runs_reply{{record, record}, true})),
          input_of(3, encode(lines))};
}

// -- traces

void read_traced(std::string_view input) {
  const auto in = message_in(input);
  auto got = decode_trace_reply(in.data);
  if (!got)
    return;
  auto& page = got.value();
  std::size_t workers = 0;
  for (const auto& actor : page.actors)
    workers += actor.workers;
  if (workers > most_drawn || page.spans.size() > most_drawn
      || page.requests.size() > most_drawn || page.now.size() > most_drawn)
    return;
  run_trace trace;
  trace.run = page.run;
  trace.missing = page.daemons;
  daemon_trace daemon;
  daemon.name = page.daemon;
  const std::array probes{
    clock_probe{page.asked, page.came, page.left, page.answered}};
  if (const auto clock = offset_by(probes))
    daemon.clock = *clock;
  daemon.take(page);
  daemon.take(std::move(page));
  trace.daemons = {daemon};
  trace.align();
  if (in.which % 3 == 1)
    keep_last(trace, 1000);
  if (in.which % 3 == 2)
    keep_steps(trace, 0, 1);
  std::string text;
  const auto written =
    write_trace_events(trace, [&text](std::string_view piece) {
      text += piece;
      return ok();
    });
  require(written.has_value(), "a trace that cannot be written");
  const auto events = parse_json(text, "a trace");
  require(events.has_value(), "a trace that is no JSON");
  for (const auto& event : events.value()["traceEvents"])
    require(!event.contains("dur") || event["dur"] >= 0,
            "something that was over before it began");
}

std::vector<std::string> traced() {
  auto reply = test::some_trace();
  reply.actors = {{actor_kind::sampler, -1, 0, "a", 2},
                  {actor_kind::trainer, -1, 0, "", 1}};
  const batch_place batch{phase::train, 1, 2, 0};
  reply.spans = {{0, 1, actor_state::running, 10, 20, batch},
                 {1, 0, actor_state::running, 20, 30, batch},
                 {1, 0, actor_state::waiting, 30, 40, batch}};
  return {input_of(0, encode(reply)), input_of(1, encode(reply)),
          input_of(2, encode(reply))};
}

// -- sweeps

/// What --grid was given, and the summary of a run.
void read_sweep(std::string_view input) {
  const auto files = files_in(input, 2);
  std::vector<sweep_row> rows(1);
  if (const auto axis = parse_sweep_axis(std::string{files[0]})) {
    require(!axis.value().field.empty()
              && axis.value().values.empty() == axis.value().range.has_value(),
            "a field without values");
    if (const auto drawn = random_combinations({&axis.value(), 1}, 2, 1))
      for (const auto& settings : drawn.value())
        name_of_settings(settings);
    if (const auto made = sweep_combinations({&axis.value(), 1}, 90)) {
      require(made.value().size() == axis.value().values.size(),
              "a value of a sweep that has no run");
      rows.clear();
      for (const auto& settings : made.value())
        rows.push_back({settings, {}});
    }
  }
  run_record record;
  record.id = files[0].substr(0, 100);
  record.state = run_state::finished;
  record.summary = files[1];
  for (std::uint64_t seed = 0; seed < 2; ++seed)
    rows.front().runs.push_back(read_sweep_run(record, seed));
  sort_sweep(rows);
  require_printable(sweep_text(rows), line_breaks::keep);
  require_json(sweep_json(rows));
}

std::vector<std::string> sweeps() {
  return {joined({"model.hidden=64,256",
                  R"({"validation_accuracy": 0.5, "test_accuracy": 0.25})"}),
          joined({"sampler.fanouts=[5,5],[10,{a: 1,b: 2}]",
                  R"({"validation_accuracy": null})"}),
          joined({"a=log:1e-3..2", "{}"}), joined({"a=2..9", "{}"}),
          joined({"a=b\x1b", "{}"})};
}

// -- lists of nodes

void read_nodes(std::string_view input) {
  node_type_info type;
  type.name = "node";
  type.count = 10;
  for (const auto* name : {"nodes.txt", "nodes.npy"}) {
    const auto file = scratch() / name;
    put_file(file, input);
    const auto got = read_node_list(file, type);
    if (!got) {
      require(!got.error().message.empty(), "an error without a sentence");
      continue;
    }
    require(!got.value().empty(), "a list without nodes");
    for (const auto id : got.value())
      require(id >= 0 && id < type.count, "a node that there is not");
  }
}

std::vector<std::string> node_lists() {
  const std::array<std::int64_t, 2> ids{7, 0};
  const auto file = scratch() / "seed.npy";
  require(write_npy<std::int64_t>(file, ids).has_value(), "no seed of nodes");
  return {"3\n 9 \r\n\n0", get_file(file)};
}

} // namespace

const harness shown_harness{"shown", "answers, as screens and pages show them",
                            read_shown, shown_answers, 2000};
const harness traced_harness{"traced", "traces, as viewers get them",
                             read_traced, traced, 1000};
const harness sweeps_harness{"sweeps", "grids and tables of sweeps", read_sweep,
                             sweeps, 2000};
const harness node_lists_harness{"node_lists", "lists of nodes to predict",
                                 read_nodes, node_lists, 2000};

} // namespace graphmill::fuzz
