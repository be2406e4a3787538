#include "actors/http/api/api_pages.hpp"

#include "actors/http/api/page_files.hpp"
#include "pipelines/figures/figure_tables.hpp"
#include "pipelines/figures/status_json.hpp"
#include "tests/actors/http/raw_client.hpp"
#include "tests/actors/http/served_page.hpp"
#include "tests/pipelines/figures/told_figures.hpp"
#include "tests/support/catch.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>

using namespace graphmill;
using namespace graphmill::test;
using nlohmann::json;

namespace {

/// The API of a board and a feed that a test fills.
struct told_api {
  std::shared_ptr<figures_board> board = std::make_shared<figures_board>();
  std::shared_ptr<cluster_feed> feed = std::make_shared<cluster_feed>();
  std::shared_ptr<log_ring> logs =
    std::make_shared<log_ring>(log_ring::of_cluster);
  http_server::options with{};

  told_api() {
    feed->begin(100);
    add_api(with, board, feed, logs);
  }

  http_answer get(const std::string& path, const std::string& query = {}) {
    auto page = with.pages.find(path);
    if (page == with.pages.end())
      page = with.pages.find(path.substr(0, path.rfind('/') + 1));
    CATCH_REQUIRE(page != with.pages.end());
    return page->second({path, query, {}});
  }

  json read(const std::string& path, const std::string& query = {}) {
    const auto answer = get(path, query);
    CATCH_REQUIRE(answer.status == 200);
    CATCH_CHECK(answer.type == "application/json");
    return json::parse(*answer.body);
  }

  void leave(const cluster_figures& figures) {
    feed->sample(figures);
    board->leave(figures);
  }

  http_stream_source stream(const std::string& query,
                            const std::string& last_event_id) {
    return with.streams.at("/api/stream")(
      {"/api/stream", query, last_event_id});
  }
};

/// A tick of a stream, taken apart.
struct told_tick {
  std::string id;
  json data;
};
told_tick tick_of(const http_stream_source& source) {
  const auto text = *source();
  const std::string middle = "\nevent: tick\ndata: ";
  const auto at = text.find(middle);
  CATCH_REQUIRE(text.starts_with("id: "));
  CATCH_REQUIRE(at != std::string::npos);
  CATCH_REQUIRE(text.ends_with("\n\n"));
  const auto data = text.substr(at + middle.size());
  CATCH_CHECK(data.find('\n') == data.size() - 2);
  return {text.substr(4, at - 4), json::parse(data)};
}

cluster_figures figures_of_run(std::int64_t time) {
  auto out = figures_at(time, {"a"});
  out.address = "tcp://127.0.0.1:4711";
  out.status.coordinator = "a";
  out.status.running = "r";
  out.status.daemons[0].parts = {0};
  out.status.daemons[0].load = load_of(1.25);
  auto& run = out.runs.emplace_back();
  run.health.run = "r";
  auto& progress = run.health.progress.emplace();
  progress.epoch = 1;
  progress.epochs = 3;
  progress.step = 12;
  progress.steps = 40;
  progress.learning_rate = 0.01;
  progress.seeds_per_second = 5120;
  run.health.daemons = {
    health_of("a", {actor_of(actor_kind::sampler, 1, 0.1, 0.5)})};
  return out;
}

run_record run_in(run_state state, const std::string& message = {}) {
  run_record out;
  out.id = "r";
  out.state = state;
  out.message = message;
  return out;
}

/// One second of daemon "a" by its fields: the table of figures may get more of
/// them.
json sample_of(const json& history, std::size_t second) {
  const auto& told = history["daemons"]["a"];
  const auto& row = told["rows"].at(second);
  CATCH_CHECK(told["fields"].front() == "time");
  CATCH_CHECK(told["fields"].back() == "state");
  CATCH_REQUIRE(row.size() == told["fields"].size());
  json out;
  for (std::size_t i = 0; i < row.size(); ++i)
    out[told["fields"][i].get<std::string>()] = row[i];
  return out;
}

/// Whether all that is expected is there.
bool has_all(const json& got, const json& expected) {
  for (const auto& [name, value] : expected.items())
    if (!got.contains(name) || got[name] != value)
      return false;
  return true;
}

} // namespace

CATCH_TEST_CASE("the API tells what `status --json` does", "[api]") {
  told_api api;
  CATCH_CHECK(api.get("/api/status").status == 503);
  const auto figures = figures_of_run(1000);
  api.leave(figures);
  const auto status = api.read("/api/status");
  CATCH_CHECK(status == status_json(figures.address, figures.status));
  CATCH_CHECK(status["cluster"] == "tcp://127.0.0.1:4711");
  CATCH_CHECK(status["running"] == "r");
  CATCH_CHECK(status["daemons"][0]["load"]["memory_bytes"] == 104'857'600);
  CATCH_CHECK(status["daemons"][0]["load"]["host_load"] == 3);
  CATCH_CHECK(status["owners"]
              == json::parse(R"([{"part": 0, "daemons": ["a"]}])"));
}

CATCH_TEST_CASE("the API tells of a run, whatever its state", "[api]") {
  told_api api;
  for (const auto* unknown : {"r", "", "..", "%72"})
    CATCH_CHECK(api.get(std::string{"/api/runs/"} + unknown).status == 404);
  api.feed->note(run_in(run_state::queued, "waits: for a"), unix_time{1});
  CATCH_CHECK(api.read("/api/runs/r")
              == json{{"run", "r"},
                      {"state", "queued"},
                      {"message", "waits: for a"},
                      {"summary", nullptr}});
  api.feed->note(run_in(run_state::running), unix_time{2});
  CATCH_CHECK(api.get("/api/runs/r").status == 503);
  const auto figures = figures_of_run(1000);
  api.leave(figures);
  auto run = api.read("/api/runs/r");
  CATCH_CHECK(run["state"] == "running");
  CATCH_CHECK(run["progress"]["step"] == 12);
  CATCH_CHECK(run["progress"]["loss"].is_null());
  CATCH_CHECK(run["daemons"][0]["actors"][0]["kind"] == "sampler");
  CATCH_CHECK(
    run == json::parse(run_status_json(figures.runs.front().health).dump()));
  // Made once of the same figures, however many ask.
  const auto body = api.get("/api/runs/r").body;
  CATCH_CHECK(api.get("/api/runs/r").body == body);
  auto later = figures;
  later.runs.front().health.progress->step = 13;
  later.runs.front().feeds = true;
  api.leave(later);
  CATCH_CHECK(api.read("/api/runs/r")["progress"]["step"] == 13);
  CATCH_CHECK(api.read("/api/runs/r")["feeds"] == true);
  const auto runs = api.read("/api/runs");
  CATCH_CHECK(runs["more"] == false);
  CATCH_CHECK(runs["runs"][0]["run"] == "r");
  CATCH_CHECK(runs["runs"][0]["state"] == "running");
  CATCH_CHECK(runs["runs"][0]["summary"].is_null());
  // Its end is known before the figures know it.
  api.feed->note(run_in(run_state::failed, "no disk"), unix_time{3});
  CATCH_CHECK(api.read("/api/runs/r")["state"] == "failed");
}

CATCH_TEST_CASE("the API tells history and events by rows", "[api]") {
  told_api api;
  CATCH_CHECK(api.read("/api/history")
              == json::parse(R"({"now": null, "next": 100, "more": false,
                       "daemons": {}, "runs": {}})"));
  api.leave(figures_at(1'500, {"a"}));
  api.leave(figures_of_run(2'500));
  auto last = api.read("/api/history", "since=101");
  CATCH_CHECK(has_all(sample_of(last, 0), json::parse(R"({
      "time": 2.5, "cores": 1.25, "memory_bytes": 104857600,
      "received_per_second": 2048, "sent_per_second": 1024.5,
      "disk_read_per_second": 4096, "disk_written_per_second": 0.5,
      "host_load": 3, "state": "ready"})")));
  CATCH_CHECK(last["daemons"].size() == 1);
  last.erase("daemons");
  CATCH_CHECK(last == json::parse(R"({
      "now": 2.5, "next": 102, "more": false,
      "runs": {"r": {
        "fields": ["time", "phase", "epoch", "epochs", "step", "steps", "loss",
                   "learning_rate", "seeds_per_second", "checkpoint_age"],
        "rows": [[2.5, "train", 1, 3, 12, 40, null, 0.01, 5120, null]],
        "stages": {"sampler": {
          "fields": ["time", "busy", "starved", "stalled", "waiting"],
          "rows": [[2.5, 0.1, 0.5, 0, 0]]}}}}})"));
  const auto all = api.read("/api/history");
  CATCH_CHECK(all["daemons"]["a"]["rows"].size() == 2);
  const auto early = sample_of(all, 0); // When nobody had told of "a" yet.
  for (const auto& [name, value] : early.items())
    if (name != "time" && name != "state") {
      CATCH_INFO(name);
      CATCH_CHECK(value.is_null());
    }
  CATCH_CHECK(api.read("/api/history", "x=1&since=102")["daemons"].empty());
  api.feed->tell({.time = unix_time{2'250},
                  .kind = event_kind::joined,
                  .who = "b\xff",
                  .text = "daemon b has joined"});
  CATCH_CHECK(api.read("/api/events", "since=100")
              == json::parse(R"({"next": 101, "events": [
                {"seq": 100, "time": 2.25, "kind": "joined", "who": "b\ufffd",
                 "run": "", "text": "daemon b has joined"}]})"));
  CATCH_CHECK(api.read("/api/events", "since=101")["events"].empty());
  for (const auto* wrong : {"since=", "since=x", "since=-1", "since=1.5",
                            "since=99999999999999999999", "since=1&since=x"}) {
    CATCH_INFO(wrong);
    const auto refused = std::string{wrong} != "since=1&since=x";
    for (const auto* path : {"/api/history", "/api/events"})
      CATCH_CHECK(api.get(path, wrong).status == (refused ? 400 : 200));
  }
}

CATCH_TEST_CASE("the API tells how single actors were", "[api]") {
  told_api api;
  api.leave(figures_of_run(0));
  api.leave(figures_of_run(10'000));
  CATCH_CHECK(api.read("/api/actors", "run=r&daemon=a&kind=sample%72")
              == json::parse(R"({
      "fields": ["time", "seconds", "state", "busy", "starved", "stalled",
                 "waiting", "down", "queue"],
      "actors": [{"kind": "sampler", "part": -1, "rank": -1, "peer": "",
                  "rows": [[0, 10, "starting", 0.1, 0.5, 0, 0, 0, 0]]}]})"));
  for (const auto* other :
       {"run=r&daemon=a&kind=trainer", "run=r&daemon=b", "daemon=a&run=s"})
    CATCH_CHECK(api.read("/api/actors", other)["actors"].empty());
  for (const auto* wrong : {"", "run=r", "daemon=a", "run=r&daemon=%a"})
    CATCH_CHECK(api.get("/api/actors", wrong).status == 400);
}

CATCH_TEST_CASE("history is written once, however many read it", "[api]") {
  told_api api;
  api.leave(figures_at(1'000, {"a"}));
  auto time = 1'000;
  for (const auto* path : {"/api/history", "/api/events"}) {
    CATCH_INFO(path);
    const auto first = api.get(path).body;
    CATCH_CHECK(api.get(path, "since=0").body == first);
    CATCH_CHECK(api.get(path, "since=101").body != first);
    // However many others are asked for.
    for (auto since = 1; since < 1000; ++since)
      api.get(path, fmt::format("since={}", since));
    CATCH_CHECK(*api.get(path).body == *first);
    api.leave(figures_at(time += 1'000, {"a"}));
    CATCH_CHECK(api.get(path).body != first);
  }
  CATCH_CHECK(api.read("/api/history")["daemons"]["a"]["rows"].size() == 3);
}

CATCH_TEST_CASE("a figure that cannot be is not known", "[api]") {
  told_api api;
  auto figures = figures_of_run(1000);
  auto& told = *figures.status.daemons[0].load;
  told.cores = std::numeric_limits<double>::quiet_NaN();
  told.memory_bytes = std::numeric_limits<std::uint64_t>::max();
  told.sent_per_second = std::numeric_limits<double>::infinity();
  api.leave(figures);
  CATCH_CHECK(has_all(sample_of(api.read("/api/history"), 0), json::parse(R"({
      "cores": null, "memory_bytes": null, "received_per_second": 2048,
      "sent_per_second": null, "disk_read_per_second": 4096})")));
}

CATCH_TEST_CASE("a stream tells what is new", "[api]") {
  told_api api;
  const auto early = api.stream({}, {});
  const auto nothing = tick_of(early);
  CATCH_CHECK(nothing.id == "100-100");
  CATCH_CHECK(nothing.data["status"].is_null());
  api.leave(figures_of_run(1000));
  api.feed->note(run_in(run_state::running), unix_time{1});
  auto tick = tick_of(early);
  CATCH_CHECK(tick.id == "101-101");
  CATCH_CHECK(tick.data["status"] == api.read("/api/status"));
  CATCH_CHECK(tick.data["history"]["daemons"]["a"]["rows"].size() == 1);
  CATCH_CHECK(tick.data["events"]["events"].size() == 1);
  tick = tick_of(early);
  CATCH_CHECK(tick.id == "101-101");
  CATCH_CHECK(tick.data["history"]["daemons"].empty());
  CATCH_CHECK(tick.data["events"]["events"].empty());
  // One that begins now, and one that was away meanwhile.
  CATCH_CHECK(tick_of(api.stream({}, {})).data["history"]["daemons"].empty());
  api.leave(figures_of_run(2000));
  for (const auto& late :
       {api.stream({}, nothing.id), api.stream("since=" + nothing.id, {}),
        api.stream({}, "0-0"), api.stream({}, "7777-7777")}) {
    tick = tick_of(late);
    CATCH_CHECK(tick.id == "102-101");
    CATCH_CHECK(tick.data["history"]["daemons"]["a"]["rows"].size() == 2);
    CATCH_CHECK(tick.data["events"]["events"].size() == 1);
  }
  for (const auto* wrong : {"", "-", "1", "1-", "a-b", "1-2-3"}) {
    CATCH_INFO(wrong);
    CATCH_CHECK(tick_of(api.stream(std::string{"since="} + wrong, wrong))
                  .data["history"]["daemons"]
                  .empty());
  }
}

CATCH_TEST_CASE("streams at the same place share their text", "[api]") {
  told_api api;
  const auto one = api.stream({}, {});
  const auto other = api.stream({}, {});
  api.leave(figures_of_run(1000));
  const auto text = one();
  CATCH_CHECK(other() == text);
  CATCH_CHECK(one() != text);
}

CATCH_TEST_CASE("the web page is a part of the program", "[api]") {
  http_server::options with;
  add_web_page(with);
  std::set<std::string> paths{"/"};
  for (const auto& file : page_files()) {
    const auto path = "/page/" + std::string{file.name};
    CATCH_INFO(path);
    paths.insert(path);
    CATCH_REQUIRE(with.pages.contains(path));
    const auto answer = with.pages[path]({path, {}, {}});
    CATCH_CHECK(answer.status == 200);
    CATCH_CHECK(*answer.body == file.content);
    CATCH_CHECK(answer.type == file.type);
    CATCH_CHECK(answer.etag == '"' + std::string{file.digest} + '"');
  }
  // And what it shows, by the tables of figures.
  const std::string figures = "/page/data/figures.js";
  paths.insert(figures);
  CATCH_CHECK(paths.size() == with.pages.size());
  const auto served = with.pages.at(figures)({figures, {}, {}});
  CATCH_CHECK(served.type == "text/javascript; charset=utf-8");
  const auto list_of = [&served](const std::string& name) {
    const auto begin = served.body->find("export const " + name + " = ");
    CATCH_REQUIRE(begin != std::string::npos);
    const auto from = served.body->find('[', begin);
    return json::parse(
      served.body->substr(from, served.body->find("];\n", from) + 1 - from));
  };
  const auto daemons = list_of("DAEMON_FIGURES");
  CATCH_CHECK(daemons.size() >= 7);
  CATCH_CHECK(daemons[1]["name"] == "memory_bytes");
  CATCH_CHECK(daemons[1]["unit"] == "bytes");
  CATCH_CHECK(daemons[1]["title"] == "Memory");
  const auto runs = list_of("RUN_FIGURES");
  CATCH_REQUIRE(runs.size() == fields_in(figures::progress));
  CATCH_CHECK(runs[0]["name"] == "epoch");
  CATCH_CHECK(runs[0]["title"] == ""); // It has no curve.
  CATCH_CHECK(runs[4]["unit"] == "loss");
  CATCH_CHECK(runs[4]["title"] == "Loss of training");
  const auto stages = list_of("STAGE_FIGURES");
  CATCH_REQUIRE(stages.size() == fields_in(figures::actor));
  CATCH_CHECK(stages[3]["name"] == "waiting");
  CATCH_CHECK(stages[3]["unit"] == "ratio");
  CATCH_CHECK(list_of("CURVED_STAGES")
              == json{"sampler", "fetcher", "batcher", "trainer",
                      "sampling service", "feature service"});
  CATCH_CHECK(with.streams.empty());
  CATCH_CHECK(paths.contains("/page/page.js"));
  CATCH_CHECK(paths.contains("/page/data/store.js")); // Of a folder.
  CATCH_CHECK(!paths.contains("/page/store.js"));
  const auto index = with.pages["/"]({"/", {}, {}});
  CATCH_CHECK(index.type == "text/html; charset=utf-8");
  CATCH_CHECK(index.body == with.pages["/page/index.html"]({}).body);
}

CATCH_TEST_CASE("the web page's folders are served, and nothing beside them",
                "[api]") {
  http_server::options with;
  with.listen = "127.0.0.1:0";
  add_web_page(with);
  const auto server = started(std::move(with));
  raw_client client{*server};
  for (const auto* path : {"/page/page.js", "/page/data/store.js"}) {
    const auto got = client.ask(request_for(path));
    CATCH_INFO(path);
    CATCH_CHECK(got.status == 200);
    for (const auto* line :
         {"Content-Type: text/javascript; charset=utf-8\r\n",
          "Content-Security-Policy: default-src 'self'; frame-ancestors "
          "'none'\r\n",
          "Cache-Control: no-cache\r\n"})
      CATCH_CHECK_THAT(got.head, contains(line));
  }
  for (const auto* path :
       {"/page", "/page/", "/page/data", "/page/data/", "/page/store.js",
        "/page/data/page.js", "/page/data/../page.js", "/page/data//store.js",
        "/page//data/store.js", "/page/./data/store.js",
        "/page/data%2fstore.js", "/page/data/%2e%2e/page.js",
        "/page/data/../../../etc/passwd", "/page/data/meson.build",
        "/data/store.js"}) {
    CATCH_INFO(path);
    CATCH_CHECK(client.ask(request_for(path)).status == 404);
  }
}

CATCH_TEST_CASE("the API tells lines of logs by run, daemon and level",
                "[api]") {
  told_api api;
  json none{{"next", 0}, {"more", false}, {"missing", 0}, {"anew", false}};
  none["lines"] = json::array();
  CATCH_CHECK(api.read("/api/logs") == none);
  api.logs->add(
    {unix_time{1500}, log_level::info, "d 0", "r", "", "run", "on"});
  api.logs->add(
    {unix_time{2500}, log_level::warn, "d1", "r", "batch 7", "run", "torn"});
  api.logs->add(
    {unix_time{3500}, log_level::error, "d1", "", "", "agent", "x"});
  auto all = api.read("/api/logs");
  CATCH_CHECK(all["next"] == 3);
  CATCH_CHECK(all["lines"].size() == 3);
  CATCH_CHECK(all["lines"][1]
              == json{{"time", 2.5},
                      {"level", "warn"},
                      {"daemon", "d1"},
                      {"run", "r"},
                      {"batch", "batch 7"},
                      {"module", "run"},
                      {"text", "torn"}});
  CATCH_CHECK(api.read("/api/logs", "after=2")["lines"].size() == 1);
  none["next"] = 3;
  CATCH_CHECK(api.read("/api/logs", "after=3") == none);
  all["anew"] = true;
  CATCH_CHECK(api.read("/api/logs", "after=4") == all);
  const auto of = api.read("/api/logs", "run=r&daemon=d%200&level=info");
  CATCH_REQUIRE(of["lines"].size() == 1);
  CATCH_CHECK(of["lines"][0]["text"] == "on");
  CATCH_CHECK(of["next"] == 3);
  CATCH_CHECK(api.read("/api/logs", "runs=x&level=warn")["lines"].size() == 2);
  for (const auto* query :
       {"after=x", "after=-1", "level=loud", "run=%2", "daemon=%zz", "run=%"}) {
    CATCH_INFO(query);
    CATCH_CHECK(api.get("/api/logs", query).status == 400);
  }
}
