#include "tests/pipelines/gradients/memory_ranks.hpp"

namespace graphmill::test {

group_member::connector connector_of(std::shared_ptr<rendezvous_store> store,
                                     std::shared_ptr<parking>) {
  return memory_connector(std::move(store));
}

} // namespace graphmill::test
