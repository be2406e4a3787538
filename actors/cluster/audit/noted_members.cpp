#include "actors/cluster/audit/noted_members.hpp"

#include "actors/cluster/audit/member_changes.hpp"
#include "actors/transport/sockets/connections/members.hpp"
#include "pipelines/results/run_folder.hpp"

namespace graphmill {

result<std::vector<audit_entry>>
noted_members::change_to(const std::vector<key_holder>& members,
                         const std::filesystem::path& by) {
  const auto begins = !last_;
  auto before = std::exchange(last_, members);
  if (begins) {
    auto kept = read_members(file_);
    if (!kept && kept.error().code == ec::not_found)
      return std::vector<audit_entry>{};
    if (!kept)
      return kept.error();
    before = std::move(kept.value());
  }
  return audit_of_members(*before, members, by);
}

result<void> noted_members::keep() const {
  return last_ ? write_file(file_, members_text(*last_)) : ok();
}

} // namespace graphmill
