#include "pipelines/figures/cluster_feed.hpp"

#include "tests/pipelines/figures/told_figures.hpp"
#include "tests/support/catch.hpp"

#include <string>
#include <thread>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

cluster_event event_of(std::string text) {
  return {.kind = event_kind::joined, .who = "a", .text = std::move(text)};
}

run_record record_of(std::string id, run_state state,
                     std::string message = {}) {
  run_record out;
  out.id = std::move(id);
  out.state = state;
  out.message = std::move(message);
  out.summary = R"({"daemons": {"a": 1}, "stages": [], "steps": 3})";
  return out;
}

std::vector<std::string> texts_in(const event_ring::page& page) {
  std::vector<std::string> out;
  for (const auto& event : page.events)
    out.push_back(event.text);
  return out;
}

} // namespace

CATCH_TEST_CASE("events are asked from a number on", "[cluster_feed]") {
  using texts = std::vector<std::string>;
  event_ring ring{50};
  CATCH_CHECK(ring.since(0).next == 50);
  for (const auto* text : {"first", "second", "third"})
    ring.add(event_of(text));
  CATCH_CHECK(texts_in(ring.since(0)) == texts{"first", "second", "third"});
  CATCH_CHECK(ring.since(0).next == 53);
  CATCH_CHECK(texts_in(ring.since(52)) == texts{"third"});
  CATCH_CHECK(ring.since(52).events.front().seq == 52);
  CATCH_CHECK(ring.since(53).events.empty());
  CATCH_CHECK(ring.since(54).events.size() == 3); // Somebody else's number.
}

CATCH_TEST_CASE("a ring of events has a bound", "[cluster_feed]") {
  event_ring ring;
  for (std::size_t e = 0; e < event_ring::most + 5; ++e)
    ring.add(event_of(std::to_string(e)));
  const auto page = ring.since(0);
  CATCH_CHECK(page.events.size() == event_ring::most);
  CATCH_CHECK(page.events.front().seq == 5);
  CATCH_CHECK(page.events.front().text == "5");
  CATCH_CHECK(page.next == event_ring::most + 5);
  ring.add({.who = std::string(5000, 'w'), .text = std::string(5000, 't')});
  const auto last = ring.since(page.next).events.front();
  CATCH_CHECK(last.who.size() == event_ring::most_bytes);
  CATCH_CHECK(last.text.size() == event_ring::most_bytes);
  CATCH_CHECK_THAT(last.text, contains("t..."));
}

CATCH_TEST_CASE("events of a ring before keep their numbers",
                "[cluster_feed]") {
  using texts = std::vector<std::string>;
  std::vector<cluster_event> before;
  for (const auto* text : {"old", "older"}) {
    before.push_back(event_of(text));
    before.back().seq = 10 * before.size();
  }
  std::vector<std::uint64_t> kept;
  cluster_feed feed;
  feed.begin(50, before, [&kept](const cluster_event& event) {
    kept.push_back(event.seq);
  });
  feed.tell(event_of("new"));
  feed.note(record_of("r", run_state::queued), unix_time{1});
  CATCH_CHECK(kept == std::vector<std::uint64_t>{50, 51});
  CATCH_CHECK(texts_in(feed.events(0))
              == texts{"old", "older", "new", "queued"});
  // Who has seen some of those goes on where it was.
  CATCH_CHECK(texts_in(feed.events(11)) == texts{"older", "new", "queued"});
  CATCH_CHECK(texts_in(feed.events(21)) == texts{"new", "queued"});
  CATCH_CHECK(texts_in(feed.events(51)) == texts{"queued"});
  CATCH_CHECK(feed.events(52).events.empty());
  CATCH_CHECK(feed.events(53).events.size() == 4); // Somebody else's number.
}

CATCH_TEST_CASE("what becomes of a run are events", "[cluster_feed]") {
  cluster_feed feed;
  feed.begin(7);
  feed.recall({{record_of("old", run_state::finished),
                record_of("older", run_state::failed)},
               false});
  CATCH_CHECK(feed.events(0).events.empty());
  feed.note(record_of("r", run_state::queued), unix_time{1});
  feed.note(record_of("r", run_state::queued, "waits: no daemon"),
            unix_time{2});
  feed.note(record_of("r", run_state::running), unix_time{3});
  feed.note(record_of("r", run_state::running, "went on"), unix_time{4});
  feed.note(record_of("r", run_state::failed, "no disk"), unix_time{5});
  const auto page = feed.events(0);
  CATCH_REQUIRE(page.events.size() == 3);
  CATCH_CHECK(page.events[0].seq == 7);
  CATCH_CHECK(page.events[0].kind == event_kind::queued);
  CATCH_CHECK(page.events[0].text == "queued");
  CATCH_CHECK(page.events[1].kind == event_kind::started);
  CATCH_CHECK(page.events[1].time == unix_time{3});
  CATCH_CHECK(page.events[2].kind == event_kind::ended);
  CATCH_CHECK(page.events[2].text == "failed: no disk");
  CATCH_CHECK(page.events[2].run == "r");
  CATCH_REQUIRE(feed.run("r").has_value());
  CATCH_CHECK(feed.run("r")->message == "no disk");
  CATCH_CHECK(feed.run("r")->summary == R"({"steps":3})");
  CATCH_CHECK(feed.run("old")->state == run_state::finished);
  CATCH_CHECK(!feed.run("other").has_value());
  const auto runs = feed.runs(2);
  CATCH_CHECK(runs.more);
  CATCH_REQUIRE(runs.runs.size() == 2);
  CATCH_CHECK(runs.runs[0].id == "r");
  CATCH_CHECK(runs.runs[1].id == "old");
  CATCH_CHECK(!feed.runs(3).more);
}

CATCH_TEST_CASE("runs that are over make room", "[cluster_feed]") {
  cluster_feed feed;
  feed.note(record_of("waits", run_state::queued), unix_time{1});
  for (std::size_t r = 0; r < cluster_feed::most_runs; ++r) {
    CATCH_CHECK(!feed.runs(1000).more);
    feed.note(record_of(std::to_string(r), run_state::finished), unix_time{2});
  }
  CATCH_CHECK(feed.runs(1000).more);
  CATCH_CHECK(feed.runs(1000).runs.size() == cluster_feed::most_runs);
  CATCH_CHECK(feed.run("waits").has_value());
  CATCH_CHECK(!feed.run("0").has_value());
  CATCH_CHECK(feed.run("1").has_value());
}

CATCH_TEST_CASE("a feed is written while it is read", "[cluster_feed]") {
  constexpr std::uint64_t rounds = 2000;
  cluster_feed feed;
  std::thread writer{[&feed] {
    for (std::uint64_t t = 0; t < rounds; ++t) {
      feed.sample(figures_at(std::int64_t(1000 * t), {"a", "b"}));
      feed.tell(event_of(std::to_string(t)));
    }
  }};
  // Nothing is missed, and nothing comes twice.
  cluster_feed::position at;
  std::uint64_t ticks = 0, events = 0;
  auto whole = true;
  while (at.history < rounds || at.events < rounds) {
    const auto history = feed.history(at.history, 50);
    for (const auto& tick : history.ticks)
      whole = whole && tick->seq == ticks++ && tick->rows.size() == 2;
    at.history = history.next;
    const auto told = feed.events(at.events);
    for (const auto& event : told.events)
      whole = whole && event.seq == events++;
    at.events = told.next;
    std::this_thread::yield();
  }
  writer.join();
  CATCH_CHECK(whole);
  CATCH_CHECK(ticks == rounds);
  CATCH_CHECK(events == rounds);
}
