#include "actors/commands/top/top_screen.hpp"
#include "actors/commands/top/top_writer.hpp"
#include "tests/actors/commands/top/top_fixture.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace graphmill::test {

namespace {

constexpr top_canvas usual{24, 80, false};

std::string foot_of(const top_data& data, const top_view& view) {
  return top_texts_of(top_screen(data, view, usual, 0)).at(22);
}

} // namespace

CATCH_TEST_CASE("a screen of 80 columns and 24 rows", "[top]") {
  const auto screen = top_screen(top_example(), {}, usual, 0);
  const std::vector<std::string> wanted{
    "graphmill top  good-1 running  at tcp://127.0.0.1:7800",
    "verdict   trainers limit the run",
    "progress  train, epoch 1 of 2, step 3 of 8; 100 seeds/s; 20 s left",
    "learning  rate 0.01, loss 0.5000; last checkpoint -",
    "seeds/s _# 100            loss #_ 0.5000            accuracy -",
    "",
    "daemon           state       cpus   mem MB  in MB/s out MB/s"
    " disk MB/s   queue",
    "a                ready        1.5      250      0.3      2.0"
    "       0.0       7",
    "b                draining       -        -        -        -"
    "         -       -",
    "",
    "actor                 daemon   state      busy% wait%   queu"
    "e  items/s   p99 ms",
    "sampler               a        running       50    30       "
    "3     12.5      4.0",
    "trainer 0             a        running       25    75       "
    "4      6.0    250.0",
    "feature proxy 1 -> b  a        waiting        0   100       "
    "0 1.23e+06      0.0",
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
  CATCH_CHECK(top_texts_of(screen) == wanted);
  CATCH_CHECK(screen[0][0].style == top_style::title);
  CATCH_CHECK(screen[1][0].style == top_style::heading);
  CATCH_CHECK(screen[11][0].style == top_style::selected);
  CATCH_CHECK(screen[12][0].style == top_style::plain);
}

CATCH_TEST_CASE("the third curve is that of the metric of the run", "[top]") {
  auto data = top_example();
  data.metric = "f1:fraud";
  data.validations = {0.25, 0.5};
  CATCH_CHECK(top_texts_of(top_screen(data, {}, usual, 0)).at(4)
              == "seeds/s _# 100            loss #_ 0.5000            "
                 "f1:fraud _# 0.5000");
}

CATCH_TEST_CASE("a log is shown from its end", "[top]") {
  auto data = top_example();
  top_view view;
  view.followed = {"a", "good-1"};
  const auto shown = [&] {
    auto lines = top_texts_of(top_screen(data, view, {12, 40, false}, 0));
    CATCH_REQUIRE(lines.size() == 12);
    return std::vector(lines.begin() + 6, lines.begin() + 10);
  };
  using texts = std::vector<std::string>;
  const std::string title = "log of daemon a about run good-1";
  const std::string back = "the latest last; l or escape goes back";
  CATCH_CHECK(shown() == texts{title, back, "asking for it ...", ""});
  data.followed = top_log{"b", ""}; // Another one, which was followed before.
  CATCH_CHECK(shown() == texts{title, back, "asking for it ...", ""});
  data.followed = view.followed;
  CATCH_CHECK(shown()
              == texts{title, back, "the coordinator knows no line of it", ""});
  const auto add = [&data](log_level level, const char* text) {
    data.log.push_back({unix_time{0}, level, "a", "good-1", "", "run", text});
  };
  add(log_level::warn, "first");
  add(log_level::warn, "second");
  CATCH_CHECK(shown() == texts{title, back, "- warn  first", "- warn  second"});
  // One that is longer than the screen is wide, and not to be trusted.
  add(log_level::info, "a third \x1b of many words that goes on");
  CATCH_CHECK(shown()
              == texts{title, back, "- info  a third \\u001b of many words",
                       "         that goes on"});
  view.followed->run.clear();
  CATCH_CHECK(shown()[0] == "log of daemon a");
}

CATCH_TEST_CASE("of several runs the screen says which one it shows", "[top]") {
  auto data = top_example();
  data.cluster->running = "wide-2";
  data.cluster->also_running = {"good-1"};
  const auto shown = [&data] {
    return top_texts_of(top_screen(data, {}, {12, 80, false}, 0));
  };
  CATCH_CHECK(shown()[0]
              == "graphmill top  good-1 running, 2 of 2 that are on"
                 "  at tcp://127.0.0.1:7800");
  CATCH_CHECK(shown()[11]
              == "q end  n run  s, r sort  / filter  tab  enter "
                 "open  l log  d drain  c cancel");
  data.cluster->also_running = {"deep-3"};
  CATCH_CHECK(shown()[0]
              == "graphmill top  good-1 running, 2 others on"
                 "  at tcp://127.0.0.1:7800");
}

CATCH_TEST_CASE("a wide screen shows more of each row", "[top]") {
  const auto lines =
    top_texts_of(top_screen(top_example(), {}, {50, 160, true}, 0));
  CATCH_REQUIRE(lines.size() == 50);
  CATCH_CHECK(lines[2] == "          one");
  CATCH_CHECK(lines[3] == "          two");
  CATCH_CHECK(lines[6]
              == "seeds/s ▁█ 100                                       loss █▁ "
                 "0.5000                                       accuracy -");
  // The table of figures may get more columns.
  CATCH_CHECK(
    lines[8].starts_with("daemon                   state       cpus   mem MB "
                         "threads  in MB/s out MB/s disk MB/s   load"));
  CATCH_CHECK(lines[8].ends_with("   queue host           note"));
  CATCH_CHECK(
    lines[10].starts_with("b                        draining       -        - "
                          "      -        -        -         -      -"));
  CATCH_CHECK(lines[10].ends_with("       - h2             it rests"));
  CATCH_CHECK(lines[12]
              == "actor                          daemon           state      b"
                 "usy% input% credit% reply%   queue  items/s   p50 ms   p99 ms"
                 " workers restarts");
  CATCH_CHECK(lines[13]
              == "sampler                        a                running     "
                 "  50     10      20      0       3     12.5      1.0      4.0"
                 "       2        1");
}

CATCH_TEST_CASE("a screen of any size is filled and not left", "[top]") {
  auto data = top_example();
  auto& actors = data.health->daemons[0].actors;
  actors.resize(200, actors[0]);
  top_view opened;
  opened.opened = true;
  opened.actor = top_actor_id{"a", "trainer 0", 0};
  top_view lost = opened;
  lost.actor->label = "nobody";
  top_view asked;
  asked.asked = {top_command::kind::cancel, "good-1"};
  asked.pane = top_pane::daemons;
  for (const auto& canvas :
       {top_canvas{1, 1}, top_canvas{10, 500}, top_canvas{500, 10},
        top_canvas{5, 3, true}, top_canvas{6, 2}, top_canvas{7, 80, true},
        top_canvas{1, 500}, top_canvas{0, 0}, top_canvas{-1, -1}})
    for (const auto& view : {top_view{}, opened, lost, asked})
      for (const auto& known : {data, top_data{}}) {
        const auto lines = top_screen(known, view, canvas, 1e9);
        CATCH_CHECK(lines.size() == std::size_t(std::max(canvas.rows, 0)));
        for (const auto& line : lines)
          CATCH_CHECK(cell_count(top_text_of(line))
                      <= std::size_t(std::max(canvas.columns, 0)));
      }
}

CATCH_TEST_CASE("an address stands in the title whole or not at all", "[top]") {
  const auto title = [](int columns) {
    return top_text_of(
      top_screen(top_example(), {}, {24, columns, false}, 0).front());
  };
  const std::string whole =
    "graphmill top  good-1 running  at tcp://127.0.0.1:7800";
  CATCH_CHECK(title(int(whole.size())) == whole);
  CATCH_CHECK(title(int(whole.size()) - 1)
              == "graphmill top  good-1 running"
                   + std::string(whole.size() - 30, ' '));
}

CATCH_TEST_CASE("the selected row of a long table is shown", "[top]") {
  auto data = top_example();
  auto& actors = data.health->daemons[0].actors;
  actors.resize(200, actors[0]);
  top_view view;
  view.actor = top_actor_id{"a", "sampler", 196}; // The last but one.
  const auto screen = top_screen(data, view, usual, 0);
  // Eleven rows are left from the twelfth line on.
  CATCH_CHECK_THAT(top_text_of(screen[10]), contains("p99 ms"));
  CATCH_CHECK(screen[20][0].style == top_style::selected);
  CATCH_CHECK(screen[21][0].style == top_style::plain);
}

CATCH_TEST_CASE("a cluster that is gone is said, with what was told last",
                "[top]") {
  auto data = top_example();
  data.trouble = "nobody answers";
  const auto lines = top_texts_of(top_screen(data, {}, usual, 7.4));
  CATCH_CHECK(lines[1] == "nothing new for 7 s, trying again: nobody answers");
  CATCH_CHECK_THAT(lines[11], contains("sampler"));
}

CATCH_TEST_CASE("a cluster that lets a question wait is said", "[top]") {
  const auto second_line = [](double silence) {
    return top_texts_of(top_screen(top_example(), {}, usual, silence))[1];
  };
  CATCH_CHECK(second_line(4.9) == "verdict   trainers limit the run");
  CATCH_CHECK(second_line(5) == "nothing new for 5 s");
  CATCH_CHECK(second_line(12.4) == "nothing new for 12 s");
}

CATCH_TEST_CASE("what others say cannot command the terminal", "[top]") {
  auto data = top_example();
  data.health->verdict.sentence =
    "red\x1b[31m\nlines \xff \xe2\x80\xae \xe4\xb8\xad \xc3\xa9";
  data.health->daemons[0].actors[0].why = "a\tb\x07";
  data.health->daemons[0].daemon = "x\x1b]0;y\x07";
  top_view view;
  view.opened = true;
  view.actor = top_actor_id{data.health->daemons[0].daemon, "sampler", 0};
  for (const auto& how : {top_view{}, view})
    for (const auto unicode : {false, true})
      for (const auto& line : top_screen(data, how, {24, 300, unicode}, 0))
        for (const char c : top_text_of(line)) {
          CATCH_CHECK(static_cast<unsigned char>(c) >= ' ');
          CATCH_CHECK(c != '\x7f');
        }
  const auto plain = top_texts_of(top_screen(data, {}, {24, 300, false}, 0))[1];
  const auto latin = top_texts_of(top_screen(data, {}, {24, 300, true}, 0))[1];
  CATCH_CHECK(plain.substr(plain.size() - 3) == "? ?");
  CATCH_CHECK(latin.substr(latin.size() - 4) == "? \xc3\xa9");
}

CATCH_TEST_CASE("an actor shows all its figures", "[top]") {
  auto data = top_example();
  data.health->daemons[0].actors[0].last_error = "it fell";
  top_view view;
  view.opened = true;
  view.actor = top_actor_id{"a", "sampler", 0};
  const auto lines = top_texts_of(top_screen(data, view, usual, 0));
  CATCH_CHECK(lines[6] == "sampler of daemon a");
  CATCH_CHECK(lines[8] == "it fell");
  std::string all;
  for (const auto& line : lines)
    all += line + '\n';
  for (const auto* figure :
       {"kind             sampler", "workers          2", "queue            3",
        "items_per_second 12.5", "p99_latency      0.004", "batch            -",
        "restarts         1"})
    CATCH_CHECK_THAT(all, contains(figure));
  // Where there is no room for all, none is cut.
  auto low = usual;
  low.rows = 17;
  all.clear();
  for (const auto& line : top_texts_of(top_screen(data, view, low, 0)))
    all += line + '\n';
  CATCH_CHECK_THAT(all, contains(" more figures"));
  CATCH_CHECK_THAT(all, contains("items_per_second 12.5"));
  view.actor->nth = 1;
  CATCH_CHECK_THAT(top_texts_of(top_screen(data, view, usual, 0))[6],
                   contains("not there any more"));
}

CATCH_TEST_CASE("the line above the keys says what matters", "[top]") {
  auto data = top_example();
  top_view view;
  view.sort = 2;
  view.reversed = true;
  view.filter = "tr";
  CATCH_CHECK(foot_of(data, view) == "sorted by busy%, reversed; only \"tr\"");
  view.only = "a";
  CATCH_CHECK(foot_of(data, view)
              == "sorted by busy%, reversed; of daemon a; only \"tr\"");
  data.health->daemons[0].long_work = {"sampler: 40 s at a job", "another"};
  CATCH_CHECK(foot_of(data, view) == "a: sampler: 40 s at a job");
  data.cluster->note = "the disk is full";
  CATCH_CHECK(foot_of(data, view) == "the disk is full");
  view.pane = top_pane::daemons;
  view.daemon = "b";
  CATCH_CHECK(foot_of(data, view) == "b: it rests");
  view.message = "done";
  CATCH_CHECK(foot_of(data, view) == "done");
  view.typing = true;
  CATCH_CHECK(foot_of(data, view) == "filter: tr_");
  view.asked = {top_command::kind::drain, "b"};
  CATCH_CHECK(foot_of(data, view)
              == "press y to drain daemon b: no new runs for it; other keys: "
                 "no");
}

CATCH_TEST_CASE("curves lie between their least and largest value", "[top]") {
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  const auto large = std::numeric_limits<double>::max();
  CATCH_CHECK(top_curve({0, 1, 2, 3, 4, 5, 6, 7}, 8, false) == "_.-:=+*#");
  CATCH_CHECK(top_curve({9, 0, 8}, 2, true) == "▁█");
  CATCH_CHECK(top_curve({5, 5}, 8, false) == "==");
  CATCH_CHECK(top_curve({1, nan, 2}, 8, false) == "_ #");
  CATCH_CHECK(top_curve({-large, large, 0}, 8, false) == "_#=");
  CATCH_CHECK(top_curve({nan}, 8, false) == " ");
  CATCH_CHECK(top_curve({1, 2}, 0, false).empty());
  std::vector<double> history;
  for (std::size_t i = 0; i <= most_top_values; ++i)
    remember_value(history, double(i));
  CATCH_CHECK(history.size() == most_top_values);
  CATCH_CHECK(history.front() == 1);
}

} // namespace graphmill::test
