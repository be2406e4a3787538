#include "pipelines/gradients/carriers/nccl_factory.hpp"
#include "pipelines/gradients/devices/device_collective.hpp"
#include "pipelines/model/torch/devices.hpp"
#include "tests/pipelines/gradients/memory_ranks.hpp"
#include "tests/support/catch.hpp"

#define CATCH_CONFIG_RUNNER

namespace graphmill::test {

group_rank::connector connector_of(std::shared_ptr<rendezvous_store> store,
                                   std::shared_ptr<orphan_threads> orphans) {
  return [=](auto roll, const std::string& fingerprint) {
    const auto device = fmt::format("cuda:{}", roll->options().rank);
    return join_by_devices(memory_connector(store, orphans)(roll, fingerprint),
                           nccl_factory(device, roll, store), orphans);
  };
}

} // namespace graphmill::test

int main(int argc, char** argv) {
  graphmill::keep_process_alive();
  constexpr auto most_ranks = 4;
  if (const auto devices = graphmill::cuda_devices(); devices < most_ranks) {
    fmt::print("skipped: needs {} CUDA devices, there are {}\n", most_ranks,
               devices);
    return 77; // As Meson takes for skipped.
  }
  return Catch::Session{}.run(argc, argv);
}
