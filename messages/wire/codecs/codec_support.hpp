#pragma once

#include "messages/definition/field_codec.hpp"
#include "messages/wire/codecs/capnp_frame.hpp"
#include "messages/wire/frame.hpp"

#include <capnp/message.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace graphmill::wire {

/// Builds the body of a message: `fill` gets a `Root::Builder`.
template <class Root, class Fill>
payload body(Fill fill) {
  capnp::MallocMessageBuilder message;
  fill(message.initRoot<Root>());
  return {encode_frame(message), {}};
}

/// Reads the body of a message: `get` gets a `Root::Reader`.
template <class Root, class Get>
auto read(const payload& from, const char* name, Get get) {
  return decode_frame<Root>(from.body, name, get);
}

/// The body of a message whose fields are listed beside its plain struct.
template <class Root, class T>
payload body_of(const T& plain) {
  return body<Root>([&plain](typename Root::Builder out) {
    T::fields(plain, field_writer{out});
  });
}

/// The fields of a body, with the checks of `field_reader`. All that is in
/// lists takes a word at least.
template <class T>
result<T> read_listed(const payload& from, capnp::DynamicStruct::Reader in) {
  return read_fields<T>(in, from.body.size() / sizeof(capnp::word));
}

template <class Root, class T>
result<T> read_body(const payload& from, const char* name) {
  return read<Root>(from, name, [&from](typename Root::Reader in) {
    return read_listed<T>(from, in);
  });
}

/// Defines `encode` and `decode_<plain>` of a message that is nothing but the
/// fields listed beside its plain struct.
/// @param root Its name in the schema.
/// @param words Name it in errors.
#define GRAPHMILL_LISTED_CODEC(plain, root, words)                             \
  payload encode(const plain& from) {                                          \
    return body_of<schema::root>(from);                                        \
  }                                                                            \
  result<plain> decode_##plain(const payload& from) {                          \
    return read_body<schema::root, plain>(from, words);                        \
  }

/// All bytes of a text: it may contain NULs, where `cStr` would end.
inline std::string text(capnp::Text::Reader from) {
  return {from.begin(), from.end()};
}

/// The other way round: where Cap'n Proto takes a std::string, it takes what is
/// before its first NUL.
inline capnp::Text::Reader text(const std::string& from) {
  return {from.data(), from.size()};
}

/// Copies bytes into frames of at most `max_frame_bytes`.
inline std::vector<frame> cut(std::span<const std::byte> bytes) {
  std::vector<frame> out;
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), max_frame_bytes));
    out.push_back(frame::copy(piece));
    bytes = bytes.subspan(piece.size());
  }
  return out;
}

/// The other way round: the bytes of frames, one behind the other.
inline std::vector<std::byte> joined(std::span<const frame> frames) {
  std::vector<std::byte> out;
  for (const auto& piece : frames)
    out.insert(out.end(), piece.bytes().begin(), piece.bytes().end());
  return out;
}

} // namespace graphmill::wire
