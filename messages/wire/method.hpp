#pragma once

#include "messages/wire/role.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace graphmill {

/// The methods of requests. The values are those of wire.capnp, which describes
/// them; obsolete methods are left out. To add one, append it there, here, and
/// to the table below.
enum class method : std::uint16_t {
  unset,
  hello, ///< The transport's own.
  beat,  ///< The transport's own.
  join,
  leave,
  deploy,
  run_event = 7,
  order,
  sample,
  gather,
  rendezvous,
  submit,
  status,
  runs,
  cancel = 16,
  drain,
  stop,
  fetch_file,
  watch,
  plan,
  weights,
  sample_batch,
  spread,
  contribute,
  members,
  prove,
  health_report,
  health,
  chaos,
  upload,
  log_lines,
  logs,
  events,
  trace,
  spans,
  feed,
  feed_state,
};

/// One more than the largest value of a method.
inline constexpr std::size_t method_count =
  static_cast<std::size_t>(method::feed_state) + 1;

/// The connection of a peer that a message takes. Messages on one channel do
/// not delay the other.
enum class channel : std::uint8_t { control, data };

/// The actor of a daemon that answers a request. The coordinator's methods go
/// to the agent of other daemons; those for ranks to the named rank.
enum class method_server : std::uint8_t {
  transport,
  coordinator,
  agent,
  data,
  ranks,
};

/// The sum of a run's report that counts the messages. None counts gradients:
/// the stage that adds them does.
enum class method_subject : std::uint8_t {
  control,
  sampling,
  features,
  gradients,
};

/// The properties of a method.
struct method_traits {
  graphmill::method method;
  std::string_view name; ///< In snake_case, for logs and reports.
  graphmill::channel channel;
  bool idempotent; ///< A retry may run it again; its reply is not kept.
  method_server server;
  role_set callers; ///< The roles that may ask for it, in clusters with roles.
  method_subject about = method_subject::control;
};

/// By value. The first row is for all unknown values.
inline constexpr auto method_table = [] {
  using enum method_server;
  using enum method_subject;
  constexpr auto small = channel::control;
  constexpr auto bulk = channel::data;
  constexpr role_set everybody{key_role::coordinator, key_role::daemon,
                               key_role::client, key_role::reader};
  constexpr role_set leader{key_role::coordinator};
  // A coordinator is also a daemon, and asks itself.
  constexpr role_set daemons{key_role::coordinator, key_role::daemon};
  constexpr role_set clients{key_role::client};
  constexpr role_set readers{key_role::client, key_role::reader};
  // A coordinator asks daemons for `status`, as a sign of life.
  constexpr role_set onlookers{key_role::coordinator, key_role::client,
                               key_role::reader};
  // Clients make the coordinator stop or disturb daemons.
  constexpr role_set stoppers{key_role::coordinator, key_role::client};
  constexpr method_traits unknown{method::unset, "unknown",   small,
                                  true,          coordinator, everybody};
  return std::array<method_traits, method_count>{{
    unknown,
    {method::hello, "hello", small, true, transport, everybody},
    {method::beat, "beat", small, true, transport, everybody},
    {method::join, "join", small, false, coordinator, daemons},
    {method::leave, "leave", small, false, coordinator, daemons},
    {method::deploy, "deploy", small, false, agent, leader},
    unknown, // Obsolete.
    {method::run_event, "run_event", small, false, coordinator, daemons},
    {method::order, "order", small, false, agent, leader},
    {method::sample, "sample", bulk, true, data, daemons, sampling},
    {method::gather, "gather", bulk, true, data, daemons, features},
    {method::rendezvous, "rendezvous", small, false, coordinator, daemons},
    {method::submit, "submit", small, false, coordinator, clients},
    {method::status, "status", small, true, coordinator, onlookers},
    {method::runs, "runs", small, true, coordinator, readers},
    unknown, // Obsolete.
    {method::cancel, "cancel", small, false, coordinator, clients},
    {method::drain, "drain", small, false, coordinator, clients},
    {method::stop, "stop", small, false, coordinator, stoppers},
    {method::fetch_file, "fetch_file", bulk, true, coordinator, readers},
    {method::watch, "watch", small, true, coordinator, readers},
    {method::plan, "plan", small, true, coordinator, readers},
    {method::weights, "weights", bulk, true, agent, leader},
    {method::sample_batch, "sample_batch", bulk, true, data, daemons, sampling},
    {method::spread, "spread", bulk, true, data, daemons, features},
    {method::contribute, "contribute", bulk, true, ranks, daemons, gradients},
    {method::members, "members", small, false, agent, leader},
    {method::prove, "prove", bulk, true, data, daemons, features},
    {method::health_report, "health_report", small, true, coordinator, daemons},
    {method::health, "health", small, true, coordinator, readers},
    {method::chaos, "chaos", small, false, coordinator, stoppers},
    {method::upload, "upload", bulk, false, coordinator, clients},
    {method::log_lines, "log_lines", small, true, agent, leader},
    {method::logs, "logs", small, true, coordinator, readers},
    {method::events, "events", small, true, coordinator, readers},
    {method::trace, "trace", bulk, true, coordinator, readers},
    {method::spans, "spans", bulk, true, agent, leader},
    {method::feed, "feed", small, false, coordinator, daemons},
    {method::feed_state, "feed_state", small, true, coordinator, daemons},
  }};
}();

static_assert(
  [] {
    for (std::size_t i = 0; i < method_table.size(); ++i)
      if (method_table[i].method != method::unset
          && static_cast<std::size_t>(method_table[i].method) != i)
        return false;
    return true;
  }(),
  "each method stands at its value");

/// The traits of a known method; of `unset` for any other value, including
/// obsolete methods.
constexpr const method_traits& traits_of(method which) {
  const auto row = static_cast<std::size_t>(which);
  return method_table[row < method_table.size() ? row : 0];
}

/// The name of a method, or "unknown".
constexpr std::string_view to_string(method which) {
  return traits_of(which).name;
}

/// Whether the holder of a key with a role may ask for a method.
constexpr bool may_ask(key_role who, method what) {
  return who == key_role::all || traits_of(what).callers.has(who);
}

/// Whether a value from the wire is a method that this version knows.
constexpr bool is_known(method which) {
  return traits_of(which).method != method::unset;
}

} // namespace graphmill
