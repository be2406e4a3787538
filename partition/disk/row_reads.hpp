#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/disk/block_reads.hpp"
#include "partition/disk/row_file.hpp"
#include "partition/disk/row_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace graphmill {

/// The reads of a ROW READER: it covers wanted rows by reads, keeps as many of
/// them under way as are allowed, and begins those again that were interrupted
/// or came short. It owns the memory that is read into, a place of equal size
/// for each read that may be under way. It neither looks at rows nor knows who
/// wants them. The reader's thread alone uses it; what reads may have threads
/// of its own (see `block_reads`).
///
/// A read is planned, then under way, then handed to whoever collects; a read
/// of which a part is missing goes back to being under way.
class row_reads {
public:
  /// A read that has ended. Its rows lie at `bytes` as they do in the file from
  /// `stretch.offset` on. Valid during the call that hands it over.
  struct ended {
    row_file& of;
    node_type_id type;
    const row_read& stretch;
    const std::byte* bytes;
    const error* failure; ///< Why there are none; null: there are.
  };

  /// Takes memory for all reads, and sets how much a read may bring in the
  /// layouts of the files.
  /// @param files By node type; borrowed, must outlive it.
  /// Throws std::bad_alloc, and std::system_error if threads are refused.
  row_reads(std::vector<std::optional<row_file>>& files,
            const row_reader::options& how,
            std::shared_ptr<disk_counters> counters);

  /// Covers the fresh rows of a type by reads, and puts these behind all
  /// planned ones, so that the oldest request is served first.
  void plan(node_type_id type);

  /// Begins planned reads, as many as there is room for.
  void issue();

  bool under_way() const { return free_slots_.size() != slots_.size(); }

  /// Hands over the reads that have ended. If there are none and `wait`, waits
  /// for one; something must be under way then.
  void collect(bool wait, const std::function<void(const ended&)>& take);

  /// Waits until nothing is written to this memory any more. Nothing else may
  /// be called afterwards but this.
  void end() { reads_.reset(); }

private:
  /// A read of the plan and where it goes to.
  struct planned_read {
    row_file* of = nullptr;
    node_type_id type = 0;
    row_read stretch;
    int attempts = 0;
  };
  struct free_memory {
    void operator()(std::byte* memory) const { std::free(memory); }
  };

  void begin(std::size_t slot);
  std::optional<error> judge(const planned_read& read, std::int64_t bytes,
                             bool& again) const;
  void take_outcome(const block_reads::outcome& outcome,
                    const std::function<void(const ended&)>& take);

  std::vector<std::optional<row_file>>& files_;
  std::shared_ptr<disk_counters> counters_;
  std::deque<planned_read> planned_;
  std::size_t read_bytes_ = 0;      ///< Memory of a read.
  std::vector<planned_read> slots_; ///< Under way, by place of their memory.
  std::vector<std::uint32_t> free_slots_;
  std::vector<block_reads::outcome> outcomes_;
  std::unique_ptr<std::byte, free_memory> memory_;
  /// Declared after the memory, so that what reads into it is destroyed first.
  std::unique_ptr<block_reads> reads_;
};

} // namespace graphmill
