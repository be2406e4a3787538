#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace graphmill {

/// What a daemon may have in flight.
struct credit_limits {
  std::uint64_t bytes = 0;
  std::uint64_t items = 0; ///< 0 counts as 1.
};

/// What a ledger has seen. Value type.
struct credit_statistics {
  std::uint64_t used_bytes = 0; ///< Reserved by items in flight now.
  std::uint64_t peak_bytes = 0; ///< The most that was ever reserved.
  std::uint64_t in_flight = 0;  ///< Items admitted and not yet finished.
  std::uint64_t waiting = 0;    ///< Items that asked and were not admitted yet.
  std::uint64_t oversize = 0;   ///< Items larger than the budget, run alone.
  std::uint64_t next = 0;       ///< The item that is admitted next.
  std::optional<std::uint64_t> oldest; ///< The oldest item in flight.
};

/// The books of one daemon's memory: which items may hold how many bytes. Bytes
/// are reserved when an item is admitted, corrected once its size is known, and
/// come back when it is finished.
///
///     unknown -- request --> waiting -- its turn, and it fits --> admitted
///        |                      |                                    |
///        '------- release ------'                                 release
///                    |                                               |
///                    v                                               v
///                 passed ---------------- its turn -------------> finished
///
/// It only keeps accounts: it has no clock, no threads and no memory to give
/// away, sends nothing and blocks nobody. One caller at a time; the DISPATCHER
/// calls it from its handlers.
///
/// Items are numbered by a sequence without gaps, in the order in which they
/// will be *finished* (step, then rank), and are admitted strictly in that
/// order, whoever asks first: a younger item can never take the credit that an
/// older one, for which everybody waits, still needs. The next item enters when
/// it fits beside those in flight or when there are none, so one larger than
/// the whole budget runs alone. Progress therefore holds for any budget, if
///   - every item is asked for or released at some time, and
///   - an admitted item is released without waiting for a younger one (a
///     trainer releases its batch after backward, before all-reduce, which
///     waits for the other ranks' items of the step).
///
/// Calls may be repeated: whoever asks again for an admitted item keeps the
/// reservation. Every call that may free or claim credit returns the items that
/// are to be told that they are admitted, ascending.
class credit_ledger {
public:
  using sequence = std::uint64_t;

  /// @param first The number of the first item.
  explicit credit_ledger(credit_limits limits, sequence first = 0);

  /// Asks for an upper bound of what the item will hold. Asking again while
  /// admitted repeats the answer with the old reservation; asking for an item
  /// that is finished changes nothing and gets no answer.
  std::vector<sequence> request(sequence which, std::uint64_t bytes);

  /// Sets the actual size of an admitted item. More than was reserved is
  /// booked all the same.
  std::vector<sequence> shrink(sequence which, std::uint64_t bytes);

  /// The item is finished, or not wanted any more: one that waits, or has
  /// not been asked for yet, is passed over when its turn comes.
  std::vector<sequence> release(sequence which);

  credit_statistics statistics() const;
  const credit_limits& limits() const { return limits_; }
  /// Bytes that an admitted item holds; nothing for any other.
  std::optional<std::uint64_t> held(sequence which) const;

private:
  enum class state : std::uint8_t { waiting, admitted, passed };
  struct entry {
    state where = state::waiting;
    std::uint64_t bytes = 0;
  };

  bool fits(std::uint64_t bytes) const;
  void admit(entry& item);
  void settle(std::vector<sequence>& told);

  credit_limits limits_;
  credit_statistics seen_; ///< `waiting` and `oldest` are filled when asked.
  /// Admitted below `seen_.next`; waiting or passed from there on.
  std::map<sequence, entry> items_;
};

} // namespace graphmill
