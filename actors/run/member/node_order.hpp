#pragma once

#include "actors/base/interfaces.hpp"
#include "actors/base/request_watch.hpp"
#include "actors/base/timeouts.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace graphmill {

/// Finds out for an actor in which order the nodes of the target type stood
/// before the graph was cut: asks the FEATURE SERVICES of all parts, one after
/// the other and a piece at a time, so that no more than a piece is under way.
/// The order itself takes 8 bytes for each node. Asks once, in its actor's
/// handlers alone.
template <class Self>
class node_order {
public:
  /// Global ids, by original id.
  using order = std::shared_ptr<const std::vector<node_id>>;
  using taker = std::function<void(result<order>)>;

  /// @param services By part.
  node_order(Self* self, std::shared_ptr<const partitioned_graph> graph,
             std::vector<feature_service_actor> services)
    : self_(self), graph_(std::move(graph)), services_(std::move(services)) {}

  /// Fails if what the parts say is no order of all nodes.
  /// @param then Called once, perhaps at once.
  void find(taker then) {
    then_ = std::move(then);
    const auto target = graph_->info().target;
    found_ = std::make_shared<std::vector<node_id>>(
      static_cast<std::size_t>(graph_->info().node_types[target].count),
      nobody);
    next(0);
  }

private:
  static constexpr node_id nobody = -1;
  static constexpr node_id piece_nodes = node_id{1} << 16;

  /// Owned by the job, too: a service that was given up may still write to it.
  struct piece {
    std::vector<node_id> ids;
    std::vector<node_id> originals;
  };

  /// @param begin The first node that nobody was asked about.
  void next(node_id begin) {
    const auto target = graph_->info().target;
    if (std::cmp_greater_equal(begin, found_->size())) {
      then_(order{std::move(found_)}); // So many ids, each once.
      return;
    }
    const auto part = graph_->owner(target, begin);
    const auto end =
      std::min(begin + piece_nodes, graph_->offsets(target)[part + 1]);
    auto asked = std::make_shared<piece>();
    asked->ids.resize(static_cast<std::size_t>(end - begin));
    asked->originals.resize(asked->ids.size());
    std::iota(asked->ids.begin(), asked->ids.end(), begin);
    gather_job job;
    job.items.push_back({gather_kind::original_ids,
                         target,
                         asked->ids,
                         {},
                         asked->originals.data()});
    job.owner = asked;
    job.batch = static_cast<std::uint64_t>(begin / piece_nodes);
    requests_
      .ask(self_, services_[static_cast<std::size_t>(part)],
           timeouts::gather_job, std::move(job))
      .then(
        [this, asked, part, end](const gather_answer&) {
          if (auto taken = take(*asked, part); taken)
            next(end);
          else
            then_(taken.error());
        },
        [this](const caf::error& reason) {
          then_(from_caf(reason, "a feature service"));
        });
  }

  result<void> take(const piece& told, part_id part) {
    for (std::size_t i = 0; i < told.ids.size(); ++i) {
      const auto original = told.originals[i];
      if (original < 0 || std::cmp_greater_equal(original, found_->size())
          || (*found_)[static_cast<std::size_t>(original)] != nobody)
        return fail(ec::invalid_data,
                    "part {} says that node {} was node {} before the dataset "
                    "was partitioned, which is none, or another one was: look "
                    "at its original_ids.npy",
                    part, told.ids[i], original);
      (*found_)[static_cast<std::size_t>(original)] = told.ids[i];
    }
    return ok();
  }

  Self* self_;
  std::shared_ptr<const partitioned_graph> graph_;
  std::vector<feature_service_actor> services_;
  request_watch requests_;
  std::shared_ptr<std::vector<node_id>> found_; ///< By original id.
  taker then_;
};

} // namespace graphmill
