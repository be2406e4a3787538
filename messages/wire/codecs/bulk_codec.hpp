#pragma once

#include "messages/wire/codecs/capnp_frame.hpp"
#include "messages/wire/data.capnp.h"
#include "messages/wire/data.hpp"

#include <capnp/message.h>

#include <string>

// What the codecs of messages with bulk arrays share.

namespace graphmill::wire {

inline void write(const bulk_array& from, schema::BulkArray::Builder to) {
  to.setElement(static_cast<schema::Element>(from.type));
  to.setCount(from.count);
  to.setFrame(from.frame);
  to.setOffset(from.offset);
  to.setBase(from.base);
}

/// What a field of a message expects of an array: ids of nodes and edges,
/// counts, values of any type, float32, or bytes.
enum class content : std::uint8_t { ids, counts, values, floats, bytes };

inline bool fits(element type, content expected) {
  switch (expected) {
  case content::ids:
    return type == element::int32 || type == element::int64;
  case content::counts:
    return type == element::uint8 || type == element::uint16
           || type == element::int32;
  case content::values:
    return true;
  case content::floats:
    return type == element::float32;
  case content::bytes:
    return type == element::uint8;
  }
  return false;
}

/// Reads the descriptions of the arrays of one message, and checks them against
/// its frames and against what the field expects. One object serves one
/// message, for the bytes of all its arrays are counted together. Borrows the
/// frames.
class array_reader {
public:
  explicit array_reader(const payload& from) : check_(from.bulk) {}

  result<bulk_array> read(schema::BulkArray::Reader from, content expected) {
    const bulk_array out{static_cast<element>(from.getElement()),
                         from.getCount(), from.getBase(), from.getFrame(),
                         from.getOffset()};
    GRAPHMILL_TRYV(check_.array(out));
    if (out.count != 0 && !fits(out.type, expected))
      return fail(ec::invalid_data,
                  "an array has elements of type {}, which "
                  "do not belong there",
                  static_cast<int>(out.type));
    return out;
  }

private:
  bulk_check check_;
};

inline result<std::string> read_run(capnp::Text::Reader from) {
  if (from.size() > max_run_name)
    return fail(ec::invalid_data,
                "the name of a run has {} bytes, more than "
                "{}",
                from.size(), max_run_name);
  return std::string{from.cStr(), from.size()};
}

template <class List>
result<void> check_length(const List& list, std::size_t most) {
  if (list.size() > most)
    return fail(ec::invalid_data, "{} entries are more than {}", list.size(),
                most);
  return ok();
}

/// Builds a message of root `Root` by `fill` around the arrays, and empties the
/// writer. Fails with `invalid_argument` if it is larger than may be sent.
template <class Root, class Fill>
result<payload> encode_with(bulk_writer& arrays, Fill fill) {
  if (arrays.byte_size() > max_bulk_bytes)
    return fail(ec::invalid_argument,
                "a message of {} bytes is larger than the {} that may be sent "
                "at once",
                arrays.byte_size(), max_bulk_bytes);
  capnp::MallocMessageBuilder message;
  fill(message.initRoot<Root>());
  payload out{encode_frame(message), arrays.take()};
  if (out.body.size() > max_frame_bytes)
    return fail(ec::invalid_argument,
                "a message's body of {} bytes is too "
                "large: ask for less at once",
                out.body.size());
  return out;
}

inline unsigned length(std::size_t size) {
  return static_cast<unsigned>(size);
}

} // namespace graphmill::wire
