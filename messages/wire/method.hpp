#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace graphmill {

/// What a request asks for. The values are those of wire.capnp, where they are
/// described; those of obsolete methods are left out. To add one: append it
/// there, here, and to the table below.
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
  prove,
};

/// One more than the greatest value of a method.
inline constexpr std::size_t method_count =
  static_cast<std::size_t>(method::prove) + 1;

/// Which connection of a peer a message takes. What waits on one channel does
/// not hold up the other.
enum class channel : std::uint8_t { control, data };

/// Who of a daemon answers a request. What is the coordinator's goes to the
/// agent of a daemon that is none; what is for ranks, to the one that it names.
enum class method_server : std::uint8_t {
  transport,
  coordinator,
  agent,
  data,
  ranks,
};

/// Under which sum of a run's report its messages are. Gradients are under
/// none: the stage that adds them up counts them.
enum class method_subject : std::uint8_t {
  control,
  sampling,
  features,
  gradients,
};

/// What must be known about a method wherever it passes.
struct method_traits {
  graphmill::method method;
  std::string_view name; ///< In snake_case, for logs and reports.
  graphmill::channel channel;
  bool idempotent; ///< May be run again by a retry; its reply is not kept.
  method_server server;
  method_subject about = method_subject::control;
};

/// By value. The first row is that of all unknown values.
inline constexpr auto method_table = [] {
  using enum method_server;
  using enum method_subject;
  constexpr auto small = channel::control;
  constexpr auto bulk = channel::data;
  constexpr method_traits unknown{method::unset, "unknown", small, true,
                                  coordinator};
  return std::array<method_traits, method_count>{{
    unknown,
    {method::hello, "hello", small, true, transport},
    {method::beat, "beat", small, true, transport},
    {method::join, "join", small, false, coordinator},
    {method::leave, "leave", small, false, coordinator},
    {method::deploy, "deploy", small, false, agent},
    unknown, // Obsolete.
    {method::run_event, "run_event", small, false, coordinator},
    {method::order, "order", small, false, agent},
    {method::sample, "sample", bulk, true, data, sampling},
    {method::gather, "gather", bulk, true, data, features},
    {method::rendezvous, "rendezvous", small, false, coordinator},
    {method::submit, "submit", small, false, coordinator},
    {method::status, "status", small, true, coordinator},
    {method::runs, "runs", small, true, coordinator},
    unknown, // Obsolete.
    {method::cancel, "cancel", small, false, coordinator},
    {method::drain, "drain", small, false, coordinator},
    {method::stop, "stop", small, false, coordinator},
    {method::fetch_file, "fetch_file", bulk, true, coordinator},
    {method::watch, "watch", small, true, coordinator},
    {method::plan, "plan", small, true, coordinator},
    {method::weights, "weights", bulk, true, agent},
    {method::sample_batch, "sample_batch", bulk, true, data, sampling},
    {method::spread, "spread", bulk, true, data, features},
    {method::contribute, "contribute", bulk, true, ranks, gradients},
    {method::prove, "prove", bulk, true, data, features},
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

/// Of a method that is known; of `unset` for any other value, those of obsolete
/// methods among them.
constexpr const method_traits& traits_of(method which) {
  const auto row = static_cast<std::size_t>(which);
  return method_table[row < method_table.size() ? row : 0];
}

/// The name of a method, or "unknown".
constexpr std::string_view to_string(method which) {
  return traits_of(which).name;
}

/// Whether a value from the wire is a method that this version knows.
constexpr bool is_known(method which) {
  return traits_of(which).method != method::unset;
}

} // namespace graphmill
