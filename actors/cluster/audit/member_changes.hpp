#pragma once

#include "actors/cluster/audit/audit_entry.hpp"
#include "messages/wire/role.hpp"

#include <filesystem>
#include <vector>

namespace graphmill {

/// What is noted when a members file says something else than before: a line
/// for each key that was added, removed, or is another holder's now, and for
/// each that a holder has in the place of another one. They name the file as
/// who did it, since it does not tell who has written it, and public keys. Of
/// more changes than `audit_limits::changes` the last line says how many.
std::vector<audit_entry> audit_of_members(const std::vector<key_holder>& before,
                                          const std::vector<key_holder>& after,
                                          const std::filesystem::path& file);

/// What is noted of a members file that changes nothing, and why.
audit_entry audit_of_refused_members(const error& why,
                                     const std::filesystem::path& file);

} // namespace graphmill
