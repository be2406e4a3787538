#include "actors/commands/top/top_screen.hpp"
#include "actors/commands/top/top_writer.hpp"
#include "tests/actors/commands/top/top_fixture.hpp"
#include "tests/support/catch.hpp"

#include <string>
#include <vector>

namespace graphmill::test {

namespace {

using lines_of_text = std::vector<std::string>;

/// A run that waits for a daemon, and so has no figures.
top_data waiting_example() {
  auto out = top_example();
  out.health.reset();
  out.rates.clear();
  out.losses.clear();
  out.run->state = run_state::queued;
  out.run->message =
    "has ended an attempt: daemon \"n1\" at tcp://127.0.0.1:17801 is lost: no "
    "sign of life for 15 s; no daemon serves part 1: start one with `graphmill "
    "node --serve 1`";
  return out;
}

const std::string long_verdict =
  "the feature service of part 1 at daemon \"n1\" limits: its workers are busy "
  "97 % of the time; raise fetch.threads, or spread its part over more daemons";

} // namespace

CATCH_TEST_CASE("text is broken at blanks", "[top]") {
  CATCH_CHECK(wrapped("", 9, 3).empty());
  CATCH_CHECK(wrapped("ab", 0, 3).empty());
  CATCH_CHECK(wrapped("  ", 9, 3).empty());
  CATCH_CHECK(wrapped("ab cd ef", 5, 9) == lines_of_text{"ab cd", "ef"});
  CATCH_CHECK(wrapped("ab cd ", 5, 1) == lines_of_text{"ab cd"});
  CATCH_CHECK(wrapped("aaaa bb", 3, 9) == lines_of_text{"aaa", "a", "bb"});
  CATCH_CHECK(wrapped("one two three four", 9, 2)
              == lines_of_text{"one two", "three ..."});
  CATCH_CHECK(wrapped("abc def", 1, 3) == lines_of_text{"a", "b", "."});
  CATCH_CHECK(wrapped("one two three", 9, 9, 2)
              == lines_of_text{"one two", "  three"});
  CATCH_CHECK(wrapped("one two three", 8, 9, 2)
              == lines_of_text{"one two", "three"});
}

CATCH_TEST_CASE("why a run waits is told to its end", "[top]") {
  const auto data = waiting_example();
  const lines_of_text wanted{
    "graphmill top  good-1 queued  at tcp://127.0.0.1:7800",
    "state     queued: has ended an attempt: daemon \"n1\" at "
    "tcp://127.0.0.1:17801 is",
    "          lost: no sign of life for 15 s; no daemon serves part 1: start "
    "one",
    "          with `graphmill node --serve 1`",
    "seeds/s -                 loss -                    accuracy -",
    "",
    "daemon           state       cpus   mem MB  in MB/s out MB/s"
    " disk MB/s   queue",
    "a                ready        1.5      250      0.3      2.0"
    "       0.0       -",
    "b                draining       -        -        -        -"
    "         -       -",
    "",
    "actor                 daemon   state      busy% wait%   queu"
    "e  items/s   p99 ms",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "sorted by daemon",
    "q end  s, r sort  / filter  tab table  enter open  l log  d drain  c "
    "cancel",
  };
  const auto screen = top_screen(data, {}, {24, 80, false}, 0);
  CATCH_CHECK(top_texts_of(screen) == wanted);
  const auto wide = top_texts_of(top_screen(data, {}, {50, 160, false}, 0));
  CATCH_REQUIRE(wide.size() == 50);
  const lines_of_text above{
    "state     queued: has ended an attempt: daemon \"n1\" at "
    "tcp://127.0.0.1:17801 is lost: no sign of life for 15 s; no daemon serves "
    "part 1: start one with",
    "          `graphmill node --serve 1`", ""};
  CATCH_CHECK(lines_of_text(wide.begin() + 1, wide.begin() + 4) == above);
}

CATCH_TEST_CASE("a small screen has the verdict and whole figures", "[top]") {
  auto data = top_example();
  data.health->verdict.sentence = long_verdict;
  data.rates = {17171988};
  data.validations = {0.0834};
  const lines_of_text wanted{
    "graphmill top  good-1 running",
    "verdict   the feature service of part 1",
    "at daemon \"n1\" limits: its workers ar...",
    "progress  train, epoch 1 of 2, step 3 of",
    "learning  rate 0.01, loss 0.5000; last c",
    "see 17171988 loss 0.5000  accur 0.0834",
    "",
    "daemon           state       cpus   mem",
    "sorted by daemon",
    "q end  s, r sort  / filter  tab table  e",
  };
  CATCH_CHECK(top_texts_of(top_screen(data, {}, {10, 40, false}, 0)) == wanted);
  CATCH_CHECK(top_texts_of(top_screen(data, {}, {1, 1, false}, 0))
              == lines_of_text{"g"});
}

CATCH_TEST_CASE("the verdict, and why nobody answers, have their ends",
                "[top]") {
  auto data = top_example();
  data.health->verdict.sentence = long_verdict;
  auto lines = top_texts_of(top_screen(data, {}, {24, 80, false}, 0));
  const lines_of_text verdict{"verdict   the feature service of part 1 at "
                              "daemon \"n1\" limits: its workers are",
                              "          busy 97 % of the time; raise "
                              "fetch.threads, or spread its part over",
                              "          more daemons"};
  CATCH_CHECK(lines_of_text(lines.begin() + 1, lines.begin() + 4) == verdict);
  CATCH_CHECK(lines[4].starts_with("progress  "));
  data.trouble =
    "cannot reach n0 (tcp://127.0.0.1:17800) for 2.0 s: Connection refused. Is "
    "the coordinator up, and is this its address?";
  lines = top_texts_of(top_screen(data, {}, {24, 80, false}, 14));
  const lines_of_text trouble{"nothing new for 14 s, trying again: cannot "
                              "reach n0 (tcp://127.0.0.1:17800) for",
                              "2.0 s: Connection refused. Is the coordinator "
                              "up, and is this its address?"};
  CATCH_CHECK(lines_of_text(lines.begin() + 1, lines.begin() + 3) == trouble);
  CATCH_CHECK(lines[3].starts_with("progress  "));
}

CATCH_TEST_CASE("what stands above the keys has its end", "[top]") {
  auto data = top_example();
  data.cluster->daemons[1].note =
    "its data cannot be used: parts/1/features.npy is 17 bytes shorter than "
    "dataset.json says; restore the file, and it serves again within seconds";
  top_view view;
  view.pane = top_pane::daemons;
  view.daemon = "b";
  const auto lines = top_texts_of(top_screen(data, view, {24, 80, false}, 0));
  const lines_of_text note{
    "b: its data cannot be used: parts/1/features.npy is 17 bytes shorter than",
    "dataset.json says; restore the file, and it serves again within seconds"};
  CATCH_REQUIRE(lines.size() == 24);
  CATCH_CHECK(lines_of_text(lines.begin() + 21, lines.begin() + 23) == note);
  CATCH_CHECK(lines[23].starts_with("q end"));
}

CATCH_TEST_CASE("the table that keys are for is shown", "[top]") {
  const auto styles = [](const top_data& data, const top_view& view,
                         std::size_t daemons, std::size_t actors) {
    const auto screen = top_screen(data, view, {24, 80, false}, 0);
    CATCH_CHECK(top_text_of(screen[daemons]).starts_with("daemon "));
    CATCH_CHECK(top_text_of(screen[actors]).starts_with("actor "));
    return std::vector{screen[daemons][0].style, screen[daemons + 1][0].style,
                       screen[actors][0].style};
  };
  const std::vector upper{top_style::title, top_style::selected,
                          top_style::heading};
  const std::vector lower{top_style::heading, top_style::plain,
                          top_style::title};
  CATCH_CHECK(styles(top_example(), {}, 6, 10) == lower);
  top_view chosen;
  chosen.pane = top_pane::daemons;
  CATCH_CHECK(styles(top_example(), chosen, 6, 10) == upper);
  CATCH_CHECK(styles(waiting_example(), {}, 6, 10) == upper);
}

CATCH_TEST_CASE("long names of actors take cells that daemons leave", "[top]") {
  auto data = top_example();
  data.health->daemons[0].actors[2].peer = "n12";
  const auto lines = top_texts_of(top_screen(data, {}, {24, 80, false}, 0));
  CATCH_CHECK(lines[10].starts_with("actor                  daemon  state "));
  CATCH_CHECK(lines[11].starts_with("sampler                a       running "));
  CATCH_CHECK(lines[13].starts_with("feature proxy 1 -> n12 a       waiting "));
}

CATCH_TEST_CASE("an actor's batch is told in full", "[top]") {
  auto data = top_example();
  auto& sampler = data.health->daemons[0].actors[0];
  sampler.batch.emplace();
  sampler.batch->epoch = 5;
  sampler.batch->step = 2;
  sampler.batch->rank = 3;
  top_view view;
  view.opened = true;
  view.actor = top_actor_id{"a", "sampler", 0};
  const auto lines = top_texts_of(top_screen(data, view, {24, 80, false}, 0));
  CATCH_CHECK(lines[8] == "batch            train, epoch 6, step 3, rank 3");
  CATCH_CHECK_THAT(lines[10], contains("part             -"));
}

CATCH_TEST_CASE("the title tells of trainers and of a later attempt", "[top]") {
  auto data = top_example();
  const auto title = [&data] {
    return top_texts_of(top_screen(data, {}, {24, 80, false}, 0))[0];
  };
  data.health->attempt = 1;
  data.health->trainers = 1;
  CATCH_CHECK(title()
              == "graphmill top  good-1 running, 1 trainer  at "
                 "tcp://127.0.0.1:7800");
  data.health->attempt = 2;
  data.health->trainers = 3;
  CATCH_CHECK(title()
              == "graphmill top  good-1 running, attempt 2, 3 trainers  at "
                 "tcp://127.0.0.1:7800");
}

CATCH_TEST_CASE("a run that is over shows its result", "[top]") {
  auto data = top_example();
  data.health.reset();
  data.run->state = run_state::finished;
  data.result =
    "test accuracy    0.8125\nweights digest   " + std::string(64, 'd') + "\n";
  const auto lines = top_texts_of(top_screen(data, {}, {24, 80, false}, 0));
  CATCH_CHECK(lines[0]
              == "graphmill top  good-1 finished  at tcp://127.0.0.1:7800");
  CATCH_CHECK_THAT(lines[8], contains("b                draining"));
  const lines_of_text below{"",
                            "result",
                            "test accuracy    0.8125",
                            "weights digest",
                            "  " + std::string(64, 'd'),
                            ""};
  CATCH_CHECK(lines_of_text(lines.begin() + 9, lines.begin() + 15) == below);
}

} // namespace graphmill::test
