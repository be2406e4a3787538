#include "actors/commands/sweep_plan.hpp"
#include "actors/commands/text/sweep_axes.hpp"
#include "messages/words/number_text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <set>
#include <string>
#include <vector>

namespace graphmill::test {

namespace {

using texts = std::vector<std::string>;

/// What settings give the only field of an axis.
double number_of(const sweep_settings& settings) {
  CATCH_REQUIRE(settings.size() == 1);
  const auto& text = settings.front();
  return number_from<double>(std::string_view{text}.substr(text.find('=') + 1))
    .value();
}

} // namespace

CATCH_TEST_CASE("an axis of a grid", "[sweep]") {
  const auto axis = value_of(parse_sweep_axis("model.hidden=64,256"));
  CATCH_CHECK(axis.field == "model.hidden");
  CATCH_CHECK(axis.values == texts{"64", "256"});
  CATCH_CHECK(value_of(parse_sweep_axis("sampler.fanouts=[5,5],[10,10]")).values
              == texts{"[5,5]", "[10,10]"});
  CATCH_CHECK(value_of(parse_sweep_axis("a.b=x=y")).values == texts{"x=y"});
  for (const std::string wrong :
       {"", "model.hidden", "=1", "a=", "a=1,,2", "a=1,2,1"}) {
    CATCH_INFO(wrong);
    CATCH_CHECK_FALSE(parse_sweep_axis(wrong));
  }
}

CATCH_TEST_CASE("every combination of a grid", "[sweep]") {
  const std::vector<sweep_axis> axes{{"a", {"1", "2"}}, {"b", {"x", "y"}}};
  CATCH_CHECK(
    value_of(sweep_combinations(axes, 4))
    == std::vector<texts>{
      {"a=1", "b=x"}, {"a=1", "b=y"}, {"a=2", "b=x"}, {"a=2", "b=y"}});
  CATCH_CHECK_FALSE(sweep_combinations(axes, 3));
  CATCH_CHECK(value_of(sweep_combinations({}, 1)) == std::vector<texts>{{}});
  const std::vector<sweep_axis> twice{{"a", {"1"}}, {"a", {"2"}}};
  CATCH_CHECK_FALSE(sweep_combinations(twice, 9));
}

CATCH_TEST_CASE("ranges of a grid", "[sweep]") {
  const auto rate =
    value_of(parse_sweep_axis("optimizer.learning_rate=log:1e-4..1e-1"));
  CATCH_REQUIRE(rate.range);
  CATCH_CHECK(rate.range->logarithmic);
  CATCH_CHECK(!rate.range->whole);
  CATCH_CHECK(value_of(parse_sweep_axis("a=8..64")).range->whole);
  CATCH_CHECK(!value_of(parse_sweep_axis("a=0..0.5")).range->whole);
  // A path is no range.
  CATCH_CHECK(value_of(parse_sweep_axis("model.weights=../a,../b")).values
              == texts{"../a", "../b"});
  for (const std::string wrong :
       {"a=5..1", "a=1..1", "a=log:0..1", "a=log:x..y", "a=log:-2..-1"}) {
    CATCH_INFO(wrong);
    CATCH_CHECK(!parse_sweep_axis(wrong));
  }
  const auto all = sweep_combinations({&rate, 1}, 90);
  CATCH_CHECK(error_of(all).message.find("--random") != std::string::npos);
}

CATCH_TEST_CASE("a random search draws the same for the same seed", "[sweep]") {
  const std::vector<sweep_axis> axes{
    value_of(parse_sweep_axis("a=1,2,3")),
    value_of(parse_sweep_axis("b=log:1e-4..1e-1"))};
  const auto first = value_of(random_combinations(axes, 20, 1));
  CATCH_CHECK(first == value_of(random_combinations(axes, 20, 1)));
  CATCH_CHECK(first != value_of(random_combinations(axes, 20, 2)));
  CATCH_CHECK(std::set<sweep_settings>(first.begin(), first.end()).size()
              == 20);
}

CATCH_TEST_CASE("draws keep within their range and fill it", "[sweep]") {
  const std::vector<sweep_axis> whole{value_of(parse_sweep_axis("a=3..6"))};
  std::set<double> seen;
  for (const auto& one : value_of(random_combinations(whole, 4, 1)))
    seen.insert(number_of(one));
  CATCH_CHECK(seen == std::set<double>{3, 4, 5, 6});
  CATCH_CHECK(!random_combinations(whole, 5, 1));

  const std::vector<sweep_axis> wide{
    value_of(parse_sweep_axis("a=log:1e-4..1"))};
  int small = 0;
  for (const auto& one : value_of(random_combinations(wide, 90, 7))) {
    CATCH_CHECK(number_of(one) >= 1e-4);
    CATCH_CHECK(number_of(one) <= 1);
    small += number_of(one) < 1e-2;
  }
  CATCH_CHECK(small > 25); // Half of them, by the logarithm.
  CATCH_CHECK(small < 65);

  // Of a range without different numbers there is an end, too.
  const std::vector<sweep_axis> narrow{
    value_of(parse_sweep_axis("a=1..1.001"))};
  CATCH_CHECK(!random_combinations(narrow, 5, 1));

  // Four digits would leave these.
  const std::vector<sweep_axis> fine{
    value_of(parse_sweep_axis("a=0.99991..0.99992"))};
  for (const auto& one : value_of(random_combinations(fine, 5, 1))) {
    CATCH_CHECK(number_of(one) >= 0.99991);
    CATCH_CHECK(number_of(one) <= 0.99992);
  }
}

CATCH_TEST_CASE("names say what a sweep varied", "[sweep]") {
  CATCH_CHECK(name_of_settings(texts{"model.hidden=64", "model.kind=gcn"})
              == "-hidden64-kind_gcn");
  CATCH_CHECK(name_of_settings(texts{"sampler.fanouts=[10,5]"})
              == "-fanouts10x5");
  CATCH_CHECK(name_of_settings(texts{"optimizer.learning_rate=1e-3"})
              == "-learning_rate1e-3");
  CATCH_CHECK(
    name_of_settings(texts{"train.batch_size=8", "evaluate.batch_size=9"})
    == "-train.batch_size8-evaluate.batch_size9");
  CATCH_CHECK(name_of_settings(texts{}).empty());
}

CATCH_TEST_CASE("rungs of successive halving", "[sweep]") {
  using rungs = std::vector<std::uint32_t>;
  CATCH_CHECK(halving_rungs(27, 27, 3) == rungs{1, 3, 9, 27});
  CATCH_CHECK(halving_rungs(20, 4, 2) == rungs{5, 10, 20});
  CATCH_CHECK(halving_rungs(20, 5, 3) == rungs{2, 6, 20});
  CATCH_CHECK(halving_rungs(2, 90, 3) == rungs{2});
  CATCH_CHECK(halving_rungs(10, 1, 2) == rungs{10});
}

} // namespace graphmill::test
