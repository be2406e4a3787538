#include "actors/cluster/daemon/known_keys.hpp"

#include <algorithm>

namespace graphmill {

void known_keys::begin(const deployment& assignment,
                       const key_table& admitted) {
  std::erase_if(servers_, [&assignment](const auto& known) {
    return std::ranges::find(assignment.beside, known.first)
           == assignment.beside.end();
  });
  auto& servers = servers_[assignment.run];
  servers.clear();
  const auto& keys = assignment.daemon_keys;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto& [name, address] = assignment.daemons[i];
    // Consumers of feeds have more in their names than their key.
    const key_holder holder{key_role::daemon, name.substr(0, name.find('/')),
                            keys[i]};
    servers.insert_or_assign(address, holder.key);
    if (!holder.key.empty() && admitted.find(holder.key) == nullptr
        && std::ranges::find(daemons_, holder) == daemons_.end())
      daemons_.push_back(holder);
  }
}

key_table known_keys::with(key_table admitted) const {
  admitted.add(daemons_);
  for (const auto& [run, servers] : servers_)
    for (const auto& [address, key] : servers)
      if (admitted.find(key) != nullptr)
        admitted.servers.insert_or_assign(address, key);
  return admitted;
}

} // namespace graphmill
