#pragma once

#include <chrono>

namespace graphmill::test {

/// Longer than anything in a test takes that is not stuck, and shorter than the
/// time-outs of a minute that would end what is stuck.
inline constexpr std::chrono::seconds patience{30};

} // namespace graphmill::test
