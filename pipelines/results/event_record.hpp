#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace graphmill {

/// What TensorBoard reads: records in the framing of TFRecord files, each with
/// an `Event` message of tensorflow/core/util/event.proto, in the encoding of
/// protocol buffers (protobuf.dev/programming-guides/encoding). Functions of
/// their arguments alone; all numbers are little-endian.
namespace event_record {

/// A value of a curve.
struct scalar {
  std::string_view tag;
  float value = 0;
};

/// A record: length, its checksum, the message, its checksum. Both are CRC-32C,
/// rotated and shifted so that a checksum of data with checksums still tells
/// something.
std::string framed(std::string_view message);

/// The record with which a file begins.
/// @param wall_time Seconds since 1970.
std::string version(double wall_time);

/// A record which says that what was told before of steps from 0 on does not
/// count any more: a session has begun.
std::string start(double wall_time);

/// A record with the values that curves have at a step, which is not negative.
std::string values(double wall_time, std::int64_t step,
                   std::span<const scalar> scalars);

} // namespace event_record

} // namespace graphmill
