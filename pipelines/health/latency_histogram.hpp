#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace graphmill {

/// Latencies by bucket. Each power of two of microseconds is cut in four, as in
/// HdrHistogram with two bits: a bucket is at most a quarter wider than its
/// lower end, from 4 us to half an hour.
struct latency_counts {
  static constexpr int cut_bits = 2;
  static constexpr std::size_t buckets = 120;

  std::array<std::uint64_t, buckets> counts{};
  std::uint64_t total_ns = 0;

  static std::size_t bucket_of(std::uint64_t microseconds) {
    constexpr auto cuts = std::uint64_t{1} << cut_bits;
    if (microseconds < cuts)
      return static_cast<std::size_t>(microseconds);
    const auto shift = std::bit_width(microseconds) - 1 - cut_bits;
    const auto place =
      static_cast<std::uint64_t>(shift) * cuts + (microseconds >> shift);
    return std::min(static_cast<std::size_t>(place), buckets - 1);
  }

  /// One past the greatest latency of a bucket, in seconds.
  static double end_of(std::size_t bucket) {
    constexpr auto cuts = std::uint64_t{1} << cut_bits;
    if (bucket < cuts)
      return double(bucket + 1) * 1e-6;
    const auto shift = bucket / cuts - 1;
    return double((bucket % cuts + cuts + 1) << shift) * 1e-6;
  }

  std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (auto count : counts)
      sum += count;
    return sum;
  }

  double mean() const {
    const auto all = total();
    return all == 0 ? 0 : double(total_ns) * 1e-9 / double(all);
  }

  /// An upper bound of the latency that a share of all do not exceed, in
  /// seconds; 0 if there are none.
  double quantile(double share) const {
    const auto all = total();
    std::uint64_t passed = 0;
    for (std::size_t i = 0; i < buckets; ++i) {
      passed += counts[i];
      if (all != 0 && double(passed) >= share * double(all))
        return end_of(i);
    }
    return 0;
  }

  /// What has come since `before`, an older reading of the same histogram.
  latency_counts since(const latency_counts& before) const {
    latency_counts out;
    for (std::size_t i = 0; i < buckets; ++i)
      out.counts[i] = counts[i] - std::min(counts[i], before.counts[i]);
    out.total_ns = total_ns - std::min(total_ns, before.total_ns);
    return out;
  }
};

/// Counts latencies. Any thread may add, without locks.
class latency_histogram {
public:
  void add(std::chrono::nanoseconds latency) {
    const auto ns =
      static_cast<std::uint64_t>(std::max<std::int64_t>(latency.count(), 0));
    counts_[latency_counts::bucket_of(ns / 1000)].fetch_add(
      1, std::memory_order_relaxed);
    total_ns_.fetch_add(ns, std::memory_order_relaxed);
  }

  latency_counts read() const {
    latency_counts out;
    for (std::size_t i = 0; i < latency_counts::buckets; ++i)
      out.counts[i] = counts_[i].load(std::memory_order_relaxed);
    out.total_ns = total_ns_.load(std::memory_order_relaxed);
    return out;
  }

private:
  std::array<std::atomic<std::uint64_t>, latency_counts::buckets> counts_{};
  std::atomic<std::uint64_t> total_ns_{0};
};

} // namespace graphmill
