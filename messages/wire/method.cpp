#include "messages/wire/method.hpp"

#include <array>

namespace graphmill {

namespace {

constexpr method_traits unknown{method::unset, "unknown", lane::control, true};

/// By value.
constexpr std::array<method_traits, method_count> table{{
  unknown,
  {method::hello, "hello", lane::control, true},
  {method::beat, "beat", lane::control, true},
  {method::join, "join", lane::control, false},
  {method::leave, "leave", lane::control, false},
  {method::deploy, "deploy", lane::control, false},
  unknown, // Obsolete.
  {method::run_event, "run_event", lane::control, false},
  {method::order, "order", lane::control, false},
  {method::sample, "sample", lane::data, true},
  {method::gather, "gather", lane::data, true},
  {method::rendezvous, "rendezvous", lane::control, false},
  {method::submit, "submit", lane::control, false},
  {method::status, "status", lane::control, true},
  {method::runs, "runs", lane::control, true},
  unknown, // Obsolete.
  {method::cancel, "cancel", lane::control, false},
  {method::drain, "drain", lane::control, false},
  {method::stop, "stop", lane::control, false},
  {method::fetch_file, "fetch_file", lane::data, true},
  {method::watch, "watch", lane::control, true},
  {method::plan, "plan", lane::control, true},
  {method::weights, "weights", lane::data, true},
  {method::sample_batch, "sample_batch", lane::data, true},
  {method::spread, "spread", lane::data, true},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < table.size(); ++i)
    if (table[i].method != method::unset
        && static_cast<std::size_t>(table[i].method) != i)
      return false;
  return true;
}
static_assert(in_order());

} // namespace

const method_traits& traits_of(method which) {
  const auto index = static_cast<std::size_t>(which);
  return table[index < table.size() ? index : 0];
}

bool is_known(method which) {
  return traits_of(which).method != method::unset;
}

std::string_view to_string(method which) {
  return traits_of(which).name;
}

} // namespace graphmill
