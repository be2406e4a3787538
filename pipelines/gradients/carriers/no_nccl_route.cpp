#include "pipelines/gradients/carriers/nccl_route.hpp"

namespace graphmill {

bulk_route nccl_route(const std::string&, std::shared_ptr<roll_call>,
                      std::shared_ptr<rendezvous_store>) {
  return {};
}

void keep_process_alive() {}

} // namespace graphmill
