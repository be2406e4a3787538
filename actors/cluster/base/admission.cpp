#include "actors/cluster/base/admission.hpp"

#include "messages/base/error_list.hpp"
#include "messages/base/pluralized.hpp"

namespace graphmill {

namespace {

/// Whether a key with a role fits what its user wants.
result<void> check_role(const curve_keys& keys, const std::string& name,
                        bool joins) {
  error_list wrong;
  const auto whose = label_of({keys.role, keys.name, {}});
  if (keys.role != key_role::coordinator && keys.role != key_role::daemon)
    return fail(ec::permission,
                "{} holds the key of {}: a daemon needs one of its own "
                "(`graphmill keygen --daemon NAME`)",
                keys.file, whose);
  if (joins && keys.role == key_role::coordinator)
    wrong.add(fail(ec::invalid_argument,
                   "{} holds the key of {}, which joins no coordinator: leave "
                   "out --join, or use the key of a daemon",
                   keys.file, whose));
  if (!joins && keys.role == key_role::daemon)
    wrong.add(fail(ec::invalid_argument,
                   "{} holds the key of {}, which needs a coordinator: name "
                   "its address by --join",
                   keys.file, whose));
  if (!name.empty() && name != keys.name)
    wrong.add(fail(ec::invalid_argument,
                   "{} holds the key of {}, but --name is \"{}\": leave out "
                   "--name, or use another key",
                   keys.file, whose, name));
  return wrong.ended();
}

result<void> read_into(admission& out, const curve_keys& keys,
                       const std::filesystem::path& file) {
  if (file.empty())
    return fail(ec::invalid_argument,
                "{} holds the key of a coordinator whose keys have roles: name "
                "its members file by --members",
                keys.file);
  GRAPHMILL_TRY(out.members, read_members(file));
  const auto& leader = coordinator_of(out.members);
  if (leader.key != keys.public_key || leader.name != keys.name)
    return fail(ec::invalid_argument,
                "the members file {} is of another coordinator than {}",
                file.string(), keys.file);
  out.watch = std::make_shared<members_watch>(file);
  out.table.emplace().add(out.members);
  return ok();
}

} // namespace

result<admission> admission_of(const std::optional<curve_keys>& keys,
                               const std::string& name, bool joins,
                               const std::filesystem::path& members) {
  admission out;
  out.name = name;
  const auto has_role = keys && keys->role != key_role::all;
  const auto leads = keys && keys->role == key_role::coordinator && !joins;
  error_list wrong;
  if (!members.empty() && !leads)
    wrong.add(fail(ec::invalid_argument,
                   "--members is for a coordinator with a key of its own: name "
                   "it by --key (`graphmill keygen --coordinator NAME` makes "
                   "both)"));
  if (has_role) {
    wrong.take(check_role(*keys, name, joins));
    out.name = keys->name;
    if (joins)
      out.table = key_table::of(*keys);
    else if (leads)
      wrong.take(read_into(out, *keys, members));
  }
  GRAPHMILL_TRYV(wrong.ended());
  return out;
}

std::string admission::described(const std::optional<curve_keys>& keys,
                                 const std::string& address) const {
  if (!keys)
    return fmt::format("insecure: whoever can connect to {} can use it, "
                       "including other users of this machine",
                       address);
  if (!table)
    return fmt::format("admits holders of the key {}", keys->file);
  if (watch)
    return fmt::format("admits the holders of {} in {}",
                       pluralized(members.size(), "key"),
                       watch->file().string());
  return fmt::format("admits the coordinator that {} names, and the daemons "
                     "that the coordinator names",
                     keys->file);
}

} // namespace graphmill
