#include "partition/disk/row_reads.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

namespace graphmill {

namespace {

/// Memory of a read, unless rows are longer: neighbouring rows share a read up
/// to this size.
constexpr std::size_t least_read_bytes = std::size_t{64} << 10;

/// Alignment of the places in memory and of their sizes: the most that direct
/// reads of common file systems ask for.
constexpr std::size_t row_alignment = 4096;

/// How often a read that was interrupted or came short is begun again.
constexpr int most_attempts = 8;

/// Memory of a read: a multiple of the alignment in which any row of all files
/// fits.
std::size_t
bytes_for_any_row(const std::vector<std::optional<row_file>>& files) {
  auto bytes = least_read_bytes;
  for (const auto& file : files)
    if (file)
      bytes = std::max(bytes, row_layout::bytes_for(file->layout.row_bytes,
                                                    file->layout.alignment));
  return (bytes + row_alignment - 1) / row_alignment * row_alignment;
}

} // namespace

row_reads::row_reads(std::vector<std::optional<row_file>>& files,
                     const row_reader::options& how,
                     std::shared_ptr<disk_counters> counters)
  : files_(files), counters_(std::move(counters)),
    read_bytes_(bytes_for_any_row(files)) {
  const auto depth = static_cast<unsigned>(std::clamp<std::uint64_t>(
    row_reader::buffer_bytes / read_bytes_, 1, how.depth));
  memory_.reset(static_cast<std::byte*>(
    std::aligned_alloc(row_alignment, depth * read_bytes_)));
  if (!memory_)
    throw std::bad_alloc{};
  slots_.resize(depth);
  for (unsigned i = depth; i > 0; --i)
    free_slots_.push_back(i - 1);
  for (auto& file : files_)
    if (file)
      file->layout.most_bytes = read_bytes_;
  reads_ = how.reads ? how.reads(depth) : ring_reads(depth);
  if (!reads_)
    reads_ = pooled_reads(depth);
}

void row_reads::plan(node_type_id type) {
  auto& file = *files_[type];
  std::sort(file.fresh.begin(), file.fresh.end());
  for (auto& read : cover_rows(file.layout, file.fresh))
    planned_.push_back({&file, type, std::move(read), 0});
  file.fresh.clear();
}

void row_reads::issue() {
  while (!free_slots_.empty() && !planned_.empty()) {
    const auto slot = free_slots_.back();
    free_slots_.pop_back();
    slots_[slot] = std::move(planned_.front());
    planned_.pop_front();
    begin(slot);
  }
}

void row_reads::begin(std::size_t slot) {
  auto& read = slots_[slot];
  ++read.attempts;
  reads_->begin({read.of->file.fd(), read.stretch.offset,
                 memory_.get() + slot * read_bytes_, read.stretch.size,
                 static_cast<std::uint32_t>(slot)});
}

void row_reads::collect(bool wait,
                        const std::function<void(const ended&)>& take) {
  outcomes_.clear();
  reads_->collect(wait, outcomes_);
  for (const auto& outcome : outcomes_)
    take_outcome(outcome, take);
}

/// What is wrong with the outcome of a read, if anything is. A read may bring
/// less than its size and be whole: its size is rounded up, and the last one of
/// a file ends where the file does.
/// @param again Set if the read should be begun again.
std::optional<error> row_reads::judge(const planned_read& read,
                                      std::int64_t bytes, bool& again) const {
  const auto& path = read.of->file.path().string();
  again = read.attempts < most_attempts
          && (bytes >= 0 || bytes == -EINTR || bytes == -EAGAIN);
  if (bytes < 0)
    return fail_errno(static_cast<int>(-bytes),
                      "cannot read {} bytes of {} from byte {} on",
                      read.stretch.size, path, read.stretch.offset);
  if (read.stretch.offset + static_cast<std::uint64_t>(bytes)
      >= read.stretch.end)
    return std::nullopt;
  if (auto size = read.of->file.size();
      !size || size.value() < read.stretch.end) {
    again = false;
    return fail(ec::io,
                "{} was shortened while it was in use; leave the files of a "
                "dataset alone while something runs on it, prepare it again, "
                "and run again",
                path);
  }
  return fail(ec::io, "reads of {} from byte {} on keep coming short", path,
              read.stretch.offset);
}

void row_reads::take_outcome(const block_reads::outcome& outcome,
                             const std::function<void(const ended&)>& take) {
  const std::size_t slot = outcome.tag;
  auto again = false;
  const auto failure = judge(slots_[slot], outcome.bytes, again);
  if (failure && again) {
    begin(slot);
    return;
  }
  const auto read = std::move(slots_[slot]);
  free_slots_.push_back(outcome.tag);
  ++counters_->reads;
  counters_->bytes += read.stretch.size;
  counters_->rows += read.stretch.rows.size();
  take({*read.of, read.type, read.stretch, memory_.get() + slot * read_bytes_,
        failure ? &*failure : nullptr});
}

} // namespace graphmill
