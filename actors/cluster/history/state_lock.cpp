#include "actors/cluster/history/state_lock.hpp"

#include "actors/process/host_name.hpp"
#include "actors/transport/sessions/message.hpp"
#include "messages/base/printable.hpp"
#include "partition/files/json_text.hpp"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <span>
#include <utility>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t largest_note = 4096;
constexpr std::size_t longest_host = 255; ///< In bytes: no name has more.

/// What the holder has written of itself. Nothing if it cannot be read, or is
/// half written.
std::optional<nlohmann::json> note_in(const fs::path& path) {
  const auto file = open_own_file(path, O_RDONLY);
  if (!file)
    return std::nullopt;
  // One byte more than it may have.
  std::string text(largest_note + 1, '\0');
  const auto size = read_some(file.value().get(),
                              std::as_writable_bytes(std::span{text}), path);
  if (!size || size.value() > largest_note)
    return std::nullopt;
  text.resize(size.value());
  auto read = parse_json(text, path.string());
  if (!read || !read.value().is_object())
    return std::nullopt;
  return std::move(read).value();
}

bool has_ended(const std::optional<nlohmann::json>& note) {
  return note && note->value("ended", nlohmann::json{}) == true;
}

std::string text_in(const nlohmann::json& note, const char* field) {
  const auto found = note.find(field);
  return found != note.end() && found->is_string() ? found->get<std::string>()
                                                   : std::string{};
}

/// Others must not be able to put files of theirs in the place of ours. A
/// folder that only a group may write to was shared on purpose, and root may do
/// so anywhere.
result<void> check_state_folder(const fs::path& folder) {
  struct stat about {};
  if (::stat(folder.c_str(), &about) != 0)
    return fail_errno(errno, "cannot look at {}", folder.string());
  if (about.st_uid != ::geteuid() && about.st_uid != 0)
    return fail(ec::permission,
                "the folder for runs {} belongs to the user with the number "
                "{}, who could replace the coordinator's files: chown it, and "
                "check its files; or give another folder with --runs",
                folder.string(), about.st_uid);
  if ((about.st_mode & S_IWOTH) != 0)
    return fail(
      ec::permission,
      "every user of this machine can write to the folder for runs {}: chmod "
      "700 it, and check its files; or give another folder with --runs",
      folder.string());
  return ok();
}

} // namespace

result<std::optional<state_lock>> state_lock::try_take(const fs::path& folder,
                                                       bool heir) {
  GRAPHMILL_TRYV(make_private_folder(folder));
  GRAPHMILL_TRYV(check_state_folder(folder));
  auto path = folder / file_name;
  // Open for writing: NFS gives an exclusive lock to nobody else.
  GRAPHMILL_TRY(auto file, open_own_file(path, O_RDWR | O_CREAT));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK || errno == EINTR)
      return std::optional<state_lock>{};
    return fail_errno(errno,
                      "cannot lock {}: a state folder must lie where locks "
                      "work, on a local disk or on NFSv4",
                      path.string());
  }
  if (heir && has_ended(note_in(path)))
    return fail(ec::cancelled,
                "the cluster with the folder for runs {} was told to end",
                folder.string());
  state_lock out{std::move(path), std::move(file)};
  GRAPHMILL_TRYV(out.sign());
  return std::optional{std::move(out)};
}

result<state_lock> state_lock::take(const fs::path& folder) {
  GRAPHMILL_TRY(auto taken, try_take(folder));
  if (taken)
    return std::move(*taken);
  return fail(ec::unavailable,
              "another coordinator has the folder for runs {}: {}. Give this "
              "one another folder by --runs, or let it wait for that one's end "
              "by `graphmill node --standby`",
              folder.string(), holder(folder));
}

std::string state_lock::holder(const fs::path& folder) {
  const auto note = note_in(folder / file_name);
  if (!note)
    return "an unknown process";
  const auto process =
    integer_of(note->value("process", nlohmann::json{})).value_or(0);
  // Whoever wrote the note may have chosen words that pass for lines of ours.
  return format_printable("process {} on host {}", process,
                          shortened(text_in(*note, "host"), longest_host));
}

result<void> state_lock::sign() {
  token_ = draw_identity();
  return write_note(false);
}

result<void> state_lock::mark_ended() const {
  GRAPHMILL_TRYV(check());
  return write_note(true);
}

/// Writes who holds it, over what has been written before.
result<void> state_lock::write_note(bool ended) const {
  const nlohmann::json note{{"process", ::getpid()},
                            {"host", host_name()},
                            {"token", token_},
                            {"ended", ended}};
  const auto text = note.dump() + "\n";
  if (::ftruncate(file_.get(), 0) != 0
      || ::lseek(file_.get(), 0, SEEK_SET) != 0)
    return fail_errno(errno, "cannot write {}", path_.string());
  GRAPHMILL_TRYV(write_all(file_.get(), std::as_bytes(std::span{text}), path_));
  return sync_file(file_.get(), path_);
}

/// Whether the file of that name is the one that is locked, and no copy of it.
bool state_lock::is_ours() const {
  struct stat locked {};
  struct stat named {};
  return ::fstat(file_.get(), &locked) != 0
         || ::stat(path_.c_str(), &named) != 0
         || (locked.st_dev == named.st_dev && locked.st_ino == named.st_ino);
}

result<void> state_lock::check() const {
  const auto note = note_in(path_);
  if (!note || (text_in(*note, "token") == token_ && is_ours()))
    return ok();
  return fail(
    ec::superseded,
    "another coordinator leads {} now, {}: this one has lost its lock and ends",
    path_.parent_path().string(), holder(path_.parent_path()));
}

} // namespace graphmill
