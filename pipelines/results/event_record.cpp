#include "pipelines/results/event_record.hpp"

#include <boost/crc.hpp>

#include <bit>

namespace graphmill::event_record {

namespace {

/// Castagnoli's polynomial, as in iSCSI (RFC 3720).
using crc_32c =
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true>;

constexpr std::uint32_t mask_delta = 0xA282EAD8;

/// What stands before a field: its number and how it is encoded.
namespace key {
constexpr char event_wall_time = 0x09;    // 1, 64 bits
constexpr char event_step = 0x10;         // 2, varint
constexpr char event_file_version = 0x1A; // 3, bytes
constexpr char event_summary = 0x2A;      // 5, bytes
constexpr char event_session_log = 0x3A;  // 7, bytes
constexpr char session_status = 0x08;     // 1, varint
constexpr char summary_value = 0x0A;      // 1, bytes
constexpr char value_tag = 0x0A;          // 1, bytes
constexpr char value_simple = 0x15;       // 2, 32 bits
} // namespace key

constexpr char session_start = 1;

template <class T>
void add_fixed(std::string& out, T bits) {
  for (std::size_t i = 0; i < sizeof(T); ++i)
    out += static_cast<char>(bits >> (8 * i));
}

void add_varint(std::string& out, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7)
    out += static_cast<char>(number | 0x80);
  out += static_cast<char>(number);
}

void add_bytes(std::string& out, char field, std::string_view bytes) {
  out += field;
  add_varint(out, bytes.size());
  out += bytes;
}

std::uint32_t masked_crc(std::string_view bytes) {
  crc_32c crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return std::rotr(static_cast<std::uint32_t>(crc.checksum()), 15) + mask_delta;
}

std::string event_at(double wall_time) {
  std::string out{key::event_wall_time};
  add_fixed(out, std::bit_cast<std::uint64_t>(wall_time));
  return out;
}

} // namespace

std::string framed(std::string_view message) {
  std::string out;
  add_fixed(out, std::uint64_t{message.size()});
  add_fixed(out, masked_crc(out));
  out += message;
  add_fixed(out, masked_crc(message));
  return out;
}

std::string version(double wall_time) {
  auto event = event_at(wall_time);
  add_bytes(event, key::event_file_version, "brain.Event:2");
  return framed(event);
}

std::string start(double wall_time) {
  auto event = event_at(wall_time);
  const char session[] = {key::session_status, session_start};
  add_bytes(event, key::event_session_log, {session, sizeof(session)});
  return framed(event);
}

std::string values(double wall_time, std::int64_t step,
                   std::span<const scalar> scalars) {
  std::string summary;
  for (const auto& one : scalars) {
    std::string value;
    add_bytes(value, key::value_tag, one.tag);
    value += key::value_simple;
    add_fixed(value, std::bit_cast<std::uint32_t>(one.value));
    add_bytes(summary, key::summary_value, value);
  }
  auto event = event_at(wall_time);
  event += key::event_step;
  add_varint(event, static_cast<std::uint64_t>(step));
  add_bytes(event, key::event_summary, summary);
  return framed(event);
}

} // namespace graphmill::event_record
