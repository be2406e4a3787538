#include "pipelines/gradients/carriers/gloo_collective.hpp"
#include "tests/pipelines/gradients/ranks.hpp"

namespace graphmill::test {

group_rank::connector connector_of(std::shared_ptr<rendezvous_store> store,
                                   std::shared_ptr<orphan_threads> orphans) {
  return [=](auto roll, const std::string& fingerprint) {
    return join_by_gloo(std::move(roll), fingerprint, store, orphans);
  };
}

} // namespace graphmill::test
