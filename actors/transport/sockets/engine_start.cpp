#include "actors/transport/sockets/engine.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <utility>

namespace graphmill {

namespace {

/// Replies of a connection in libzmq's own queue, and requests that wait to be
/// taken; more replies wait in our queue, which counts bytes.
constexpr int port_queue = 8;

/// The kernel ends connections whose other end has vanished. (Not libzmq, whose
/// beats end the process in 4.3.4 when a connection breaks that has more to say
/// than its queue takes.)
constexpr int probe_after_s = 10;
constexpr int probe_every_s = 5;
constexpr int probes = 4;

constexpr int backlog = 1024;

/// Sockets of libzmq: for each peer two channels, each with both ends of what
/// tells of it; and our own, with some to spare.
constexpr std::size_t sockets_per_peer = 6;
constexpr std::size_t own_sockets = 16;

/// Whoever connects says within that time who it is.
constexpr std::chrono::milliseconds stranger_patience{2 * handshake_timeout_ms};

/// A stranger has no more than a greeting to send.
constexpr unfinished_messages::limits most_unfinished_here{
  .connection = most_of_a_message,
  .stranger = std::uint64_t{4} << 20,
  .total = std::uint64_t{256} << 20};

constexpr int door_events = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_ACCEPT_FAILED
                            | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL
                            | ZMQ_EVENT_DISCONNECTED;

result<endpoint> listen_endpoint(const transport_options& options) {
  GRAPHMILL_TRY(auto where, parse_endpoint(options.listen));
  if (!is_wildcard(where)) {
    GRAPHMILL_TRY(where.host, resolve_host(where.host));
  }
  if (!is_loopback(where) && !options.keys && !options.insecure)
    return fail(ec::permission,
                "listening at {} would let anyone on the network use this "
                "daemon: give it the cluster's key file (`graphmill keygen` "
                "makes one), or --insecure where you trust the network",
                to_string(where));
  return where;
}

/// The host that others are told to connect to, if nobody has said which.
result<std::string> reachable_host(const transport_options& options,
                                   const endpoint& listens) {
  if (!is_wildcard(listens))
    return listens.host;
  if (!options.interface_name.empty())
    return address_of_interface(options.interface_name);
  if (!options.route_to.empty()) {
    GRAPHMILL_TRY(const auto peer, parse_endpoint(options.route_to));
    return address_towards(peer);
  }
  return any_address();
}

/// Where others are told to connect to.
result<endpoint> advertised(const transport_options& options,
                            const endpoint& listens, std::uint16_t port) {
  const auto& given = options.advertise;
  // An IPv6 address without brackets has more than one colon, and no port.
  const auto has_port =
    given.starts_with('[') || std::count(given.begin(), given.end(), ':') == 1;
  if (has_port)
    return parse_endpoint(given);
  if (!given.empty())
    return endpoint{given, port};
  GRAPHMILL_TRY(auto host, reachable_host(options, listens));
  return endpoint{std::move(host), port};
}

hello_message hello_of(const transport_options& options) {
  hello_message out;
  out.name = options.name;
  out.cluster = options.cluster;
  out.generation = options.generation;
  out.incarnation = draw_identity();
  out.software = GRAPHMILL_VERSION;
  return out;
}

result<void> check(const transport_options& options) {
  if (options.name.empty() || options.name.size() > max_hello_text)
    return fail(ec::invalid_argument,
                "the name '{}' has {} bytes, must have 1 to {}", options.name,
                options.name.size(), max_hello_text);
  const auto& live = options.liveness;
  if (live.beat_every.count() < 1 || live.lost_after < 2 * live.beat_every)
    return fail(ec::invalid_argument,
                "a peer would be lost after {} ms of silence with a beat every "
                "{} ms; allow two beats at least",
                live.lost_after.count(), live.beat_every.count());
  return ok();
}

} // namespace

engine::engine(transport_options options, std::shared_ptr<mailbox> box,
               std::shared_ptr<traffic> counters,
               std::shared_ptr<link_board> links)
  : options_(std::move(options)), box_(std::move(box)),
    counters_(std::move(counters)), links_(std::move(links)),
    hello_(hello_of(options_)),
    outbox_(
      {.limit_bytes = options_.reply_bytes, .patience = options_.stall_limit},
      [this](const std::string& connection_id, const message& outgoing,
             const std::shared_ptr<outflow>& flow) {
        return send_message(*port_, &connection_id, outgoing, *counters_, flow);
      }),
    quota_(split_descriptors(options_.descriptors != 0 ? options_.descriptors
                                                       : descriptor_limit())),
    arrivals_(quota_.strangers, stranger_patience),
    unfinished_(most_unfinished_here) {
  if (options_.keys)
    table_ = std::make_shared<const key_table>(
      options_.admitted.value_or(key_table::of(*options_.keys)));
  if (options_.seed == 0)
    options_.seed = std::random_device{}();
  context_.set(zmq::ctxopt::max_sockets,
               static_cast<int>(sockets_per_peer * quota_.peers + own_sockets));
}

result<std::unique_ptr<engine>>
engine::make(transport_options options, std::shared_ptr<mailbox> box,
             std::shared_ptr<traffic> counters,
             std::shared_ptr<link_board> links) {
  GRAPHMILL_TRYV(check(options));
  if (box->descriptor() < 0)
    return fail_errno(errno, "cannot make an event descriptor");
  std::optional<endpoint> listens;
  if (!options.listen.empty()) {
    GRAPHMILL_TRY(listens, listen_endpoint(options));
  }
  try {
    auto made = std::unique_ptr<engine>{
      new engine{std::move(options), std::move(box), std::move(counters),
                 std::move(links)}};
    if (listens) {
      made->bind(*listens);
      GRAPHMILL_TRY(const auto reached,
                    advertised(made->options_, *listens, made->entrance_.port));
      made->hello_.address = to_string(reached);
    }
    server_session::settings serving{made->hello_};
    serving.local = made->local_.has_value();
    serving.reply_cache_bytes = made->options_.reply_cache_bytes;
    serving.max_peers = made->quota_.peers;
    serving.max_bytes = made->options_.request_bytes;
    serving.max_peer_bytes = made->options_.request_bytes / 4;
    serving.fair = made->options_.fair;
    made->server_.emplace(std::move(serving));
    return made;
  } catch (const zmq::error_t& broken) {
    if (listens)
      return fail_errno(broken.num(), "cannot listen at {}",
                        to_string(*listens));
    return fail(ec::io, "cannot start the transport: {}", broken.what());
  }
}

void engine::bind(const endpoint& listens) {
  port_.emplace(context_, ZMQ_ROUTER);
  port_->set(zmq::sockopt::linger, 0);
  port_->set(zmq::sockopt::router_mandatory, true);
  port_->set(zmq::sockopt::sndhwm, port_queue);
  port_->set(zmq::sockopt::rcvhwm, port_queue);
  port_->set(zmq::sockopt::maxmsgsize, max_wire_frame);
  port_->set(zmq::sockopt::handshake_ivl, handshake_timeout_ms);
  port_->set(zmq::sockopt::tcp_keepalive, 1);
  port_->set(zmq::sockopt::tcp_keepalive_idle, probe_after_s);
  port_->set(zmq::sockopt::tcp_keepalive_intvl, probe_every_s);
  port_->set(zmq::sockopt::tcp_keepalive_cnt, probes);
  port_->set(zmq::sockopt::backlog, backlog);
  port_->set(zmq::sockopt::ipv6, listens.host.find(':') != std::string::npos);
  if (options_.keys) {
    authenticator_.emplace(context_, table_, [this](const std::string& host) {
      refused(host, options_.keys->role == key_role::all
                      ? "it has another key"
                      : "its key is that of no member, or was revoked");
    });
    port_->set(zmq::sockopt::curve_server, true);
    port_->set(zmq::sockopt::curve_secretkey, options_.keys->secret_key);
  }
  // With a domain, libzmq refuses protocols before ZMTP 3. It must: in 4.3.4,
  // one that shakes hands while the socket is being closed ends the process.
  port_->set(zmq::sockopt::zap_domain, network_domain);
  constexpr auto events = "inproc://door";
  if (zmq_socket_monitor(port_->handle(), events, door_events) != 0)
    throw zmq::error_t{};
  door_.emplace(context_, ZMQ_PAIR);
  door_->set(zmq::sockopt::linger, 0);
  door_->connect(events);
  port_->bind(to_string(listens));
  const auto bound = parse_endpoint(port_->get(zmq::sockopt::last_endpoint));
  if (bound)
    entrance_.port = bound.value().port;
  if (!options_.keys)
    return;
  if (const auto local = bind_locally(); !local)
    without_local_ = local.error().message;
}

/// Others of our user on this machine may bring and fetch data by a socket that
/// nobody else can open: without CURVE, which costs more than all else there.
/// What the port was told holds for both; each way in keeps the options that
/// are set when it is bound.
result<void> engine::bind_locally() {
  GRAPHMILL_TRY(auto made,
                local_socket::make(local_folder_, hello_.incarnation));
  const auto& path = made.path();
  const auto user = ::geteuid();
  try {
    port_->set(zmq::sockopt::curve_server, false);
    port_->set(zmq::sockopt::zap_domain, local_domain);
    if (zmq_setsockopt(port_->handle(), ZMQ_IPC_FILTER_UID, &user, sizeof(user))
        != 0)
      throw zmq::error_t{};
    port_->bind(local_address(path));
    made.is_listened_at();
  } catch (const zmq::error_t& broken) {
    return fail_errno(broken.num(), "cannot listen at {}", path);
  }
  if (::chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0)
    return fail_errno(errno, "cannot keep others from {}", path);
  entrance_.socket_file = path;
  local_.emplace(std::move(made));
  return ok();
}

} // namespace graphmill
