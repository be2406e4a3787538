#include "pipelines/flow/step_seeds.hpp"

#include <span>
#include <utility>

namespace graphmill {

step_seeds::step_seeds(std::shared_ptr<const seed_table> table,
                       const dataset_info& info,
                       std::vector<std::vector<seed_row>> rows,
                       const time_rule& time, bool excludes)
  : table_(std::move(table)), info_(info), rows_(std::move(rows)), time_(time),
    excludes_(excludes) {
  if (time_.disjoint)
    return;
  if (excludes_)
    excluded_ = exclusions_of(*table_, rows_, info_, time_);
  if (time_.used)
    until_ = earliest_of(*table_, rows_);
}

seed_batch step_seeds::batch(rank_id rank,
                             const negative_lists& negatives) const {
  const auto& own = rows(rank);
  auto out = batch_of(*table_, own, info_, negatives, time_.disjoint);
  if (!time_.disjoint) {
    out.excluded = excluded_;
    out.until = until_;
  } else if (excludes_) {
    out.excluded = exclusions_of(*table_, std::span{&own, 1}, info_, time_);
  }
  return out;
}

} // namespace graphmill
