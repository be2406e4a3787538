#include "tests/actors/cluster/coordinator/led_cluster.hpp"
#include "tests/support/catch.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace graphmill::test {

namespace {

struct led_office : led_cluster {
  led_office() {
    for (const auto* name : {"lead", "a", "b"})
      join(name);
  }

  /// A daemon answers an order by saying that another one leads.
  void disobey(const std::string& name) {
    lead.ask({name, "tcp://" + name}, method::order, {}, {},
             [this](const result<payload>& answer) {
               answers.push_back(error_of(answer).code);
             });
    port.answer("tcp://" + name, method::order,
                fail(ec::superseded, "there is another one"));
  }

  /// Another coordinator takes the lock.
  void lose_lock() {
    std::filesystem::remove(config.runs / state_lock::file_name);
    other_lock.emplace(value_of(state_lock::take(config.runs)));
  }

  std::optional<state_lock> other_lock;
  std::vector<ec> answers;
  std::vector<std::string> lost;
  int ends = 0;
  lead_guard lead{port,
                  whole->notices,
                  whole->daemons.registry(),
                  config,
                  {[this](const error&) { ++ends; },
                   [this](const std::string& daemon, const error&) {
                     lost.push_back(daemon);
                   }}};
};

} // namespace

CATCH_TEST_CASE("a daemon that does not obey is not used while the lock is "
                "this coordinator's",
                "[leading]") {
  led_office it;
  it.disobey("a");
  CATCH_CHECK(it.answers == std::vector{ec::unavailable});
  CATCH_CHECK(it.lost == std::vector<std::string>{"a"});
  CATCH_CHECK_FALSE(it.lead.is_superseded());
  // Of a copied folder the lock says nothing: no other daemon obeys.
  it.disobey("b");
  CATCH_CHECK(it.lead.is_superseded());
  CATCH_CHECK(it.ends == 1);
  CATCH_CHECK(it.answers.size() == 1);
}

CATCH_TEST_CASE("a coordinator that has lost the lock ends at once",
                "[leading]") {
  led_office it;
  it.lose_lock();
  it.disobey("a");
  CATCH_CHECK(it.lead.is_superseded());
  CATCH_CHECK(it.ends == 1);
  CATCH_CHECK(it.lost.empty());
  CATCH_CHECK(it.answers.empty());
  it.lead.look_at_lock(false);
  it.port.settle();
  CATCH_CHECK(it.ends == 1);
}

CATCH_TEST_CASE("daemons are asked whether they obey", "[leading]") {
  led_office it;
  it.lead.look_for_successor({});
  CATCH_CHECK(it.port.calls.empty());
  it.disobey("a");
  it.lead.look_for_successor({});
  CATCH_CHECK(it.port.asks("tcp://b", method::order));
  CATCH_CHECK_FALSE(it.port.asks("tcp://lead", method::order));
}

} // namespace graphmill::test
