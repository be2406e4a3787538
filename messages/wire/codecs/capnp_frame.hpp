#pragma once

#include "messages/base/error.hpp"
#include "messages/wire/frame.hpp"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/exception.h>

#include <cstddef>
#include <string_view>
#include <utility>

namespace graphmill {

/// The frame of a message that was built, in the standard stream framing. The
/// frame owns a copy of its words.
frame encode_frame(capnp::MessageBuilder& message);

/// How much of a frame of so many words may be followed: twice what it has, for
/// parts of a message are read twice, and some words more; and 32 levels. Cap'n
/// Proto counts what is read and not what is there: without this, a small
/// message whose pointers lead to one place again and again, or whose lists
/// claim elements without bytes, would keep its receiver busy.
inline capnp::ReaderOptions frame_limits(std::size_t words) {
  return {2 * words + 64, 32};
}

/// The words of a frame. They are copied if they are not aligned, as memory of
/// ZeroMQ need not be: Cap'n Proto reads words in place.
/// @returns `invalid_data` if these are not whole words.
result<frame> aligned_words(const frame& from, std::string_view name);

/// Reads a frame that came from outside: `read` gets a `Root::Reader`, valid
/// for the call, and returns a result<...>; it may let Cap'n Proto throw. An
/// empty frame reads as a struct of defaults.
/// @param name Names the content in errors, as in "a handshake".
/// @returns what `read` did, or invalid_data.
template <class Root, class Read>
auto decode_frame(const frame& from, std::string_view name, Read read)
  -> decltype(read(std::declval<typename Root::Reader>())) {
  if (from.empty())
    return read(typename Root::Reader{});
  GRAPHMILL_TRY(const auto words, aligned_words(from, name));
  try {
    const auto count = words.size() / sizeof(capnp::word);
    capnp::FlatArrayMessageReader message{
      {reinterpret_cast<const capnp::word*>(words.data()), count},
      frame_limits(count)};
    return read(message.template getRoot<Root>());
  } catch (const kj::Exception& broken) {
    return fail(ec::invalid_data, "cannot decode {}: {}", name,
                broken.getDescription().cStr());
  }
}

} // namespace graphmill
