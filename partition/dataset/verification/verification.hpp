#pragma once

#include "messages/base/error.hpp"
#include "messages/base/progress.hpp"
#include "partition/dataset/verification/verified_files.hpp"
#include "partition/files/digest_record.hpp"

#include <atomic>
#include <span>

namespace graphmill {

/// How a verification goes about it. Borrows all that it points to.
struct verification {
  verified_files* memory = nullptr; ///< Of what need not be read; may be null.
  /// Ends it with `cancelled` when set. May be null.
  const std::atomic<bool>* stop = nullptr;
  /// While it is not null and not set, others use the disk: after each read
  /// from it, the verification rests for as long as the read took.
  const std::atomic<bool>* hurry = nullptr;
  progress_callback on_progress{};
};

/// Compares one record with what the files hold. Reads with bounded memory, and
/// what it had to fetch from the disk it lets the kernel drop again, so that
/// the page cache stays as it was for those who work with it. Fails with
/// `invalid_data` and a sentence that names the file if that is damaged, or is
/// not the file any more that was mapped.
result<void> verify(const digest_record& record, const verification& how);

/// Verifies many records, in order, up to the first that fails. What is found
/// sound is remembered in `how.memory`.
result<void> verify_all(std::span<const digest_record> records,
                        const verification& how);

/// What `still_unchanged` makes of a file in whose place there is another one,
/// or none.
enum class replaced_files : bool {
  count, ///< It has changed.
  pass,  ///< Whoever has mapped it has what was there before.
};

/// Whether nobody has written to the files since the records were made.
result<void> still_unchanged(std::span<const digest_record> records,
                             replaced_files replaced);

/// Lets the calling thread have what processor time and disk others leave.
void give_way_to_others();

} // namespace graphmill
