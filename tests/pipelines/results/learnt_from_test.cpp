#include "pipelines/results/learnt_from.hpp"

#include "pipelines/results/run_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <filesystem>
#include <optional>

namespace graphmill::test {

CATCH_TEST_CASE("weights tell by their run what they have learnt from",
                "[kernels]") {
  const temp_folder folder;
  const learnt_from learnt{"1",
                           {label_kind::classes, "paper", 2, {"a", "b"}},
                           {},
                           {{"a__1--4f895056dd23__a", "+1"}}};
  const auto run = value_of(run_folder::create(
    folder / "runs", "r", "dataset: d\n", {folder.path(), learnt}));
  CATCH_CHECK(value_of(learnt_beside(run.weights())) == std::optional{learnt});
  const auto checkpoint = run.checkpoints() / "0000001-0000000000";
  std::filesystem::create_directories(checkpoint);
  CATCH_CHECK(value_of(learnt_beside(checkpoint / "tensors.safetensors"))
              == std::optional{learnt});
  CATCH_CHECK_FALSE(value_of(learnt_beside(folder / "w.safetensors")));
  value_of(write_file(run.path() / "run.json", "[]"));
  CATCH_CHECK(error_of(learnt_beside(run.weights())).code == ec::invalid_data);
}

CATCH_TEST_CASE("relations that stand for something else are refused",
                "[kernels]") {
  learnt_from from;
  from.names = {{"a__x__a", "+1"}, {"a__y__a", "b"}};
  value_of(expect_same_relations({{"a__x__a", "+1"}, {"c", "d"}}, from, "w"));
  const auto differs =
    error_of(expect_same_relations({{"a__x__a", "-1"}}, from, "w is of it"));
  CATCH_CHECK(differs.code == ec::invalid_data);
  CATCH_CHECK_THAT(differs.message,
                   contains("w is of it, and the type a__x__a stands for "
                            "\"-1\" here and \"+1\" there"));
}

} // namespace graphmill::test
