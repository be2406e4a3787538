#pragma once

#include <optional>

namespace graphmill::wire {

/// A value of an enumeration of ours whose values are the wire's, if it lies
/// from `first` to `last`. It is compared before it is cast, for the 16 bits of
/// the wire may not fit into ours: 257 is not 1.
template <class Ours, class Wire>
constexpr std::optional<Ours> known_value(Wire wire, Ours first, Ours last) {
  const auto raw = static_cast<int>(wire);
  if (raw < static_cast<int>(first) || raw > static_cast<int>(last))
    return std::nullopt;
  return static_cast<Ours>(raw);
}

} // namespace graphmill::wire
