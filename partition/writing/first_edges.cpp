#include "partition/writing/first_edges.hpp"

#include "partition/dataset/dataset_names.hpp"
#include "partition/dataset/edge_weights.hpp"

#include <utility>

namespace graphmill {

first_edges::first_edges(const csc_job& job, bool weighted)
  : job_(job), kept_(job),
    last_list_(static_cast<std::size_t>(job.sources), -1) {
  if (weighted && job.duplicates == duplicate_edges::match)
    first_.resize(last_list_.size());
  if (weighted && sums())
    sums_.resize(last_list_.size());
}

result<bool> first_edges::keep(std::int64_t source, std::int64_t destination,
                               float weight) {
  const auto at = static_cast<std::size_t>(source);
  const auto first = std::exchange(last_list_[at], destination) != destination;
  if (first)
    kept_.add(source, destination);
  if (!sums_.empty())
    sums_[at] = first ? weight : sums_[at] + weight;
  if (!first_.empty()) {
    if (!first && first_[at] != weight)
      return unlike(source, destination, weight);
    first_[at] = weight;
  }
  return first;
}

result<float> first_edges::sum_of(std::int64_t source) const {
  return stored_weight(sums_[static_cast<std::size_t>(source)],
                       (job_.folder / weights_file).string());
}

error first_edges::unlike(std::int64_t source, std::int64_t destination,
                          float weight) const {
  return fail(ec::invalid_data,
              "the edges between {} and {} have different weights, {} and {}: "
              "say --duplicates sum to add them up, or --duplicates drop to "
              "keep the first",
              job_.name_of(source), job_.name_of(destination),
              first_[static_cast<std::size_t>(source)], weight);
}

} // namespace graphmill
