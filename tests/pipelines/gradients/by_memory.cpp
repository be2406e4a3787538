#include "tests/pipelines/gradients/memory_ranks.hpp"

namespace graphmill::test {

group_rank::connector connector_of(std::shared_ptr<rendezvous_store> store,
                                   std::shared_ptr<orphan_threads> orphans) {
  return memory_connector(std::move(store), std::move(orphans));
}

} // namespace graphmill::test
