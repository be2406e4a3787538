#pragma once

#include "messages/base/whole_pages.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace graphmill {

/// What somebody has done from one moment to another, as a ring keeps it. Times
/// in nanoseconds of the steady clock.
struct ring_span {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::uint64_t batch = 0; ///< As `pack_batch` has it; 0: none.
  std::uint64_t bytes = 0; ///< Of the answer to a request.
  std::uint32_t gauge = 0; ///< Its place on the board.
  std::uint16_t worker = 0;
  std::uint8_t state = 0; ///< An `actor_state`; 0: a request to others.

  friend bool operator==(const ring_span&, const ring_span&) = default;
};

/// The last spans of a process, numbered from 0, in memory of a fixed size. Any
/// thread may write, and any other one may read meanwhile: without locks and
/// without allocation. A writer takes the next number, and by it a slot, whose
/// stamp is odd while it writes and says afterwards which span lies there; a
/// reader copies, and drops the copy if the stamp is another one then (a
/// sequence lock for each slot; H.-J. Boehm, "Can Seqlocks Get Along With
/// Programming Language Memory Models?", MSPC 2012). All words are atomic, so
/// that a torn copy is no race.
class span_ring {
public:
  /// Of a board: 3 MiB.
  static constexpr std::size_t usual_size = std::size_t{1} << 16;

  /// @param size How many spans are kept; rounded up to a power of two.
  explicit span_ring(std::size_t size = usual_size)
    : slots_(std::bit_ceil(std::max<std::size_t>(size, 1))) {}

  std::size_t size() const { return slots_.size(); }
  /// How many spans there have been so far.
  std::uint64_t written() const {
    return next_.load(std::memory_order_acquire);
  }

  void write(const ring_span& span) {
    const auto number = next_.fetch_add(1, std::memory_order_relaxed);
    auto& slot = slots_[number & (slots_.size() - 1)];
    const auto free = 2 * number; // No stamp before this span's is larger.
    auto stamp = slot.stamp.load(std::memory_order_relaxed);
    // Somebody has slept on this slot for a whole round. One of the two spans
    // is lost, instead of both being mixed.
    if (stamp % 2 != 0 || stamp > free
        || !slot.stamp.compare_exchange_strong(stamp, free + 1,
                                               std::memory_order_acq_rel))
      return;
    const auto words = packed(span);
    // Who sees one of these sees the odd stamp, too.
    for (std::size_t i = 0; i < words.size(); ++i)
      slot.words[i].store(words[i], std::memory_order_release);
    slot.stamp.store(free + 2, std::memory_order_release);
  }

  struct page {
    std::vector<ring_span> spans;
    std::uint64_t first = 0; ///< Number of the first that was still there.
    std::uint64_t next = 0;  ///< One more than that of the last.
  };

  /// The spans from number `from` on, or from the oldest one that there is, and
  /// `most` of them at most. Those that are being written meanwhile come with
  /// the next page.
  page read(std::uint64_t from, std::size_t most) const {
    page out;
    const auto end = written();
    const auto oldest = end > slots_.size() ? end - slots_.size() : 0;
    out.first = std::min(std::max(from, oldest), end);
    out.next = out.first;
    for (; out.next < end && out.spans.size() < most; ++out.next) {
      const auto& slot = slots_[out.next & (slots_.size() - 1)];
      const auto whole = 2 * out.next + 2;
      const auto stamp = slot.stamp.load(std::memory_order_acquire);
      if (stamp < whole && end - out.next <= most_writers)
        break;
      if (stamp != whole)
        continue; // Lost, or a later one has its place by now.
      std::array<std::uint64_t, words_of_span> words{};
      for (std::size_t i = 0; i < words.size(); ++i)
        words[i] = slot.words[i].load(std::memory_order_acquire);
      if (slot.stamp.load(std::memory_order_relaxed) == whole)
        out.spans.push_back(unpacked(words));
    }
    return out;
  }

private:
  static constexpr std::size_t words_of_span = 5;
  /// A span with that many later ones is not waited for: its writer has lost
  /// its slot.
  static constexpr std::uint64_t most_writers = 256;

  struct slot {
    std::atomic<std::uint64_t> stamp{0};
    std::array<std::atomic<std::uint64_t>, words_of_span> words{};
  };
  static_assert(sizeof(slot) == 48);

  static std::array<std::uint64_t, words_of_span>
  packed(const ring_span& span) {
    return {static_cast<std::uint64_t>(span.begin),
            static_cast<std::uint64_t>(span.end), span.batch, span.bytes,
            std::uint64_t{span.gauge} << 32 | std::uint64_t{span.worker} << 8
              | span.state};
  }

  static ring_span
  unpacked(const std::array<std::uint64_t, words_of_span>& words) {
    return {static_cast<std::int64_t>(words[0]),
            static_cast<std::int64_t>(words[1]),
            words[2],
            words[3],
            static_cast<std::uint32_t>(words[4] >> 32),
            static_cast<std::uint16_t>(words[4] >> 8),
            static_cast<std::uint8_t>(words[4])};
  }

  /// Each attempt at a run has a ring, and a daemon may see many.
  std::vector<slot, whole_pages<slot>> slots_;
  /// On a cache line of its own: all writers count it up.
  alignas(64) std::atomic<std::uint64_t> next_{0};
};

} // namespace graphmill
