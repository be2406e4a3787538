#pragma once

#include "messages/base/error.hpp"
#include "messages/base/progress.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

namespace graphmill {

/// Fills a folder, which exists and is empty. It does not make the folder again
/// if that is gone, as it is after `folder_preparation::abandon`.
/// @returns whether the folder is wanted. If not, it is removed, and the target
/// stays as it is.
using folder_builder =
  std::function<result<bool>(const std::filesystem::path&)>;

/// Prepares `target` (a folder that does not exist yet) exactly once, safely
/// among many processes and threads: takes a lock beside it, and if the folder
/// is there meanwhile, returns false and leaves it alone; otherwise calls
/// `build` with a private temporary folder beside it, fsyncs and renames it to
/// `target`. A killed process leaves only a temporary folder, which the next
/// one removes. An error of `build` is passed on unchanged and nothing is left
/// behind. Missing parents are made. An empty folder counts as not there.
/// Returns only when the folder is there, is not wanted or has failed: it waits
/// as long as another process that builds the same one lives.
/// @param on_progress Also told when this process waits for another one.
/// @param stop Set it to end the waiting and the fsyncs with code `cancelled`
/// (`build` looks at it itself); may be null.
/// @returns true if this call has built it; false if it was there already, or is
/// not wanted.
result<bool> prepare_folder(const std::filesystem::path& target,
                            const folder_builder& build,
                            const progress_callback& on_progress = {},
                            const std::atomic<bool>* stop = nullptr);

/// What becomes of a folder that is there already.
enum class present_folder : std::uint8_t {
  keep,    ///< It stays, and nothing is built.
  replace, ///< The new one takes its place at once when it is whole.
};

/// A `prepare_folder` that another thread can end, and that can replace a
/// folder: whenever its process is killed, the old folder is there as it was,
/// or the new one is, whole. What a link leads to is replaced, and not the
/// link. One thread calls `run`, once; any other may call `abandon` meanwhile,
/// before or after. Both must have returned before it is destroyed. Owns the
/// lock and the temporary folder from the moment when `run` has got the lock
/// until `run` returns or it is abandoned.
class folder_preparation {
public:
  explicit folder_preparation(std::filesystem::path target,
                              present_folder present = present_folder::keep);
  ~folder_preparation();
  folder_preparation(const folder_preparation&) = delete;
  folder_preparation& operator=(const folder_preparation&) = delete;

  /// As `prepare_folder`; to be called once. After `abandon` it fails with
  /// `ec::cancelled`, or with what `build` makes of its folder being gone. To
  /// replace fails where the file system cannot swap two folders.
  result<bool> run(const folder_builder& build,
                   const progress_callback& on_progress = {},
                   const std::atomic<bool>* stop = nullptr);

  /// From any thread, at any time: removes what `run` has begun, and its lock.
  /// `build` is not told: it may go on, with no effect on other processes.
  /// @returns false if it is too late: the folder is there, complete, and
  /// stays. An error if something cannot be removed.
  result<bool> abandon();

private:
  class work;
  std::unique_ptr<work> work_;
};

} // namespace graphmill
