#pragma once

#include "messages/base/error.hpp"
#include "messages/wire/role.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

// The members file of a cluster whose keys have roles: the public keys that the
// coordinator lets in, as text. Its first line is `graphmill-members 1`; every
// other one says `ROLE NAME PUBLIC`, is empty, or begins with #. It is not
// secret, but whoever can write it can let anybody in.

namespace graphmill {

/// Reads the text of a members file. Fails with invalid_data, and the number of
/// the line, on what is no such text, on a key that stands there twice, on a
/// name with two roles, and unless there is exactly one coordinator.
/// @param file What errors call it.
result<std::vector<key_holder>> parse_members(std::string_view text,
                                              const std::string& file);

/// The same from a file. Fails with permission if somebody else can write it.
/// Never waits for a writer, whatever the file is.
result<std::vector<key_holder>> read_members(const std::filesystem::path& file);

/// What `parse_members` reads as these members, which it has accepted before.
std::string members_text(const std::vector<key_holder>& members);

/// The one coordinator of what has been read.
const key_holder& coordinator_of(const std::vector<key_holder>& members);

/// Makes a members file. Fails if there is one.
result<void> make_members(const std::filesystem::path& file,
                          const key_holder& coordinator);

/// Adds a line. Like `revoke_member`, it puts a new file into the place of the
/// old one, and fails if another process does so at the same time.
result<void> add_member(const std::filesystem::path& file,
                        const key_holder& member);

/// Removes all lines of a name, or the one with a public key. Fails if there is
/// none, or if it is the coordinator's.
/// @returns how many.
result<std::size_t> revoke_member(const std::filesystem::path& file,
                                  const std::string& name_or_key);

/// Tells when a members file has changed. It reads the file when that has
/// looked the same twice in a row, so that nobody reads half of what is being
/// written. Used by one thread at a time, which may wait for a disk.
class members_watch {
public:
  explicit members_watch(std::filesystem::path file) : file_(std::move(file)) {}

  const std::filesystem::path& file() const { return file_; }

  /// To be called about once a second.
  /// @returns what the file says since it has changed, or why that is of no
  /// use; nothing if it has not changed.
  std::optional<result<std::vector<key_holder>>> look();

private:
  /// Device, inode, size, and when it was changed. Zeros: it cannot be seen.
  using signature = std::tuple<std::uint64_t, std::uint64_t, std::int64_t,
                               std::int64_t, std::int64_t, std::int64_t>;

  signature sign() const;

  std::filesystem::path file_;
  std::optional<signature> seen_;
  std::optional<signature> read_;
};

} // namespace graphmill
