#pragma once

#include "actors/cluster/audit/audit_entry.hpp"
#include "messages/base/error.hpp"
#include "messages/wire/role.hpp"

#include <filesystem>
#include <optional>
#include <vector>

namespace graphmill {

/// Which members the audit log knows: `members.noted` in the folder of runs, a
/// members file that only its owner can read. It lets nobody in. By it a
/// coordinator tells what has changed while there was none. Used by one thread
/// at a time, which waits for the disk.
class noted_members {
public:
  static constexpr const char* file_name = "members.noted";

  /// @param folder Of runs.
  explicit noted_members(const std::filesystem::path& folder)
    : file_(folder / file_name) {}

  const std::filesystem::path& file() const { return file_; }

  /// @returns what is to be noted since the last call: since that of another
  /// coordinator with this folder, if this is the first one, and nothing if
  /// there was none. Fails if what that has left cannot be read; the next call
  /// begins anew.
  /// @param by The members file, which entries name as who has changed it.
  result<std::vector<audit_entry>>
  change_to(const std::vector<key_holder>& members,
            const std::filesystem::path& by);

  /// Keeps what the last call of `change_to` was given, for a coordinator after
  /// this one. To be called when its entries are on their way.
  result<void> keep() const;

private:
  std::filesystem::path file_;
  std::optional<std::vector<key_holder>> last_;
};

} // namespace graphmill
