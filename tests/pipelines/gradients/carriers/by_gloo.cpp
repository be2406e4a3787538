#include "pipelines/gradients/carriers/gloo_collective.hpp"
#include "tests/pipelines/gradients/ranks.hpp"

namespace graphmill::test {

group_member::connector connector_of(std::shared_ptr<rendezvous_store> store,
                                     std::shared_ptr<parking> lot) {
  return [=](auto roll, const std::string& fingerprint) {
    return join_by_gloo(std::move(roll), fingerprint, store, lot);
  };
}

} // namespace graphmill::test
