#include "actors/run/local_run.hpp"
#include "pipelines/definition/definition_file.hpp"
#include "tests/partition/dataset/example.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <spdlog/sinks/null_sink.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

namespace graphmill::test {

CATCH_TEST_CASE("a run ends when its conductor dies", "[actors][local_run]") {
  temp_folder folder;
  value_of(write_example(folder.path()));
  local_run_config config;
  config.def = parse_definition("dataset: example\n"
                                "model: {hidden: 4}\n"
                                "train: {batch_size: 2, epochs: 2}\n",
                                "test.yaml")
                 .value;
  config.data = folder.path();
  config.verify = false;
  config.log = std::make_shared<spdlog::logger>(
    "test", std::make_shared<spdlog::sinks::null_sink_mt>());
  config.observer.on_phase = [](const phase_result&) -> result<void> {
    throw std::runtime_error("the observer broke");
  };
  std::optional<signal_watch> signals;
  const auto run = value_of(run_locally(std::move(config), signals));
  CATCH_REQUIRE(run.outcome.failure);
  CATCH_CHECK(run.outcome.failure->code == ec::crashed);
  CATCH_CHECK(run.outcome.failure->message
              == "conductor crashed: the observer broke");
  CATCH_CHECK(run.outcome.parameters == nullptr);
}

} // namespace graphmill::test
