#include "messages/wire/codecs/bulk_codec.hpp"
#include "messages/wire/codecs/enum_codec.hpp"
#include "messages/wire/gradients.hpp"

#include <capnp/message.h>

#include <utility>

namespace graphmill {

using namespace wire;

static_assert(static_cast<int>(gradient_purpose::farewell)
              == static_cast<int>(schema::GradientPurpose::FAREWELL));

payload encode(const gradient_message& from, frame bytes) {
  capnp::MallocMessageBuilder message;
  auto to = message.initRoot<schema::GradientMessage>();
  to.setRun(from.run);
  to.setGeneration(from.generation);
  to.setFrom(from.from);
  to.setTo(from.to);
  to.setPurpose(static_cast<schema::GradientPurpose>(from.purpose));
  to.setTransfer(from.transfer);
  to.setOffset(from.offset);
  to.setTotal(from.total);
  payload out{encode_frame(message), {}};
  if (from.purpose == gradient_purpose::piece)
    out.bulk.push_back(std::move(bytes));
  return out;
}

result<void> check_piece(const gradient_message& head, std::size_t bytes) {
  if (head.offset > head.total || bytes > head.total - head.offset)
    return fail(ec::invalid_data,
                "{} bytes from {} on do not lie in a transfer of {}", bytes,
                head.offset, head.total);
  if (bytes == 0 || (bytes < least_piece && head.offset + bytes != head.total))
    return fail(
      ec::invalid_data,
      "a piece of {} bytes in a transfer of {}: all but the last have "
      "{} at least",
      bytes, head.total, least_piece);
  return ok();
}

result<gradient_message> decode_gradient_message(const payload& from) {
  using root = schema::GradientMessage;
  return decode_frame<root>(
    from.body, "a message of gradients",
    [&from](root::Reader in) -> result<gradient_message> {
      gradient_message out;
      GRAPHMILL_TRY(out.run, read_run(in.getRun()));
      out.generation = in.getGeneration();
      out.from = in.getFrom();
      out.to = in.getTo();
      const auto purpose = known_value(in.getPurpose(), gradient_purpose::piece,
                                       gradient_purpose::farewell);
      if (!purpose)
        return fail(ec::invalid_data,
                    "a message of gradients for purpose {}, "
                    "which this version does not know",
                    static_cast<int>(in.getPurpose()));
      out.purpose = *purpose;
      out.transfer = in.getTransfer();
      out.offset = in.getOffset();
      out.total = in.getTotal();
      const std::size_t frames = out.purpose == gradient_purpose::piece ? 1 : 0;
      if (from.bulk.size() != frames)
        return fail(ec::invalid_data,
                    "a message of gradients has {} frames of bytes, must have "
                    "{}",
                    from.bulk.size(), frames);
      if (frames != 0)
        GRAPHMILL_TRYV(check_piece(out, from.bulk.front().size()));
      return out;
    });
}

} // namespace graphmill
