#include "actors/transport/sockets/transport_context.hpp"

#include "actors/transport/sockets/connections/local_socket.hpp"
#include "messages/base/caught.hpp"

#include <random>
#include <utility>

namespace graphmill {

namespace {

/// Sockets of libzmq: for each peer two channels, each with both ends of what
/// tells of it; and our own, with some to spare.
constexpr std::size_t sockets_per_peer = 6;
constexpr std::size_t own_sockets = 16;

hello_message hello_of(const transport_options& options) {
  hello_message out;
  out.name = options.name;
  out.cluster = options.cluster;
  out.generation = options.generation;
  out.incarnation = draw_identity();
  out.software = GRAPHMILL_VERSION;
  return out;
}

} // namespace

transport_context::transport_context(transport_options how,
                                     std::shared_ptr<traffic> counted,
                                     std::shared_ptr<link_board> board)
  : options(std::move(how)), counters(std::move(counted)),
    links(std::move(board)), hello(hello_of(options)),
    local_folder(options.local_folder.empty() ? graphmill::local_folder()
                                              : options.local_folder),
    quota(split_descriptors(options.descriptors != 0 ? options.descriptors
                                                     : descriptor_limit())) {
  if (options.keys)
    table = std::make_shared<const key_table>(
      options.admitted.value_or(key_table::of(*options.keys)));
  if (options.seed == 0)
    options.seed = std::random_device{}();
  sockets.set(zmq::ctxopt::max_sockets,
              static_cast<int>(sockets_per_peer * quota.peers + own_sockets));
}

void transport_context::tell(const peer_event& news) {
  if (news.inbound)
    links->asked_by(news, link_board::clock::now());
  if (options.on_peer)
    guarded("news of a peer", [this, &news] { options.on_peer(news); });
}

void transport_context::tell(const access_refusal& news) {
  if (options.on_refusal)
    guarded("a refusal", [this, &news] { options.on_refusal(news); });
}

void transport_context::tell(const error& failure) {
  log(failure.message);
  if (options.on_failure)
    guarded("its own failure",
            [this, &failure] { options.on_failure(failure); });
}

void transport_context::log(const std::string& sentence) {
  if (!options.on_log)
    return;
  try {
    options.on_log(sentence);
  } catch (...) { // Nobody to tell.
  }
}

void transport_context::guarded(const char* what,
                                const std::function<void()>& call) {
  if (options.gauge)
    options.gauge->tell(what);
  try {
    call();
  } catch (...) {
    quietly([this] { log(caught("call whom the transport tells").message); });
  }
  if (options.gauge)
    options.gauge->tell(moving_messages);
}

/// In the handler of an exception.
error transport_context::not_taken() {
  auto reason = caught("take what a peer has sent");
  complain(reason.message);
  return reason;
}

} // namespace graphmill
