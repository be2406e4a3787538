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
  /// Releases the descriptor. The caller closes it.
  int release() { return std::exchange(fd_, -1); }
  void reset();

private:
  int fd_ = -1;
};

/// Who may read a new file.
enum class file_access : std::uint8_t {
  shared, ///< Everyone whom the umask allows: data, which machines and users
          ///< share.
  owner, ///< Only the owner: runs, and everything that a user has not chosen to
         ///< share.
};

/// open(2), closed on exec. An error names the file. It opens only files and
/// folders, and refuses a pipe at once. For writing, it follows no link,
/// because other users may have placed one to a file of ours. With `owner` it
/// also refuses a file with a second name. Both fail with `permission`. All
/// writes of Graphmill to files use this function, `open_own_file`, or O_EXCL.
result<unique_fd> open_file(const std::filesystem::path& path, int flags,
                            file_access access = file_access::shared);

/// open(2) of a file of ours that other users could have replaced. With O_CREAT
/// in `flags` it is created for the owner only. It follows no link. Anything
/// but a file, a file of another user, or a file with a second name fails with
/// `permission` before anything is written.
result<unique_fd> open_own_file(const std::filesystem::path& path, int flags);

/// Bytes of an open file; fails if it is a folder or anything else.
/// @param path For the error only.
result<std::size_t> file_size(int fd, const std::filesystem::path& path);

/// Writes all bytes, with as many calls as needed.
/// @param path For the error only.
result<void> write_all(int fd, std::span<const std::byte> bytes,
                       const std::filesystem::path& path);

/// Writes all bytes at an offset of the file, which grows if needed.
result<void> write_at(int fd, std::span<const std::byte> bytes,
                      std::uint64_t offset, const std::filesystem::path& path);

/// Reads until `bytes` is full or the file ends.
/// @returns the number of bytes read.
result<std::size_t> read_some(int fd, std::span<std::byte> bytes,
                              const std::filesystem::path& path);

/// Fills `bytes` from an offset of the file on, and leaves its position. Fails
/// with `invalid_data` if the file ends before.
result<void> read_at(int fd, std::span<std::byte> bytes, std::uint64_t offset,
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

/// fsyncs every file and folder below `folder`, and `folder` itself. Many files
/// take long: it ends between two of them, with code `cancelled`, once `stop`
/// is true. `stop` may be null.
result<void> sync_tree(const std::filesystem::path& folder,
                       const std::atomic<bool>* stop = nullptr);

/// A file that replaces another one when it is complete, and is removed if it
/// never is. A link in that place is replaced, not followed. Move-only.
class scratch_file {
public:
  /// Creates an empty file beside `target`, so that a missing permission is
  /// known before the work is done. Removes an older file with its name.
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

/// Removes the scratch files of killed processes in a folder. Do not call it
/// while this process has scratch files there: files with its own process
/// number count as those of an earlier process, as in containers. Files that
/// cannot be removed stay, and a link to a folder is not followed.
void remove_left_scratch_files(const std::filesystem::path& folder);

/// Creates a folder and its missing parents. An existing folder is fine.
result<void> make_folders(const std::filesystem::path& folder);

/// Creates a folder that only its owner may enter. An existing one keeps its
/// mode: a user may have opened it on purpose.
result<void> make_private_folder(const std::filesystem::path& folder);

/// Creates a folder within a folder of ours. Graphmill makes no links there, so
/// a link fails with `permission`. (A folder that the user names may be a
/// link.)
result<void> make_inner_folder(const std::filesystem::path& folder);

} // namespace graphmill
