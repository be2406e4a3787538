#include "partition/files/full_disk.hpp"

#include <atomic>
#include <cerrno>
#include <mutex>
#include <string>

namespace graphmill {

namespace {

struct disk_filler {
  std::atomic<bool> on{false};
  std::mutex mutex;
  std::string folder; ///< With a slash at its end.
  std::chrono::steady_clock::time_point until;
};

disk_filler& filler() {
  static disk_filler only;
  return only;
}

} // namespace

void fill_disk(std::filesystem::path folder,
               std::chrono::steady_clock::time_point until) {
  auto& disk = filler();
  const std::lock_guard lock{disk.mutex};
  disk.folder = (folder / "").lexically_normal().string();
  disk.until = until;
  disk.on = true;
}

result<void> room_for(const std::filesystem::path& file) {
  auto& disk = filler();
  if (!disk.on.load(std::memory_order_relaxed)) [[likely]]
    return ok();
  const std::lock_guard lock{disk.mutex};
  if (std::chrono::steady_clock::now() >= disk.until) {
    disk.on = false;
    return ok();
  }
  if (!file.lexically_normal().string().starts_with(disk.folder))
    return ok();
  return fail_errno(ENOSPC, "cannot write {}", file.string());
}

} // namespace graphmill
