#include "actors/transport/sockets/open_files.hpp"

#include "actors/transport/sockets/descriptors.hpp"
#include "messages/base/pluralized.hpp"

namespace graphmill {

result<void> check_open_files(std::size_t peers) {
  const auto others = split_descriptors(0); // The least of each.
  const auto least =
    others.reserve + others.strangers + descriptors_per_peer * peers;
  const auto limit = descriptor_limit();
  if (limit >= least)
    return ok();
  return fail(
    ec::unavailable,
    "the limit of open files is {}, and a daemon with {} needs {}: raise it, "
    "as with `ulimit -n 4096`; root can raise the hard limit (`ulimit -Hn`)",
    limit, pluralized(peers, "peer"), least);
}

} // namespace graphmill
