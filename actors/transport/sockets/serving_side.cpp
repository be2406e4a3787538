#include "actors/transport/sockets/serving_side.hpp"

#include "actors/transport/sockets/own_address.hpp"
#include "messages/base/pluralized.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
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

/// Messages, and bytes of them, taken from the socket before others have their
/// turn: answers to these among them, for which a sender of gradients waits.
constexpr int port_turn = 64;
constexpr std::uint64_t port_turn_bytes = std::uint64_t{2} << 20;

/// Ended connections that are remembered.
constexpr std::size_t max_ended = 1024;

} // namespace

serving_side::serving_side(transport_context& context,
                           std::shared_ptr<mailbox> box)
  : context_(context), box_(std::move(box)),
    outbox_({.limit_bytes = context.options.reply_bytes,
             .patience = context.options.stall_limit},
            [this](const std::string& connection_id, const message& outgoing,
                   const std::shared_ptr<outflow>& flow) {
              return send_message(*port_, &connection_id, outgoing,
                                  *context_.counters, flow);
            }) {}

void serving_side::begin() {
  const auto& options = context_.options;
  server_session::settings serving{context_.hello};
  serving.local = local_.has_value();
  serving.reply_cache_bytes = options.reply_cache_bytes;
  serving.max_peers = context_.quota.peers;
  serving.max_bytes = options.request_bytes;
  serving.max_peer_bytes = options.request_bytes / 4;
  serving.fair = options.fair;
  session_.emplace(std::move(serving));
}

result<void> serving_side::listen(const endpoint& where) {
  const auto& keys = context_.options.keys;
  port_.emplace(context_.sockets, ZMQ_ROUTER);
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
  port_->set(zmq::sockopt::ipv6, where.host.find(':') != std::string::npos);
  door_.emplace(context_, *port_, [this](const std::string& connection_id) {
    session_->disconnected(connection_id);
  });
  if (keys) {
    authenticator_.emplace(
      context_.sockets, context_.table, [this](const std::string& host) {
        door_->refused(host, context_.options.keys->role == key_role::all
                               ? "it has another key"
                               : "its key is that of no member, or was "
                                 "revoked");
      });
    port_->set(zmq::sockopt::curve_server, true);
    port_->set(zmq::sockopt::curve_secretkey, keys->secret_key);
  }
  // With a domain, libzmq refuses protocols before ZMTP 3. It must: in 4.3.4,
  // one that shakes hands while the socket is being closed ends the process.
  port_->set(zmq::sockopt::zap_domain, network_domain);
  port_->bind(to_string(where));
  entrance ours;
  const auto bound = parse_endpoint(port_->get(zmq::sockopt::last_endpoint));
  if (bound)
    ours.port = bound.value().port;
  if (keys) {
    if (const auto local = listen_locally(); local)
      ours.socket_file = local_->path();
    else
      without_local_ = local.error().message;
  }
  GRAPHMILL_TRY(const auto reached,
                advertised(context_.options, where, ours.port));
  context_.hello.address = to_string(reached);
  door_->open(std::move(ours));
  return ok();
}

/// Others of our user on this machine may bring and fetch data by a socket that
/// nobody else can open: without CURVE, which costs more than all else there.
/// What the port was told holds for both; each way in keeps the options that
/// are set when it is bound.
result<void> serving_side::listen_locally() {
  GRAPHMILL_TRY(auto made, local_socket::make(context_.local_folder,
                                              context_.hello.incarnation));
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
  local_.emplace(std::move(made));
  return ok();
}

void serving_side::serve() {
  if (!port_)
    return;
  if (authenticator_)
    authenticator_->answer();
  door_->serve();
  std::uint64_t bytes = 0;
  for (int i = 0; i < port_turn && bytes < port_turn_bytes; ++i) {
    auto got = receive_message(*port_, true, *context_.counters);
    if (!got)
      break;
    if (got->content)
      bytes += got->content->data.byte_size();
    // The event of a connection comes before its messages: so it is known here
    // whose descriptor a message brings.
    door_->serve();
    if (!ended_.contains(got->connection_id))
      receive(std::move(*got));
  }
  pump();
}

void serving_side::tick() {
  const auto time = context_.now();
  if (session_->next_tick() <= time) {
    session_->tick(time);
    pump();
  }
  if (outbox_.next_tick() <= time)
    end_stalled();
  if (door_)
    door_->tick();
}

session_time serving_side::next_tick() const {
  const auto next = std::min(session_->next_tick(), outbox_.next_tick());
  return door_ ? std::min(next, door_->next_tick()) : next;
}

void serving_side::add_polls(std::vector<zmq::pollitem_t>& polls) {
  if (authenticator_)
    polls.push_back({authenticator_->socket().handle(), 0, ZMQ_POLLIN, 0});
  if (!port_)
    return;
  polls.push_back({port_->handle(), 0, ZMQ_POLLIN, 0});
  polls.push_back({door_->socket().handle(), 0, ZMQ_POLLIN, 0});
}

void serving_side::answer(mailbox::answer done) {
  session_->answer(context_.now(), done.token, std::move(done.data));
  pump();
}

/// Ends what those have who hold no key any more.
void serving_side::look_at_keys() {
  if (authenticator_)
    authenticator_->use(context_.table);
  session_->look_at_keys(context_.now(), [this](const key_holder& holder) {
    const auto* known = context_.table->find(holder.key);
    return known != nullptr && *known == holder;
  });
  pump();
}

void serving_side::cut() {
  if (door_)
    door_->end_guests();
}

void serving_side::linger(std::chrono::milliseconds time) {
  if (port_)
    port_->set(zmq::sockopt::linger, static_cast<int>(time.count()));
}

void serving_side::receive(arrival got) {
  static const key_holder nobody;
  descriptor_ = got.descriptor;
  door_->finished(descriptor_);
  const auto comes_locally = authenticator_ && got.key.empty();
  const auto* holder =
    got.key.empty() ? &nobody : context_.table->find(got.key);
  if (holder == nullptr) { // It was let in before.
    session_->malformed(got.connection_id, "its key has been revoked");
  } else if (got.content) {
    const auto failed = context_.taken([this, &got, holder, comes_locally] {
      session_->receive(context_.now(), got.connection_id,
                        std::move(*got.content),
                        {comes_locally, *holder, door_->host_of(descriptor_)});
    });
    if (failed)
      session_->malformed(got.connection_id, failed->message);
  } else {
    session_->malformed(got.connection_id, std::move(got.reason));
  }
  pump();
  if (session_->knows(got.connection_id))
    door_->greeted(descriptor_, got.connection_id);
  descriptor_ = -1;
}

void serving_side::pump() {
  // Counted first: whoever has seen the answer finds the request counted.
  context_.counters->duplicates += session_->duplicates() - duplicates_;
  duplicates_ = session_->duplicates();
  for (auto& effect : session_->take())
    act(effect);
}

void serving_side::act(server_session::effect& effect) {
  if (auto* out = std::get_if<server_session::send>(&effect)) {
    if (!context_.faults.take(context_.now(), {out->to, true}, out->content))
      hand_out(out->to, std::move(out->content));
  } else if (auto* in = std::get_if<server_session::deliver>(&effect)) {
    deliver(*in);
  } else if (const auto* ended = std::get_if<server_session::drop>(&effect)) {
    drop(*ended);
  } else if (const auto* stranger =
               std::get_if<server_session::estrange>(&effect)) {
    outbox_.forget(stranger->connection);
    door_->estrange(stranger->connection);
  } else if (const auto* note = std::get_if<server_session::note>(&effect)) {
    context_.complain(note->sentence);
  } else if (const auto* refusal = std::get_if<access_refusal>(&effect)) {
    context_.complain(
      fmt::format("{} {} at {}, {}: {}",
                  refusal->code == ec::permission ? "refused" : "put off",
                  refusal->from.name, refusal->host,
                  pluralized(refusal->times, "request"), refusal->why));
    context_.tell(*refusal);
  } else if (const auto* news = std::get_if<peer_event>(&effect)) {
    context_.tell(*news);
  }
}

void serving_side::deliver(server_session::deliver& request) {
  // The answer may come when this transport is gone.
  responder reply{[box = box_, token = request.token](result<payload> data) {
    box->post(mailbox::answer{token, std::move(data)});
  }};
  const auto& options = context_.options;
  if (!options.on_request)
    return reply.reply(
      fail(ec::invalid_argument, "{} serves no requests", options.name));
  // Names of methods are literals.
  context_.guarded(
    to_string(request.method).data(), [this, &options, &request, &reply] {
      options.on_request({request.method, std::move(request.from),
                          std::move(request.data),
                          context_.real(request.deadline), std::move(reply),
                          std::move(request.host)});
    });
}

void serving_side::hand_out(const std::string& connection_id,
                            message outgoing) {
  const auto method = outgoing.head.method;
  if (outbox_.send(context_.now(), connection_id, std::move(outgoing)))
    return;
  context_.complain(fmt::format(
    "{} bytes of replies are unread: the caller of {} has to ask again",
    outbox_.bytes(), to_string(method)));
}

/// What waits for those who take nothing must not wait for ever.
void serving_side::end_stalled() {
  for (const auto& connection_id : outbox_.stalled(context_.now())) {
    context_.complain(
      fmt::format("ended a connection: it read nothing for {} ms",
                  context_.options.stall_limit.count()));
    door_->end(door_->descriptor_of(connection_id));
    outbox_.forget(connection_id);
  }
}

void serving_side::drop(const server_session::drop& ended) {
  ++context_.counters->malformed;
  context_.complain(fmt::format("ended a connection: {}", ended.reason));
  // Of the message that is looked at, or of somebody whose key was revoked.
  door_->end(descriptor_ >= 0 ? descriptor_
                              : door_->descriptor_of(ended.connection));
  outbox_.forget(ended.connection);
  // What it had sent before the end is still to come out of the socket.
  if (ended_.insert(ended.connection).second)
    ended_order_.push_back(ended.connection);
  if (ended_order_.size() > max_ended) {
    ended_.erase(ended_order_.front());
    ended_order_.pop_front();
  }
}

} // namespace graphmill
