#pragma once

#include "messages/base/error.hpp"
#include "messages/base/progress.hpp"
#include "partition/dataset/verification/verified_files.hpp"
#include "partition/files/digest_record.hpp"

#include <atomic>
#include <span>

namespace graphmill {

/// Options of a verification. Borrows all that it points to.
struct verification {
  /// Files that need not be read; may be null.
  verified_files* memory = nullptr;
  /// Ends it with `cancelled` when set. May be null.
  const std::atomic<bool>* stop = nullptr;
  /// While it is not null and not set, others use the disk: after each read
  /// from it, the verification rests for as long as the read took.
  const std::atomic<bool>* hurry = nullptr;
  progress_callback on_progress{};
};

/// Compares one record with the content of its files. Reads with bounded
/// memory, and lets the kernel drop what it fetched from the disk, so the page
/// cache stays as it was for others. Fails with `invalid_data` and a sentence
/// with the file's name if the file is damaged or was replaced since it was
/// mapped.
result<void> verify(const digest_record& record, const verification& how);

/// Verifies many records, in order, up to the first failure. Remembers sound
/// files in `how.memory`.
result<void> verify_all(std::span<const digest_record> records,
                        const verification& how);

/// The effect of a replaced or missing file on `still_unchanged`.
enum class replaced_files : bool {
  count, ///< It has changed.
  pass,  ///< A process that has mapped it still has the old content.
};

/// Whether the files are unchanged since the records were made.
result<void> still_unchanged(std::span<const digest_record> records,
                             replaced_files replaced);

/// The calling thread gets only the processor time and disk that others leave.
void give_way_to_others();

} // namespace graphmill
