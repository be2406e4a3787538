#include "actors/cluster/base/generation_fence.hpp"

namespace graphmill {

result<void> generation_fence::meet(const std::string& cluster,
                                    std::uint64_t generation) {
  if (cluster != cluster_) {
    cluster_ = cluster;
    highest_ = generation;
    return ok();
  }
  GRAPHMILL_TRYV(check(cluster, generation));
  highest_ = generation;
  return ok();
}

result<void> generation_fence::check(const std::string& cluster,
                                     std::uint64_t generation) const {
  if (cluster != cluster_ && !cluster_.empty())
    return fail(
      ec::permission,
      "this daemon is in another cluster, and refuses this coordinator");
  if (generation < highest_)
    return fail(ec::superseded,
                "coordinator {} of this cluster has been replaced by "
                "coordinator {}: no daemon obeys it any more, and it ends",
                generation, highest_);
  return ok();
}

} // namespace graphmill
