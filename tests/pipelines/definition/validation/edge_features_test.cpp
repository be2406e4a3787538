#include "pipelines/definition/model_traits.hpp"
#include "pipelines/definition/validation/edge_features.hpp"
#include "pipelines/definition/validation/validation.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>

namespace graphmill::test {

namespace {

/// One node type, with two edge types, of which edges have so many features.
dataset_info graph_described(std::int64_t first, std::int64_t second) {
  dataset_info info;
  info.name = "films";
  info.node_types.push_back({.name = "film", .count = 9, .feature_width = 2});
  info.edge_types = {{.source = 0, .name = "x", .destination = 0},
                     {.source = 0, .name = "y", .destination = 0}};
  info.edge_types[0].feature_width = first;
  info.edge_types[1].feature_width = second;
  return info;
}

std::optional<std::string>
problem_of(model_kind kind, const dataset_info& info,
           edge_feature_use use = edge_feature_use::use, bool given = false) {
  definition def;
  def.model.kind = kind;
  def.model.edge_features = use;
  def.trainer.device = "cpu";
  return problem_with_edge_features(def, info, given);
}

} // namespace

CATCH_TEST_CASE("features of edges are used or refused, never forgotten",
                "[definition][validation][edge_features]") {
  for (const auto& traits : model_kinds) {
    CATCH_INFO("kind " << traits.name);
    const auto plain = graph_described(0, 0);
    CATCH_CHECK_FALSE(problem_of(traits.kind, plain));
    CATCH_CHECK(problem_of(traits.kind, plain, edge_feature_use::ignore, true));
    const auto same = graph_described(3, 3);
    const auto refused = problem_of(traits.kind, same);
    CATCH_CHECK(refused.has_value()
                == (traits.hears() && !traits.reads_edge_features()));
    if (refused)
      CATCH_CHECK(
        *refused
        == fmt::format("edges of `films` have features, and {} cannot "
                       "read them; set model.edge_features: ignore, "
                       "or choose another kind",
                       traits.name));
    definition def;
    def.model.kind = traits.kind;
    CATCH_CHECK(reads_edge_features(def, same) == traits.reads_edge_features());
    CATCH_CHECK_FALSE(reads_edge_features(def, plain));
    def.model.edge_features = edge_feature_use::ignore;
    CATCH_CHECK_FALSE(reads_edge_features(def, same));
    CATCH_CHECK(
      problem_of(traits.kind, same, edge_feature_use::ignore, true).has_value()
      == !traits.hears());
    // Types that are one for the model must not differ.
    if (traits.reads_edge_features())
      CATCH_CHECK(problem_of(traits.kind, graph_described(3, 0)).has_value()
                  == !traits.typed);
  }
}

CATCH_TEST_CASE("ages of edges are read where edges have times, or refused",
                "[definition][validation][edge_ages]") {
  for (const auto& traits : model_kinds) {
    CATCH_INFO("kind " << traits.name);
    auto info = graph_described(0, 0);
    definition def;
    def.model.kind = traits.kind;
    def.model.edge_ages = edge_age_use::cosine;
    def.trainer.device = "cpu";
    CATCH_CHECK_FALSE(reads_ages(def, info));
    info.edge_types[0].timed = true;
    CATCH_CHECK_FALSE(reads_ages(def, info));
    def.sampler.time = time_use::strict;
    CATCH_CHECK(reads_ages(def, info) == traits.reads_edge_features());
    if (!traits.reads_edge_features())
      continue;
    CATCH_CHECK(age_columns(def, info.edge_types[0]) == 16);
    CATCH_CHECK(age_columns(def, info.edge_types[1]) == 0);
    CATCH_CHECK(problem_with_ages(def, info).has_value() == !traits.typed);
    info.edge_types[1].timed = true;
    CATCH_CHECK_FALSE(problem_with_ages(def, info));
    def.trainer.device = "cuda";
    CATCH_REQUIRE(problem_with_ages(def, info).has_value());
    CATCH_CHECK(problem_with_ages(def, info)->find("trainer.device `cuda`")
                != std::string::npos);
    def.model.edge_ages = edge_age_use::log;
    CATCH_CHECK(age_columns(def, info.edge_types[0]) == 1);
    def.model.edge_ages = edge_age_use::none;
    CATCH_CHECK_FALSE(reads_ages(def, info));
    CATCH_CHECK_FALSE(problem_with_ages(def, info));
  }
}

CATCH_TEST_CASE("devices do not compute with features of edges yet",
                "[definition][validation][edge_features]") {
  definition def;
  def.model.kind = model_kind::sage;
  def.trainer.device = "cuda";
  const auto problem =
    problem_with_edge_features(def, graph_described(1, 1), false);
  CATCH_REQUIRE(problem.has_value());
  CATCH_CHECK(problem->find("trainer.device `cuda`") != std::string::npos);
  def.model.edge_features = edge_feature_use::ignore;
  CATCH_CHECK_FALSE(
    problem_with_edge_features(def, graph_described(1, 1), true));
}

} // namespace graphmill::test
