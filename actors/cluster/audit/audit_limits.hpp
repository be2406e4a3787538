#pragma once

#include <chrono>
#include <cstddef>

/// What the audit log keeps, at the most: it is filled by what others do.
namespace graphmill::audit_limits {

/// Bytes of the file before it becomes the old one, of which there is one.
inline constexpr std::size_t file_bytes = std::size_t{16} << 20;
/// Jobs that wait for the disk; what comes beyond is counted and left out.
inline constexpr std::size_t waiting = 4096;
/// Of a text of an entry.
inline constexpr std::size_t text_bytes = 500;
/// Refusals that are alike are one entry for each such time, with how many;
/// kinds of them that are kept apart meanwhile.
inline constexpr std::chrono::milliseconds period{10'000};
inline constexpr std::size_t kinds = 100;
/// Lines for what one reading of the members file brings.
inline constexpr std::size_t changes = 4096;

} // namespace graphmill::audit_limits
