#include "actors/remote/serving/fair_queue.hpp"
#include "actors/remote/serving/reply_budget.hpp"
#include "messages/wire/data.hpp"
#include "tests/actors/remote/daemons.hpp"

#include <new>
#include <numeric>

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

CATCH_TEST_CASE("those who wait take turns", "[actors][remote]") {
  fair_queue<int> queue;
  for (int i = 0; i < 3; ++i)
    queue.push("a", i);
  queue.push("b", 10);
  queue.push("c", 20);
  queue.push("b", 11);
  std::vector<int> order;
  while (!queue.empty()) {
    order.push_back(queue.front());
    CATCH_CHECK(queue.pop() == order.back());
    if (order.size() == 4)
      queue.push("c", 21);
  }
  CATCH_CHECK(order == std::vector<int>{0, 10, 20, 1, 11, 2, 21});
  CATCH_CHECK(queue.size() == 0);
}

namespace {

/// Cannot be put anywhere while it is heavy.
struct heavy_item {
  explicit heavy_item(int value) : number(value) {}
  heavy_item(heavy_item&& other) : number(other.number) {
    if (is_heavy)
      throw std::bad_alloc{};
  }

  int number;
  static inline bool is_heavy = false;
};

} // namespace

CATCH_TEST_CASE("what finds no room leaves the turns as they were",
                "[actors][remote]") {
  fair_queue<heavy_item> queue;
  const auto refused = [&queue](const char* asker) {
    heavy_item::is_heavy = true;
    CATCH_CHECK_THROWS_AS(queue.push(asker, heavy_item{0}), std::bad_alloc);
    heavy_item::is_heavy = false;
  };
  refused("a"); // The first of its asker, and of all.
  CATCH_CHECK(queue.empty());
  CATCH_CHECK(queue.lines() == 0);
  queue.push("a", heavy_item{1});
  refused("a");
  refused("b");
  queue.push("b", heavy_item{2});
  CATCH_CHECK(queue.lines() == 2);
  CATCH_CHECK(queue.pop().number == 1);
  CATCH_CHECK(queue.pop().number == 2);
  CATCH_CHECK(queue.empty());
}

CATCH_TEST_CASE("shares come back when their last holder lets go",
                "[actors][remote]") {
  int woken = 0;
  const auto budget = reply_budget::make(100, [&woken] { ++woken; });
  auto first = budget->take("a", 60);
  CATCH_REQUIRE(first);
  CATCH_CHECK_FALSE(budget->take("b", 50));
  auto second = budget->take("b", 40);
  CATCH_REQUIRE(second);
  second->shrink(10);
  CATCH_CHECK(budget->used() == 70);
  CATCH_CHECK(woken == 1); // Once for one who had to wait.
  second->shrink(20);      // Only less.
  CATCH_CHECK(budget->used() == 70);
  payload answer{frame::copy(std::vector<std::byte>(9)),
                 {frame::copy(std::vector<std::byte>(9)),
                  frame::copy(std::vector<std::byte>(9))}};
  answer = keep_grant(std::move(answer), first);
  first.reset();
  auto last = answer.bulk[1];
  answer = {};
  CATCH_CHECK(budget->used() == 70);
  last = {};
  CATCH_CHECK(budget->used() == 10);
  // More than there is goes alone.
  CATCH_CHECK_FALSE(budget->take("c", 1000));
  second.reset();
  CATCH_CHECK(woken == 2);
  const auto large = budget->take("c", 1000);
  CATCH_CHECK(large);
  CATCH_CHECK_FALSE(budget->take("c", 1));
  budget->close();
  CATCH_CHECK(woken == 2);
}

CATCH_TEST_CASE("who takes nothing owes nothing", "[actors][remote]") {
  const auto budget = reply_budget::make(100, [] {});
  auto first = budget->take("a", 0);
  auto second = budget->take("a", 0);
  CATCH_REQUIRE(first);
  CATCH_REQUIRE(second);
  CATCH_CHECK_FALSE(budget->has_some("a"));
  first.reset();
  const auto some = budget->take("a", 30);
  CATCH_REQUIRE(some);
  second.reset();
  CATCH_CHECK(budget->has_some("a"));
  CATCH_CHECK(budget->used() == 30);
}

CATCH_TEST_CASE("a gauge counts the answers of all budgets",
                "[actors][remote]") {
  const auto gauge = std::make_shared<reply_gauge>();
  const auto one = reply_budget::make(
    100, [] {}, gauge);
  const auto other = reply_budget::make(
    50, [] {}, gauge);
  CATCH_CHECK(gauge->limit == 150);
  auto large = one->take("a", 60);
  const auto small = other->take("a", 20);
  CATCH_REQUIRE(large);
  CATCH_CHECK(gauge->used == 80);
  CATCH_CHECK_FALSE(one->take("b", 60)); // No room: nothing is counted.
  CATCH_CHECK(gauge->used == 80);
  large->shrink(10);
  CATCH_CHECK(gauge->used == 30);
  large.reset();
  CATCH_CHECK(gauge->used == 20);
}

CATCH_TEST_CASE("who has much leaves room for others", "[actors][remote]") {
  const auto budget = reply_budget::make(100, [] {});
  const auto first = budget->take("a", 40);
  CATCH_REQUIRE(first);
  CATCH_CHECK(budget->has_some("a"));
  CATCH_CHECK_FALSE(budget->take("a", 30)); // 70 of its own, and 60 are free.
  auto second = budget->take("a", 20);
  CATCH_CHECK(second);
  CATCH_CHECK_FALSE(budget->take("a", 1));
  CATCH_CHECK_FALSE(budget->has_some("b"));
  CATCH_CHECK(budget->take("b", 40));
  second.reset();
  CATCH_CHECK(budget->take("a", 20));
}

namespace {

/// Two who ask a daemon for rows, and hold the answers as a slow network does.
struct scene {
  scene()
    : d{
      cut(with_values(cycle(100), 1, 1000), 1, {std::vector<part_id>(100, 0)}),
      1,
      {"d0", 110'000}} {}

  /// Asks for rows of 4,000 bytes each.
  void ask(const std::string& asker, std::size_t rows,
           std::chrono::milliseconds left = 1h) {
    std::vector<node_id> ids(rows);
    std::iota(ids.begin(), ids.end(), node_id{0});
    bulk_writer arrays;
    gather_request request{"run", 0, {}};
    request.queries.push_back(
      {0, arrays.add_integers(ids), {gather_kind::features}, false});
    post(d.servers[0],
         data_request{method::gather,
                      value_of(encode(request, std::move(arrays))),
                      std::chrono::steady_clock::now() + left, asker,
                      [this, asker](result<payload> got) {
                        order.push_back(asker);
                        answers.push_back(std::move(got));
                      }});
  }

  daemons d;
  std::vector<std::string> order;
  std::vector<result<payload>> answers;
};

using names = std::vector<std::string>;

} // namespace

CATCH_TEST_CASE("answers that nobody has taken hold up others, in turns",
                "[actors][remote]") {
  scene it;
  for (int i = 0; i < 5; ++i)
    it.ask("a", 10); // 40,000 bytes, and half of them while they are made.
  it.ask("b", 10);
  it.ask("b", 10);
  it.d.sim.run();
  CATCH_CHECK(it.order == names{"a", "b"}); // 80,000 are held.
  it.answers.clear();
  it.d.sim.run();
  CATCH_CHECK(it.order == names{"a", "b", "a", "b"});
  for (std::size_t done = 5; done <= 7; ++done) { // Of one, half at a time.
    it.answers.clear();
    it.d.sim.run();
    CATCH_CHECK(it.order.size() == done);
  }
}

CATCH_TEST_CASE("requests for nothing are answered side by side",
                "[actors][remote]") {
  scene it;
  it.ask("a", 0);
  it.ask("a", 0);
  it.ask("a", 1);
  it.d.sim.run();
  CATCH_CHECK(it.order == names{"a", "a", "a"});
}

CATCH_TEST_CASE("an answer larger than all memory for answers is made alone",
                "[actors][remote]") {
  scene it;
  it.ask("a", 90);
  it.ask("b", 1);
  it.d.sim.run();
  CATCH_CHECK(it.order == names{"a"});
  CATCH_CHECK(value_of(it.answers[0]).byte_size() > 360'000);
  it.answers.clear();
  it.d.sim.run();
  CATCH_CHECK(it.order == names{"a", "b"});
}

CATCH_TEST_CASE("requests whose time is over while they wait are not begun",
                "[actors][remote]") {
  scene it;
  it.ask("a", 90);
  it.d.sim.run();
  it.ask("b", 10, -1ms);
  it.ask("b", 10);
  it.d.sim.run();
  CATCH_REQUIRE(it.order == names{"a", "b"});
  CATCH_CHECK(error_of(it.answers[1]).code == ec::timeout);
  it.answers.clear();
  it.d.sim.run();
  CATCH_CHECK(it.order == names{"a", "b", "b"});
}
