#include "pipelines/definition/model_traits.hpp"
#include "pipelines/definition/validation/validation.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

using namespace graphmill;
using test::value_of;

namespace {

definition_source with_model(std::string_view model) {
  auto source = parse_definition(
    fmt::format("{{dataset: films, model: {}}}", model), "x.yaml");
  CATCH_REQUIRE(source.problems.empty());
  return source;
}

dataset_info films() {
  dataset_info info;
  info.name = "films";
  info.node_types.resize(1);
  info.node_types[0].name = "movie";
  info.node_types[0].count = 100;
  info.node_types[0].class_count = 3;
  info.node_types[0].split_counts = {10, 0, 5};
  info.edge_types = {{0, "sequel", 0, 200, 10, dtype::int32}};
  return info;
}

} // namespace

CATCH_TEST_CASE("weights of edges are used, or ignored in so many words",
                "[definition][validation][weights]") {
  auto info = films();
  const auto problem = [&info](std::string_view model) {
    const auto got = problems_with(with_model(model), info);
    CATCH_CHECK(got.size() < 2);
    return got.empty() ? std::string{} : to_string(got.front());
  };
  const auto scheme = [&info](std::string_view model) {
    const auto source = with_model(model);
    const auto evaluation =
      value_of(resolve_evaluation_fanouts(source.value, info));
    const auto training = value_of(resolve_fanouts(source.value, info));
    CATCH_CHECK(training.weights == evaluation.weights);
    return training.weights;
  };
  CATCH_CHECK(problem("{kind: gat}").empty());
  CATCH_CHECK_FALSE(scheme("{kind: gcn}"));
  CATCH_CHECK(problem("{kind: sage, edge_weights: ignore}")
              == "x.yaml:1:52: `model.edge_weights` is `ignore`, but edges of "
                 "`films` have no weights; leave it out");
  info.edge_types[0].weighted = true;
  for (const auto& traits : model_kinds) {
    if (traits.looks_up)
      continue; // For tasks of edges alone.
    CATCH_INFO(traits.name);
    const auto used = fmt::format("{{kind: {}}}", traits.name);
    const auto ignored =
      fmt::format("{{kind: {}, edge_weights: ignore}}", traits.name);
    CATCH_CHECK(scheme(used) == traits.weighs_edges());
    CATCH_CHECK_FALSE(scheme(ignored));
    if (!traits.hears()) {
      CATCH_CHECK(problem(used).empty());
      CATCH_CHECK(problem(ignored)
                  == "x.yaml:1:51: `model.edge_weights` is for kinds that hear "
                     "neighbours, and mlp does not; leave it out");
      continue;
    }
    CATCH_CHECK(problem(ignored).empty());
    CATCH_CHECK(problem(used)
                == (traits.weighs_edges()
                      ? std::string{}
                      : fmt::format("x.yaml:1:32: edges of `films` have "
                                    "weights, and {} takes the largest values "
                                    "of neighbours, which weigh nothing; set "
                                    "model.edge_weights: ignore",
                                    traits.name)));
    CATCH_CHECK(traits.weighs_edges()
                == (traits.message != message_form::maximum));
  }
  // As daemons check it, who have no text.
  auto def = with_model("{kind: sage_max}").value;
  CATCH_CHECK_FALSE(check_against(def, info));
  def.model.edge_weights = edge_weight_use::ignore;
  value_of(check_against(def, info));
  def.model.kind = model_kind::mlp;
  value_of(check_against(def, info));
}

CATCH_TEST_CASE("weighted draws need weights", "[definition][validation]") {
  auto info = films();
  auto source =
    parse_definition("{dataset: films, sampler: {method: weighted}}", "x.yaml");
  CATCH_REQUIRE(source.problems.empty());
  for (auto use : {data_use::training, data_use::feeding}) {
    const auto got = problems_with(source, info, use);
    CATCH_REQUIRE(got.size() == 1);
    CATCH_CHECK(to_string(got.front())
                == "x.yaml:1:36: `sampler.method` is `weighted`, but edges of "
                   "`films` have no weights; leave it out, or import weights");
  }
  info.edge_types[0].weighted = true;
  for (auto use : {data_use::training, data_use::feeding})
    CATCH_CHECK(problems_with(source, info, use).empty());
  const auto scheme = value_of(resolve_fanouts(source.value, info));
  CATCH_CHECK(scheme.kind == draw_kind::weighted_without_replacement);
  CATCH_CHECK(scheme.rule(0, 0).kind == scheme.kind);
}
