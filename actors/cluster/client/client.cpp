#include "actors/cluster/client/client.hpp"

#include "actors/transport/sessions/address.hpp"
#include "actors/transport/sockets/connections/user_keys.hpp"

#include <array>
#include <future>
#include <optional>
#include <utility>

namespace graphmill {

namespace {

using namespace std::chrono_literals;

/// Signals wake a wait; this only bounds what a lost wake-up costs.
constexpr auto signal_interval = 100ms;

/// The transport answers every request by its deadline; we allow for a little
/// more, so that its own words are heard.
constexpr auto grace = 5s;

/// The pieces of a file that are asked for again if they were lost.
constexpr unsigned attempts = 3;

/// A piece of an upload may take so much longer than an answer: lines are
/// slower that way.
constexpr auto upload_more = 45s;

/// The coordinator reads an upload and writes it again before it answers.
constexpr auto uploaded_read = 5min;

} // namespace

namespace {

/// A daemon's key proves who that daemon is: a command with it would be refused
/// for its name, and only after a while.
result<void> check_is_for_clients(const std::optional<curve_keys>& keys) {
  if (!keys
      || (keys->role != key_role::coordinator
          && keys->role != key_role::daemon))
    return ok();
  return fail(
    ec::permission,
    "{} holds the key of {}, and commands need a client's key: give one with "
    "--key or GRAPHMILL_KEY (`graphmill keygen --client NAME` makes one)",
    keys->file, label_of({keys->role, keys->name, {}}));
}

/// Fails if no host of them is known: waiting for one would not help.
result<void> find_hosts(const std::vector<std::string>& addresses) {
  std::optional<error> unknown;
  for (const auto& address : addresses) {
    GRAPHMILL_TRY(const auto where, parse_endpoint(address));
    auto found = resolve_host(where.host);
    if (found)
      return ok();
    if (!unknown)
      unknown = std::move(found).error();
  }
  return fail(unknown->code,
              "{}: give the address of the cluster's first daemon with "
              "--cluster or GRAPHMILL_CLUSTER",
              unknown->message);
}

} // namespace

/// Who has answered our handshake.
struct cluster_client::peer_states {
  std::vector<std::string> addresses;
  std::array<std::atomic<bool>, most_endpoints> met{};
};

result<cluster_client> cluster_client::make(settings with) {
  GRAPHMILL_TRY(auto addresses, parse_endpoints(with.address));
  for (const auto& address : addresses) {
    GRAPHMILL_TRY(const auto where, parse_endpoint(address));
    if (is_wildcard(where) || where.port == 0)
      return fail(ec::invalid_argument,
                  "{} is no address to connect to: name the host and port of "
                  "the cluster's first daemon, as in {}",
                  address, default_cluster);
  }
  GRAPHMILL_TRYV(find_hosts(addresses));
  transport_options options;
  options.name = with.command;
  GRAPHMILL_TRY(options.keys, choose_keys(with.key, with.insecure));
  GRAPHMILL_TRYV(check_is_for_clients(options.keys));
  cluster_client out{std::move(with)};
  out.peers_ = std::make_shared<peer_states>();
  out.peers_->addresses = out.addresses_ = std::move(addresses);
  options.on_peer = [states = out.peers_](const peer_event& news) {
    for (std::size_t i = 0; i < states->addresses.size(); ++i)
      if (news.identity.address == states->addresses[i])
        states->met[i] = states->met[i] || news.change == peer_event::kind::up;
  };
  GRAPHMILL_TRY(out.transport_, transport::start(std::move(options)));
  for (const auto& address : out.addresses_)
    out.transport_->keep(address);
  return out;
}

/// Asks at one address after the other until somebody answers, beginning where
/// somebody did before: nobody may be there any more, or somebody who does not
/// answer in time, as one that is frozen. What may have been carried out, and
/// must not be twice, is not asked again elsewhere. (A request is known by its
/// number to the coordinator that got it, and to no other one.)
result<payload> cluster_client::call(method method_id, const payload& body,
                                     std::chrono::milliseconds more) {
  std::optional<std::pair<std::size_t, error>> late; // Where, and what.
  for (std::size_t tried = 1;; ++tried) {
    auto got = call_there(method_id, body, more);
    if (got)
      return got;
    const auto code = got.error().code;
    const auto is_elsewhere = code == ec::unavailable || code == ec::timeout;
    if (!is_elsewhere
        || (peers_->met[current_] && !traits_of(method_id).idempotent))
      return got;
    if (code == ec::timeout && !late)
      late.emplace(current_, got.error());
    if (tried == addresses_.size()) {
      if (!late)
        return got;
      // Somebody is there, which says more than that nobody is elsewhere.
      current_ = late->first;
      return std::move(late->second);
    }
    current_ = (current_ + 1) % addresses_.size();
  }
}

/// Sends a request and waits for the answer, or for a signal.
/// @param more Time that the answer may take by design.
result<payload> cluster_client::call_there(method method_id, payload body,
                                           std::chrono::milliseconds more) {
  auto answer = std::make_shared<std::promise<result<payload>>>();
  auto there = answer->get_future();
  auto* signals = with_.signals;
  call_options options;
  options.deadline = with_.deadline + more;
  options.unreachable = with_.unreachable;
  if (!peers_->met[current_])
    options.refused = with_.refused;
  options.attempts = attempts;
  transport_->request(address(), method_id, std::move(body), options,
                      [answer, signals](result<payload> got) {
                        answer->set_value(std::move(got));
                        if (signals != nullptr)
                          signals->wake();
                      });
  const auto patience = std::chrono::steady_clock::now() + options.deadline;
  while (there.wait_for(0ms) != std::future_status::ready) {
    // After a stop of this process the transport has yet to see that it is
    // late.
    if (std::chrono::steady_clock::now() >= patience
        && there.wait_for(grace) != std::future_status::ready)
      return fail(ec::internal, "the transport has not ended {}",
                  to_string(method_id));
    if (with_.stop.stop_requested())
      return fail(ec::cancelled, "interrupted");
    if (signals == nullptr) {
      if (with_.stop.stop_possible())
        there.wait_for(signal_interval);
      else
        there.wait_until(patience);
      continue;
    }
    if (signals->count() > signals_seen_)
      return fail(ec::cancelled, "interrupted");
    signals->wait(signal_interval);
  }
  auto got = there.get();
  if (!got)
    return explain(std::move(got).error());
  return got;
}

/// Says what to do when there is nobody, or not for us.
error cluster_client::explain(error reason) const {
  if (peers_->met[current_])
    return reason;
  if (reason.code == ec::unavailable || reason.code == ec::timeout)
    return fail(ec::unavailable,
                "nobody answers at {}: start the cluster's first daemon there "
                "(`graphmill node`), or give another address with --cluster or "
                "GRAPHMILL_CLUSTER ({})",
                address(), reason.message);
  if (reason.code == ec::permission)
    return fail(ec::permission, "{} does not let us in: {}", address(),
                reason.message);
  return reason;
}

void cluster_client::forget_signals() {
  if (with_.signals != nullptr)
    signals_seen_ = with_.signals->count();
}

result<std::string> cluster_client::submit(const definition& def,
                                           bool tensorboard) {
  resume_request none;
  none.tensorboard = tensorboard;
  return resume(def, none);
}

result<std::string> cluster_client::resume(const definition& def,
                                           const resume_request& of) {
  GRAPHMILL_TRY(const auto got, call(method::submit, encode_resumption(def, of),
                                     of.uploaded ? uploaded_read : 0min));
  return decode_run_id(got);
}

result<plan_reply> cluster_client::plan(const definition& def) {
  GRAPHMILL_TRY(const auto got,
                call(method::plan, encode_definition_body(def)));
  return decode_plan_reply(got);
}

result<status_reply> cluster_client::status() {
  GRAPHMILL_TRY(const auto got, call(method::status, {}));
  return decode_status_reply(got);
}

result<run_health> cluster_client::health(const health_request& request) {
  GRAPHMILL_TRY(const auto got, call(method::health, encode(request)));
  return decode_run_health(got);
}

result<log_reply> cluster_client::logs(const log_request& request) {
  GRAPHMILL_TRY(const auto got, call(method::logs, encode(request)));
  return decode_log_reply(got);
}

result<events_reply> cluster_client::events(const events_request& request) {
  GRAPHMILL_TRY(const auto got, call(method::events, encode(request)));
  return decode_events_reply(got);
}

result<trace_reply> cluster_client::trace(const trace_request& request) {
  GRAPHMILL_TRY(const auto got, call(method::trace, encode(request)));
  return decode_trace_reply(got);
}

result<runs_reply> cluster_client::runs(const runs_request& request) {
  GRAPHMILL_TRY(const auto got, call(method::runs, encode(request)));
  return decode_runs_reply(got);
}

result<watch_reply> cluster_client::watch(const watch_request& request) {
  GRAPHMILL_TRY(const auto got,
                call(method::watch, encode(request), attempts * request.wait));
  return decode_watch_reply(got);
}

result<void> cluster_client::cancel(const cancel_request& request) {
  GRAPHMILL_TRYV(call(method::cancel, encode(request)));
  return ok();
}

result<void> cluster_client::drain(const daemon_request& request) {
  GRAPHMILL_TRYV(call(method::drain, encode(request)));
  return ok();
}

result<void> cluster_client::stop(const daemon_request& request) {
  GRAPHMILL_TRYV(call(method::stop, encode(request)));
  return ok();
}

result<void> cluster_client::chaos(const chaos_request& request) {
  GRAPHMILL_TRYV(call(method::chaos, encode(request)));
  return ok();
}

result<file_reply> cluster_client::fetch_file(const file_request& request) {
  GRAPHMILL_TRY(const auto got, call(method::fetch_file, encode(request)));
  return decode_file_reply(got, request);
}

result<void> cluster_client::upload(const upload_request& piece) {
  GRAPHMILL_TRYV(call(method::upload, encode(piece), upload_more));
  return ok();
}

result<run_record> cluster_client::run(const std::string& id) {
  GRAPHMILL_TRY(auto found, runs({id, 1, {}}));
  if (!found.runs.empty())
    return std::move(found.runs.front());
  if (id.empty())
    return fail(
      ec::not_found,
      "the cluster has had no run yet; `graphmill submit` starts one");
  return fail(ec::not_found,
              "the cluster knows no run {}; `graphmill runs` lists the latest",
              id);
}

} // namespace graphmill
