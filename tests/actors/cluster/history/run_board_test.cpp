#include "actors/cluster/history/run_board.hpp"
#include "tests/support/catch.hpp"

using namespace graphmill;

namespace {

run_news metrics(int number) {
  return {std::to_string(number), {}, 0, 0};
}

run_news progress_news(std::uint64_t done) {
  return {{}, "train", done, 100};
}

} // namespace

CATCH_TEST_CASE("watchers get what they have not seen, in order", "[cluster]") {
  run_board board;
  CATCH_CHECK(board.since("r", 3).second.empty());
  CATCH_CHECK(board.since("r", 3).first == 3);
  for (int i = 0; i < 3; ++i)
    board.add("r", metrics(i));
  auto [next, news] = board.since("r", 0);
  CATCH_CHECK(next == 3);
  CATCH_CHECK(news.size() == 3);
  CATCH_CHECK(news[2].metrics == "2");
  CATCH_CHECK(board.since("r", next).second.empty());
  board.add("r", metrics(3));
  CATCH_CHECK(board.since("r", next).second.size() == 1);
  CATCH_CHECK(board.since("other", 0).second.empty());
}

CATCH_TEST_CASE("of progress only the latest is kept", "[cluster]") {
  run_board board;
  board.add("r", progress_news(1));
  auto [next, news] = board.since("r", 0);
  CATCH_CHECK(news.size() == 1);
  board.add("r", progress_news(2));
  board.add("r", progress_news(3));
  auto [last, later] = board.since("r", next);
  CATCH_REQUIRE(later.size() == 1);
  CATCH_CHECK(later[0].done == 3);
  board.add("r", metrics(1));
  CATCH_CHECK(board.since("r", 0).second.size() == 1);
  CATCH_CHECK(board.since("r", last).second.size() == 1);
}

CATCH_TEST_CASE("news of runs that are long over are forgotten", "[cluster]") {
  run_board board;
  for (std::size_t run = 0; run <= run_board::most_runs; ++run) {
    board.add(std::to_string(run), metrics(1));
    board.over(std::to_string(run));
  }
  CATCH_CHECK(board.since("0", 0).second.empty());
  CATCH_CHECK(board.since("1", 0).second.size() == 1);
}

CATCH_TEST_CASE("a board keeps and tells no more than its bounds",
                "[cluster]") {
  run_board board;
  for (std::size_t i = 0; i < run_board::most_news + 10; ++i)
    board.add("r", metrics(int(i)));
  const auto [next, news] = board.since("r", 0);
  CATCH_CHECK(news.size() == run_board::most_at_once);
  CATCH_CHECK(news.front().metrics == "10");
  CATCH_CHECK(board.since("r", next).second.front().metrics
              == std::to_string(10 + run_board::most_at_once));
}

CATCH_TEST_CASE("who begins to watch gets what was told before, nobody twice",
                "[cluster]") {
  const auto first = std::uint64_t{2} << 32;
  run_board board{first};
  CATCH_CHECK_FALSE(board.knows("r"));
  board.recall("r", {metrics(1), metrics(2)});
  CATCH_CHECK(board.knows("r"));
  board.add("r", metrics(3));
  board.recall("r", {metrics(9)}); // It is known by now.
  const auto [next, news] = board.since("r", 0);
  CATCH_CHECK(next == first + 1);
  CATCH_REQUIRE(news.size() == 3);
  for (std::size_t i = 0; i < news.size(); ++i)
    CATCH_CHECK(news[i].metrics == std::to_string(i + 1));
  // Of the coordinator before this one.
  const auto seen = (std::uint64_t{1} << 32) + 9;
  CATCH_CHECK(board.since("r", seen).second.size() == 1);
}

CATCH_TEST_CASE("watchers of a coordinator before this one get all its news",
                "[cluster]") {
  run_board before;
  for (int i = 0; i < 5; ++i)
    before.add("r", metrics(i));
  const auto position = before.since("r", 0).first;
  run_board board{std::uint64_t{2} << 32};
  CATCH_CHECK(board.since("r", position).first == position);
  board.add("r", metrics(7));
  const auto [next, news] = board.since("r", position);
  CATCH_CHECK(next == (std::uint64_t{2} << 32) + 1);
  CATCH_REQUIRE(news.size() == 1);
  CATCH_CHECK(news[0].metrics == "7");
  CATCH_CHECK(board.since("r", next).second.empty());
}
