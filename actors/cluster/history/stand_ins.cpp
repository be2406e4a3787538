#include "actors/cluster/history/stand_ins.hpp"

#include "actors/transport/sessions/message.hpp"
#include "messages/base/printable.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <system_error>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t longest_stand_in = 128; ///< Name, in bytes.

/// Fails with `unavailable` if somebody else has it.
result<void> lock_sign(const unique_fd& file, const fs::path& path) {
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0)
    return ok();
  if (errno == EWOULDBLOCK || errno == EINTR)
    return fail(ec::unavailable, "{} is locked", path.string());
  return fail_errno(errno, "cannot lock {}", path.string());
}

/// Empty if nobody waits by that file any more, or that cannot be told.
std::string name_on_sign(const fs::path& path) {
  // Open for writing: NFS gives an exclusive lock to nobody else.
  const auto file = open_own_file(path, O_RDWR);
  if (!file)
    return {};
  const auto locked = lock_sign(file.value(), path);
  if (locked) {
    std::error_code ignored;
    fs::remove(path, ignored);
  }
  if (locked || locked.error().code != ec::unavailable)
    return {};
  // One byte more than it may have.
  std::string name(longest_stand_in + 1, '\0');
  const auto size = read_some(file.value().get(),
                              std::as_writable_bytes(std::span{name}), path);
  if (!size)
    return {};
  name.resize(size.value());
  return printable(shortened(name, longest_stand_in));
}

} // namespace

result<stand_in_sign> stand_in_sign::put_up(const fs::path& runs,
                                            const std::string& name) {
  const auto folder = runs / folder_name;
  GRAPHMILL_TRYV(make_inner_folder(folder));
  const auto id = draw_identity();
  // Under a name that nobody looks at until it is locked: whoever finds it
  // unlocked removes it.
  const auto hidden = folder / ("." + id);
  GRAPHMILL_TRY(auto file, open_own_file(hidden, O_RDWR | O_CREAT | O_EXCL));
  stand_in_sign out{hidden, std::move(file)};
  GRAPHMILL_TRYV(lock_sign(out.file_, hidden));
  const auto text = shortened(name, longest_stand_in);
  GRAPHMILL_TRYV(
    write_all(out.file_.get(), std::as_bytes(std::span{text}), hidden));
  std::error_code failed;
  fs::rename(hidden, folder / id, failed);
  if (failed)
    return fail_errno(failed.value(), "cannot rename {}", hidden.string());
  out.path_ = folder / id;
  return out;
}

stand_in_sign::~stand_in_sign() {
  std::error_code ignored;
  if (!path_.empty())
    fs::remove(path_, ignored);
}

std::vector<std::string> stand_ins_at(const fs::path& runs) {
  std::vector<std::string> out;
  std::vector<fs::path> signs;
  std::error_code failed;
  for (fs::directory_iterator entry{runs / stand_in_sign::folder_name, failed},
       end;
       !failed && entry != end && signs.size() < most_stand_ins;
       entry.increment(failed))
    if (!entry->path().filename().string().starts_with('.'))
      signs.push_back(entry->path());
  for (const auto& path : signs)
    if (auto name = name_on_sign(path); !name.empty())
      out.push_back(std::move(name));
  std::ranges::sort(out);
  return out;
}

} // namespace graphmill
