#include "actors/commands/top/top_keys.hpp"
#include "tests/actors/commands/top/top_fixture.hpp"
#include "tests/support/catch.hpp"

#include <string>
#include <vector>

namespace graphmill::test {

namespace {

using kind = top_key::kind;

/// The view after some letters.
top_view after(top_view view, const std::string& letters,
               const top_data& data = top_example()) {
  for (const char letter : letters)
    view = press(std::move(view), {kind::letter, letter}, data).view;
  return view;
}

top_view after(top_view view, kind key, const top_data& data = top_example()) {
  return press(std::move(view), {key}, data).view;
}

std::vector<std::string> labels(const top_view& view) {
  const auto data = top_example();
  std::vector<std::string> out;
  for (const auto& row : top_actors(data, view))
    out.push_back(row.id.label);
  return out;
}

using texts = std::vector<std::string>;

const std::string proxy = "feature proxy 1 -> b";

} // namespace

CATCH_TEST_CASE("s sorts by each column in turn, r reverses", "[top]") {
  struct column {
    std::string sort;
    texts rows;
  };
  const column columns[]{{"daemon", {"sampler", "trainer 0", proxy}},
                         {"actor", {proxy, "sampler", "trainer 0"}},
                         {"busy%", {"sampler", "trainer 0", proxy}},
                         {"queue", {"trainer 0", "sampler", proxy}},
                         {"items/s", {proxy, "sampler", "trainer 0"}},
                         {"p99 ms", {"trainer 0", "sampler", proxy}}};
  top_view view;
  for (const auto& [sort, rows] : columns) {
    CATCH_INFO(sort);
    CATCH_CHECK(top_sorts().at(view.sort) == sort);
    CATCH_CHECK(labels(view) == rows);
    CATCH_CHECK(labels(after(view, "r")) == texts(rows.rbegin(), rows.rend()));
    view = after(view, "s");
  }
  CATCH_CHECK(view.sort == 0);
}

CATCH_TEST_CASE("q ends, but as a letter of a filter", "[top]") {
  CATCH_CHECK(press({}, {kind::letter, 'q'}, top_example()).end);
  CATCH_CHECK(press({}, {kind::letter, 'q'}, top_data{}).end);
  const auto typing = after({}, "/");
  CATCH_CHECK(typing.typing);
  const auto step = press(typing, {kind::letter, 'q'}, top_example());
  CATCH_CHECK_FALSE(step.end);
  CATCH_CHECK(step.view.filter == "q");
}

CATCH_TEST_CASE("a filter is typed, corrected, kept and taken away", "[top]") {
  auto view = after({}, "/trx");
  view = after(view, kind::backspace);
  CATCH_CHECK(view.filter == "tr");
  view = after(view, kind::enter);
  CATCH_CHECK_FALSE(view.typing);
  CATCH_CHECK(labels(view) == texts{"trainer 0"});
  CATCH_CHECK(after(view, kind::escape).filter.empty());
  const auto dropped = after(after({}, "/tr"), kind::escape);
  CATCH_CHECK_FALSE(dropped.typing);
  CATCH_CHECK(dropped.filter.empty());
  const auto longest = after({}, "/" + std::string(1000, 'x'));
  CATCH_CHECK(longest.filter.size() == longest_top_filter);
}

CATCH_TEST_CASE("the selection moves in the table, not beyond", "[top]") {
  auto view = after({}, kind::down);
  CATCH_CHECK(view.actor == top_actor_id{"a", "trainer 0", 0});
  view = after(view, "j");
  CATCH_CHECK(view.actor->label == proxy);
  view = after(view, kind::page_down);
  CATCH_CHECK(view.actor->label == proxy);
  view = after(view, "k");
  CATCH_CHECK(view.actor->label == "trainer 0");
  CATCH_CHECK(after(view, kind::first).actor->label == "sampler");
  CATCH_CHECK(after(view, kind::last).actor->label == proxy);
  CATCH_CHECK(after(view, kind::page_up).actor->label == "sampler");
  // It stays with its actor when others are sorted past it.
  CATCH_CHECK(after(view, "sr").actor->label == "trainer 0");
  view = after(view, kind::tab);
  CATCH_CHECK(view.pane == top_pane::daemons);
  view = after(view, kind::down);
  CATCH_CHECK(view.daemon == "b");
  CATCH_CHECK(after(view, kind::down).daemon == "b");
  CATCH_CHECK_FALSE(after({}, kind::down, top_data{}).actor);
}

CATCH_TEST_CASE("enter opens an actor, or the actors of a daemon", "[top]") {
  auto view = after({}, kind::enter);
  CATCH_CHECK(view.opened);
  CATCH_CHECK(view.actor == top_actor_id{"a", "sampler", 0});
  CATCH_CHECK_FALSE(after(view, kind::escape).opened);
  view = after(after({}, kind::tab), kind::enter);
  CATCH_CHECK(view.only == "a");
  CATCH_CHECK(view.pane == top_pane::actors);
  CATCH_CHECK_FALSE(after({}, kind::enter, top_data{}).opened);
}

CATCH_TEST_CASE("the actors of a daemon are those of no other one", "[top]") {
  auto data = top_example();
  // Others whose name begins like it, or whose actors have to do with it.
  auto other = data.health->daemons[0];
  other.daemon = "b1";
  data.health->daemons.push_back(other);
  other.daemon = "b";
  other.actors.resize(1);
  data.health->daemons.push_back(other);
  auto view = after(after({}, kind::tab, data), kind::down, data);
  CATCH_CHECK(view.daemon == "b");
  view = after(view, kind::enter, data);
  auto rows = top_actors(data, view);
  CATCH_REQUIRE(rows.size() == 1);
  CATCH_CHECK(rows[0].id == top_actor_id{"b", "sampler", 0});
  view.filter = "trainer";
  CATCH_CHECK(top_actors(data, view).empty());
  view = after(view, kind::escape, data);
  CATCH_CHECK(view.only == "b");
  CATCH_CHECK(top_actors(data, view).size() == 1);
  CATCH_CHECK(top_actors(data, after(view, kind::escape, data)).size() == 7);
}

CATCH_TEST_CASE("what changes something is done after y alone", "[top]") {
  const auto data = top_example();
  const top_command drain_a{top_command::kind::drain, "a"};
  const top_command serve_b{top_command::kind::serve_again, "b"};
  const top_command cancel{top_command::kind::cancel, "good-1"};
  // The daemon of the actor; the one that is selected; the run.
  const auto of_actor = press({}, {kind::letter, 'd'}, data);
  CATCH_CHECK_FALSE(of_actor.command);
  CATCH_CHECK(of_actor.view.asked == drain_a);
  const auto of_daemon = after(after(after({}, kind::tab), kind::down), "d");
  CATCH_CHECK(of_daemon.asked == serve_b);
  const auto of_run = after({}, "c");
  CATCH_CHECK(of_run.asked == cancel);

  const auto done = press(of_run, {kind::letter, 'y'}, data);
  CATCH_CHECK(done.command == cancel);
  CATCH_CHECK_FALSE(done.view.asked);
  for (const auto& no : {top_key{kind::letter, 'n'}, top_key{kind::letter, 'q'},
                         top_key{kind::letter, 'Y'}, top_key{kind::enter},
                         top_key{kind::escape}}) {
    const auto step = press(of_run, no, data);
    CATCH_CHECK_FALSE(step.command);
    CATCH_CHECK_FALSE(step.view.asked);
    CATCH_CHECK_FALSE(step.end);
  }
  // Another size of the terminal is no answer.
  CATCH_CHECK(after(of_run, kind::resize).asked == cancel);
}

CATCH_TEST_CASE("l follows the log of a daemon, or of an actor's", "[top]") {
  const top_log of_actor{"a", "good-1"};
  const top_log of_daemon{"b", ""};
  auto view = after({}, "l");
  CATCH_CHECK(view.followed == of_actor);
  // Nothing is sorted or moved meanwhile, but the cluster can be commanded.
  const auto same = after(after(after(view, "sr/"), kind::down), kind::enter);
  CATCH_CHECK(same.followed == of_actor);
  CATCH_CHECK(same.sort == view.sort);
  CATCH_CHECK_FALSE(same.reversed);
  CATCH_CHECK_FALSE(same.typing);
  CATCH_CHECK_FALSE(same.actor);
  CATCH_CHECK_FALSE(same.opened);
  CATCH_CHECK(after(view, "c").asked
              == top_command{top_command::kind::cancel, "good-1"});
  CATCH_CHECK(press(view, {kind::letter, 'q'}, top_example()).end);
  CATCH_CHECK_FALSE(after(view, "l").followed);
  CATCH_CHECK_FALSE(after(view, kind::escape).followed);
  view = after(after(after({}, kind::tab), kind::down), "l");
  CATCH_CHECK(view.followed == of_daemon);
  const auto nobody = after({}, "l", top_data{});
  CATCH_CHECK_FALSE(nobody.followed);
  CATCH_CHECK(nobody.message
              == "there is no daemon whose log could be followed");
}

CATCH_TEST_CASE("there may be nothing to change", "[top]") {
  auto over = top_example();
  over.run->state = run_state::finished;
  const auto view = after({}, "c", over);
  CATCH_CHECK_FALSE(view.asked);
  CATCH_CHECK(view.message == "run good-1 is over: finished");
  CATCH_CHECK(after({}, "c", top_data{}).message
              == "there is no run to cancel");
  CATCH_CHECK(after({}, "d", top_data{}).message
              == "there is no daemon to drain");
}

CATCH_TEST_CASE("keys are for the daemons while there are no actors", "[top]") {
  auto idle = top_example();
  idle.health.reset();
  const top_command drain_a{top_command::kind::drain, "a"};
  CATCH_CHECK(after({}, "d", idle).asked == drain_a);
  const auto moved = after({}, kind::down, idle);
  CATCH_CHECK(moved.daemon == "b");
  CATCH_CHECK(moved.pane == top_pane::daemons);
  CATCH_CHECK(after({}, kind::enter, idle).only == "a");
  CATCH_CHECK(after({}, kind::tab, idle).pane == top_pane::actors);
}

CATCH_TEST_CASE("n shows the runs that are on, one after the other", "[top]") {
  auto data = top_example();
  CATCH_CHECK(after({}, "n", data).message == "no other run is on");
  data.cluster->running = "good-1";
  CATCH_CHECK(after({}, "n", data).message == "no other run is on");
  data.cluster->also_running = {"wide-2", "deep-3"};
  const auto view = after(after({}, kind::enter, data), "n", data);
  CATCH_CHECK(view.run == "wide-2");
  CATCH_CHECK_FALSE(view.opened);
  CATCH_CHECK_FALSE(view.actor);
  // Before the one that was chosen has been told of, too.
  auto next = after(view, "n", data);
  CATCH_CHECK(next.run == "deep-3");
  next.only = "a";
  next = after(next, "n", data);
  CATCH_CHECK(next.run == "good-1");
  CATCH_CHECK(next.only.empty());
  CATCH_CHECK_FALSE(is_choice_over(data, next));
  data.run->state = run_state::finished;
  CATCH_CHECK(is_choice_over(data, next));
  CATCH_CHECK_FALSE(is_choice_over(data, view));
  // It is over, and another one is on.
  data.run->id = "old-0";
  data.cluster->also_running.clear();
  CATCH_CHECK(after(view, "n", data).run == "good-1");
}

} // namespace graphmill::test
