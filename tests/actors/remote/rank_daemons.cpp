#include "tests/actors/remote/rank_daemons.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace graphmill::test {

using namespace std::chrono_literals;

rank_daemons::rank_daemons(std::size_t count, const tuning& tune,
                           std::chrono::milliseconds unreachable)
  : unreachable_(unreachable) {
  for (std::size_t d = 0; d < count; ++d) {
    const auto flows = std::make_shared<peer_flows>();
    const auto inboxes = std::make_shared<rank_inboxes>(flows);
    transport_options options;
    options.name = fmt::format("daemon-{}", d);
    options.listen = "tcp://127.0.0.1:0";
    options.seed = 1 + d;
    options.liveness.retry_first = 10ms;
    options.liveness.retry_last = 100ms;
    options.on_request = [inboxes](const incoming_request& request) {
      if (!inboxes->serve(request))
        request.reply.reply(fail(ec::invalid_argument, "not between ranks"));
    };
    if (tune)
      tune(d, options);
    auto net = transport::start(std::move(options));
    if (!net)
      throw std::runtime_error{net.error().message};
    const auto self = net.value()->self();
    daemons_.push_back(
      {inboxes, flows, std::move(net).value(), {self.name, self.address}});
  }
}

daemon_address rank_daemons::address(std::size_t daemon) const {
  return daemons_[daemon].address;
}

std::shared_ptr<rank_link>
rank_daemons::link(const group_options& of,
                   const std::vector<std::size_t>& daemon_of_rank) {
  const auto daemon_of = [&daemon_of_rank](rank_id rank) {
    const auto r = static_cast<std::size_t>(rank);
    return daemon_of_rank.empty() ? r : daemon_of_rank[r];
  };
  rank_places group{of.run, of.generation, {}};
  for (rank_id r = 0; r < of.ranks; ++r)
    group.daemons.push_back(address(daemon_of(r)));
  const auto& here = daemons_[daemon_of(of.rank)];
  auto patience = patience_of_ranks(200s);
  patience.unreachable = unreachable_;
  return link_over(*here.net, here.inboxes, std::move(group), of.rank,
                   patience);
}

} // namespace graphmill::test
