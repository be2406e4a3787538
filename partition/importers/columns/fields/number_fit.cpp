#include "partition/importers/columns/fields/number_fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace graphmill {

void number_fit::learn(double value) {
  least_ = count_ == 0 ? value : std::min(least_, value);
  greatest_ = count_ == 0 ? value : std::max(greatest_, value);
  ++count_;
  // Welford's way: sums of large squares would lose what is to be found.
  const auto before = value - mean_;
  mean_ += before / static_cast<double>(count_);
  squares_ += before * (value - mean_);
  if (count_ <= most_sampled) {
    sample_.push_back(value);
    return;
  }
  const auto place = random_() % static_cast<std::uint64_t>(count_);
  if (place < sample_.size())
    sample_[static_cast<std::size_t>(place)] = value;
}

double number_fit::deviation() const {
  return count_ == 0 ? 0 : std::sqrt(squares_ / static_cast<double>(count_));
}

std::vector<double> number_fit::sorted() const {
  auto out = sample_;
  std::sort(out.begin(), out.end());
  return out;
}

double number_fit::median() const {
  const auto all = sorted();
  if (all.empty())
    return 0;
  const auto middle = all.size() / 2;
  return all.size() % 2 == 1 ? all[middle]
                             : all[middle - 1] / 2 + all[middle] / 2;
}

double number_fit::mode() const {
  const auto all = sorted();
  double best = 0;
  std::ptrdiff_t most = 0;
  for (auto at = all.begin(); at != all.end();) {
    const auto end = std::upper_bound(at, all.end(), *at);
    if (end - at > most) {
      most = end - at;
      best = *at;
    }
    at = end;
  }
  return best;
}

std::vector<double> number_fit::quantiles(std::int64_t most) const {
  auto all = sorted();
  const auto n = static_cast<std::int64_t>(all.size());
  if (n <= most)
    return all;
  std::vector<double> out;
  for (std::int64_t i = 0; i < most; ++i)
    out.push_back(all[static_cast<std::size_t>(i * (n - 1) / (most - 1))]);
  out.front() = least_;
  out.back() = greatest_;
  return out;
}

} // namespace graphmill
