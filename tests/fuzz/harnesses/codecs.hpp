#pragma once

#include "messages/base/error.hpp"
#include "messages/wire/frame.hpp"
#include "tests/fuzz/harness.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill::fuzz {

inline frame frame_of(std::string_view bytes) {
  return frame::copy(std::as_bytes(std::span{bytes.data(), bytes.size()}));
}

inline std::string text_of(const frame& from) {
  return {reinterpret_cast<const char*>(from.data()), from.size()};
}

inline bool same(const frame& a, const frame& b) {
  return std::ranges::equal(a.bytes(), b.bytes());
}

/// A message as an input: which decoder, how many bulk frames, how many words
/// the body has, the body, the frames, all of one size but the last.
struct message_input {
  std::size_t which = 0;
  payload data;
};

inline message_input message_in(std::string_view input) {
  cursor from{input};
  message_input out;
  out.which = from.take<std::uint8_t>();
  const auto frames = std::size_t{from.take<std::uint8_t>()} % 5;
  const auto words = std::size_t{from.take<std::uint16_t>()};
  out.data.body = frame_of(from.take_text(8 * words));
  const auto rest = from.rest().size();
  for (std::size_t i = 0; i < frames; ++i)
    out.data.bulk.push_back(
      frame_of(from.take_text(i + 1 < frames ? rest / frames / 8 * 8 : rest)));
  return out;
}

inline std::string input_of(std::size_t which, const payload& data) {
  const auto words = data.body.size() / 8;
  std::string out{static_cast<char>(which), static_cast<char>(data.bulk.size()),
                  static_cast<char>(words & 0xff),
                  static_cast<char>(words >> 8 & 0xff)};
  out += text_of(data.body);
  for (const auto& part : data.bulk)
    out += text_of(part);
  return out;
}

/// What is decoded encodes to a message that decodes, and encodes to the same
/// bytes again. (The first message may have been longer or shorter: fields that
/// we do not know, parts that nobody refers to.)
/// @param encode Makes a payload of what `decode` gives.
/// @returns whether it decodes.
template <class Decode, class Encode>
bool there_and_back(const payload& from, Decode decode, Encode encode) {
  auto first = decode(from);
  if (!first) {
    require(!first.error().message.empty(), "an error without a sentence");
    return false;
  }
  const payload second = encode(first.value());
  if (second.body.size() > max_frame_bytes)
    return true; // It said the same again and again; nobody sends it on.
  const auto again = decode(second);
  if (!again)
    broken("what was decoded encodes to what does not decode: "
           + again.error().message);
  const payload third = encode(again.value());
  require(same(second.body, third.body),
          "what was decoded, encoded and decoded again is not the same");
  return true;
}

/// Reads a message, and says whether it decodes.
using message_reader = bool (*)(const payload&);

/// Sees to it that changes of seeds get far: each is decoded by its reader, and
/// each reader has one.
inline void require_sound(const std::vector<std::string>& seeds,
                          std::span<const message_reader> readers) {
  std::vector<bool> fed(readers.size());
  for (const auto& seed : seeds) {
    const auto in = message_in(seed);
    require(in.which < readers.size() && readers[in.which](in.data),
            "a sound message does not decode");
    fed[in.which] = true;
  }
  require(std::ranges::find(fed, false) == fed.end(),
          "there is no sound message for a decoder");
}

} // namespace graphmill::fuzz
