#pragma once

#include "messages/base/error.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

namespace graphmill {

/// Owns a file descriptor. Move-only; closes on destruction.
class unique_fd {
public:
  unique_fd() = default;
  explicit unique_fd(int fd) : fd_(fd) {}
  ~unique_fd() { reset(); }
  unique_fd(unique_fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  unique_fd& operator=(unique_fd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }

  int get() const { return fd_; }
  /// Whoever asks closes it.
  int release() { return std::exchange(fd_, -1); }
  void reset();

private:
  int fd_ = -1;
};

/// Who may read a file that is made.
enum class file_access : std::uint8_t {
  shared, ///< Whom the umask lets: data, which machines and users share.
  owner,  ///< Nobody else: runs, and whatever a user has not chosen to share.
};

/// open(2), closed on exec; an error names the file. It opens files and folders
/// only, and refuses at once a pipe that lies in place of one. To write, it
/// follows no link, for others may have laid one to a file of ours, and of what
/// is the owner's refuses a file that has a second name; both with
/// `permission`. All that Graphmill writes to files is opened by it, by
/// `open_own_file`, or with O_EXCL.
result<unique_fd> open_file(const std::filesystem::path& path, int flags,
                            file_access access = file_access::shared);

/// open(2) of a file of ours that others might have had a hand in: made for us
/// alone if `flags` have O_CREAT. A link is not followed, wherever it leads,
/// and what is no file, belongs to another user or has a second name elsewhere
/// is refused with `permission`, before anything is written to it.
result<unique_fd> open_own_file(const std::filesystem::path& path, int flags);

/// Bytes of an open file; fails if it is a folder or anything else.
/// @param path For the error only.
result<std::size_t> file_size(int fd, const std::filesystem::path& path);

/// Writes everything, however many calls it takes.
/// @param path For the error only.
result<void> write_all(int fd, std::span<const std::byte> bytes,
                       const std::filesystem::path& path);

/// The same at a place of the file, which grows as far as that takes.
result<void> write_at(int fd, std::span<const std::byte> bytes,
                      std::uint64_t offset, const std::filesystem::path& path);

/// Reads until `bytes` is full or the file ends.
/// @returns the number of bytes read.
result<std::size_t> read_some(int fd, std::span<std::byte> bytes,
                              const std::filesystem::path& path);

/// A whole file of at most `limit` bytes.
result<std::string> read_text(const std::filesystem::path& path,
                              std::size_t limit);

/// Makes or replaces a file.
result<void> write_text(const std::filesystem::path& path,
                        std::string_view text);

result<void> sync_file(int fd, const std::filesystem::path& path);

/// fsyncs a folder, so that names made in it survive a crash.
result<void> sync_folder(const std::filesystem::path& folder);

/// fsyncs every file and folder below `folder`, and itself. Many files take
/// long, so that it ends between two of them, with code `cancelled`, once
/// `stop` is true; that may be null.
result<void> sync_tree(const std::filesystem::path& folder,
                       const std::atomic<bool>* stop = nullptr);

/// A file that takes the place of another one when it is whole, and goes away
/// if it never is. A link in that place is replaced, not followed. Move-only.
class scratch_file {
public:
  /// Makes an empty file beside `target`, so what keeps from writing there is
  /// known before the work is done. What has its name there is removed.
  static result<scratch_file> create(const std::filesystem::path& target,
                                     file_access access = file_access::shared);
  ~scratch_file();
  scratch_file(scratch_file&& other) noexcept
    : target_(std::move(other.target_)), path_(std::exchange(other.path_, {})),
      file_(std::move(other.file_)) {}
  scratch_file& operator=(scratch_file&& other) noexcept {
    std::swap(target_, other.target_);
    std::swap(path_, other.path_);
    std::swap(file_, other.file_);
    return *this;
  }

  int fd() const { return file_.get(); }
  const std::filesystem::path& path() const { return path_; }

  /// fsyncs and renames it to its target.
  result<void> commit();

private:
  scratch_file() = default;
  std::filesystem::path target_;
  std::filesystem::path path_;
  unique_fd file_;
};

/// Removes scratch files in a folder whose processes were killed. Not to be
/// called while this process has some there: those with its own number are
/// taken for those of one before it, as in containers. What cannot be removed
/// stays, and a link to a folder is not followed.
void remove_left_scratch_files(const std::filesystem::path& folder);

/// Makes a folder and its missing parents; there already is fine.
result<void> make_folders(const std::filesystem::path& folder);

/// The same, with a folder that only its owner may enter. One that is there
/// already stays as it is: somebody may have opened it on purpose.
result<void> make_private_folder(const std::filesystem::path& folder);

/// The same within a folder of ours. What the user names may be a link, but in
/// there we make none, so that one is refused with `permission`.
result<void> make_inner_folder(const std::filesystem::path& folder);

} // namespace graphmill
