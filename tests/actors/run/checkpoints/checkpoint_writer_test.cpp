#include "actors/run/checkpoints/checkpoint_writer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace graphmill::test {

namespace {

/// A writer, and what it says.
struct writer_scene {
  temp_folder folder;
  std::ostringstream said;
  std::shared_ptr<spdlog::logger> log = std::make_shared<spdlog::logger>(
    "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(said));

  checkpoint_writer::setting setting() const {
    return {.folder = folder / "checkpoints", .keep = 2, .log = log};
  }
};

training_state state_of(std::int32_t epoch) {
  training_state out;
  out.at.epoch = epoch;
  out.tensors = std::make_shared<const std::vector<named_tensor>>();
  return out;
}

} // namespace

CATCH_TEST_CASE("checkpoints are written, and the last ones stay",
                "[actors][checkpoint]") {
  writer_scene f;
  auto setting = f.setting();
  std::vector<std::string> told; // Read when all is written.
  setting.on_written = [&told](const std::string& name) {
    told.push_back(name);
  };
  checkpoint_writer it{setting};
  for (std::int32_t epoch : {1, 2, 3}) {
    CATCH_CHECK(it.begin(true));
    it.write(state_of(epoch), {});
  }
  it.finish();
  CATCH_CHECK(it.begin(false));
  CATCH_CHECK(
    checkpoints_in(f.folder / "checkpoints")
    == std::vector<std::string>{"0000003-0000000000", "0000002-0000000000"});
  CATCH_CHECK(told
              == std::vector<std::string>{"0000001-0000000000",
                                          "0000002-0000000000",
                                          "0000003-0000000000"});
}

CATCH_TEST_CASE("whoever writes checkpoints gives way to training",
                "[actors][checkpoint]") {
  const writer_scene f;
  const auto own = ::getpriority(PRIO_PROCESS, 0); // Of a thread.
  std::optional<int> writers;                      // Read when it is written.
  auto setting = f.setting();
  setting.on_written = [&writers](const std::string&) {
    writers = ::getpriority(PRIO_PROCESS, 0);
  };
  checkpoint_writer it{setting};
  it.write(state_of(1), {});
  it.finish();
  CATCH_CHECK(writers == std::min(own + 5, 19)); // There are no more steps.
  CATCH_CHECK(::getpriority(PRIO_PROCESS, 0) == own);
}

CATCH_TEST_CASE("what cannot be written is told once, and nothing fails",
                "[actors][checkpoint]") {
  writer_scene f;
  // A file stands where the folder of checkpoints would be.
  std::ofstream{f.folder / "checkpoints"} << "";
  f.log->set_level(spdlog::level::warn);
  auto setting = f.setting();
  std::vector<std::string> told;
  setting.on_written = [&told](const std::string& name) {
    told.push_back(name);
  };
  checkpoint_writer it{setting};
  for (std::int32_t epoch : {1, 2, 3})
    it.write(state_of(epoch), {});
  it.finish();
  CATCH_CHECK(told.empty());
  const auto said = f.said.str();
  CATCH_CHECK_THAT(said,
                   contains("no checkpoint: ") && contains("training goes on"));
  CATCH_CHECK(said.find("no checkpoint") == said.rfind("no checkpoint"));
}

} // namespace graphmill::test
