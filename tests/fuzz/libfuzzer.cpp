#include "tests/fuzz/harness.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

// Where libFuzzer comes in: one program for all harnesses, so that the code
// which they share is built and linked once. $GRAPHMILL_HARNESS says which of
// them a process runs; libFuzzer starts processes of its own, which have it,
// too. If it names none, the process names them all and ends. With
// $GRAPHMILL_SEEDS it writes the harness's seeds to that folder and ends.

namespace {

const graphmill::fuzz::harness* chosen = nullptr;

} // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const auto* name = std::getenv("GRAPHMILL_HARNESS");
  for (const auto& one : graphmill::fuzz::harnesses())
    if (name != nullptr && one.name == name)
      chosen = &one;
  if (chosen == nullptr) {
    for (const auto& one : graphmill::fuzz::harnesses())
      std::printf("%.*s\n", static_cast<int>(one.name.size()), one.name.data());
    std::fflush(stdout);
    std::_Exit(2);
  }
  if (const auto* folder = std::getenv("GRAPHMILL_SEEDS")) {
    int number = 0;
    for (const auto& seed : chosen->seeds())
      graphmill::fuzz::put_file(std::filesystem::path{folder}
                                  / ("seed-" + std::to_string(number++)),
                                seed);
    std::_Exit(0);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  graphmill::fuzz::run_within_limits(
    *chosen, {reinterpret_cast<const char*>(data), size});
  return 0;
}
