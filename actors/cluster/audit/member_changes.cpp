#include "actors/cluster/audit/member_changes.hpp"

#include "actors/cluster/audit/audit_limits.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace graphmill {

namespace {

/// What no method is called: whoever asks for something under the name of the
/// file has no such line.
constexpr auto added_member = "member added";
constexpr auto removed_member = "member removed";
constexpr auto changed_member = "member changed";
constexpr auto refused_members = "members refused";

audit_entry entry_of(const std::filesystem::path& file, std::string what,
                     std::string object) {
  audit_entry out;
  out.who = file.string();
  out.what = std::move(what);
  out.object = std::move(object);
  return out;
}

/// Keys that one text has and another has not, or for another holder.
std::map<std::string, key_holder>
keys_without(const std::vector<key_holder>& these,
             const std::vector<key_holder>& those) {
  std::map<std::string, key_holder> out;
  for (const auto& holder : these)
    out.emplace(holder.key, holder);
  for (const auto& holder : those)
    if (const auto at = out.find(holder.key);
        at != out.end() && at->second == holder)
      out.erase(at);
  return out;
}

/// Takes pairs out of what has gone and come, and tells of them.
class pairing {
public:
  pairing(std::map<std::string, key_holder> gone,
          std::map<std::string, key_holder> come,
          const std::filesystem::path& file)
    : gone_(std::move(gone)), come_(std::move(come)), file_(file) {}

  std::vector<audit_entry> entries() && {
    take_keys_of_others();
    take_keys_in_place_of_others();
    for (const auto& [key, holder] : gone_)
      tell(removed_member,
           fmt::format("{}, key {}", label_of(holder), holder.key));
    for (const auto& [key, holder] : come_)
      tell(added_member,
           fmt::format("{}, key {}", label_of(holder), holder.key));
    return std::move(entries_);
  }

private:
  void tell(const char* what, std::string object) {
    entries_.push_back(entry_of(file_, what, std::move(object)));
  }

  /// The same key with another role or name.
  void take_keys_of_others() {
    for (auto it = come_.begin(); it != come_.end();) {
      const auto was = gone_.find(it->first);
      if (was == gone_.end()) {
        ++it;
        continue;
      }
      tell(changed_member,
           fmt::format("{} instead of {}, key {}", label_of(it->second),
                       label_of(was->second), it->first));
      gone_.erase(was);
      it = come_.erase(it);
    }
  }

  /// The same holder with another key.
  void take_keys_in_place_of_others() {
    std::multimap<std::string, std::string> keys;
    for (const auto& [key, holder] : gone_)
      keys.emplace(label_of(holder), key);
    for (auto it = come_.begin(); it != come_.end();) {
      const auto was = keys.find(label_of(it->second));
      if (was == keys.end()) {
        ++it;
        continue;
      }
      tell(changed_member, fmt::format("{}, key {} instead of {}", was->first,
                                       it->first, was->second));
      gone_.erase(was->second);
      keys.erase(was);
      it = come_.erase(it);
    }
  }

  std::map<std::string, key_holder> gone_; ///< By key, like `come_`.
  std::map<std::string, key_holder> come_;
  const std::filesystem::path& file_;
  std::vector<audit_entry> entries_;
};

} // namespace

std::vector<audit_entry> audit_of_members(const std::vector<key_holder>& before,
                                          const std::vector<key_holder>& after,
                                          const std::filesystem::path& file) {
  auto out =
    pairing{keys_without(before, after), keys_without(after, before), file}
      .entries();
  if (out.size() <= audit_limits::changes)
    return out;
  const auto more = out.size() - audit_limits::changes;
  out.resize(audit_limits::changes);
  out.push_back(entry_of(file, changed_member, "more of them"));
  out.back().times = more;
  return out;
}

audit_entry audit_of_refused_members(const error& why,
                                     const std::filesystem::path& file) {
  auto out = entry_of(file, refused_members, {});
  out.done = false;
  out.why = why.message;
  out.code = to_string(why.code);
  return out;
}

} // namespace graphmill
