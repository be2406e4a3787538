#include "messages/definition/definition_codec.hpp"
#include "messages/definition/field_codec.hpp"
#include "messages/wire/cluster.capnp.h"
#include "messages/wire/cluster.hpp"
#include "messages/wire/codecs/codec_support.hpp"
#include "tests/support/catch.hpp"

#include <capnp/any.h>
#include <capnp/schema.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

// Lists that claim more than they bring: a few bytes must not keep a receiver
// busy, nor make it take much memory.

using namespace graphmill;

namespace {

enum class claim { elements_without_bytes, bytes_as_elements };

/// Has a list of structs be what its schema does not say.
template <class Struct>
void claim_list(typename Struct::Builder of, const char* list, claim what,
                unsigned elements) {
  const auto field = capnp::Schema::from<Struct>().getFieldByName(list);
  const auto place = field.getProto().getSlot().getOffset();
  capnp::AnyPointer::Builder at =
    capnp::AnyStruct::Builder{std::move(of)}.getPointerSection()[place];
  if (what == claim::elements_without_bytes)
    at.initAsListOfAnyStruct(0, 0, elements);
  else
    at.initAs<capnp::List<std::uint8_t>>(elements);
}

template <class Root>
payload claiming(const char* list, claim what, unsigned elements) {
  return wire::body<Root>([&](typename Root::Builder out) {
    claim_list<Root>(out, list, what, elements);
  });
}

/// The same in the definition that a request brings.
payload claiming_fanouts(claim what, unsigned elements) {
  using root = schema::SubmitRequest;
  return wire::body<root>([&](root::Builder out) {
    definition any;
    any.dataset = "d";
    any.sampler.fanouts = {1};
    encode_definition(any, out.initDefinition());
    claim_list<schema::Sampler>(out.getDefinition().getSampler(), "edgeFanouts",
                                what, elements);
  });
}

template <class T>
std::string why_refused(const result<T>& got) {
  CATCH_REQUIRE_FALSE(got);
  return got.error().message;
}

} // namespace

CATCH_TEST_CASE("elements without bytes are refused when there are more than "
                "the message has words",
                "[messages][wire]") {
  const auto too_much = test::contains("traversal limit");
  const auto what = claim::elements_without_bytes;
  for (const unsigned elements : {5'000u, 500'000'000u}) {
    CATCH_INFO(elements << " elements");
    const auto status =
      claiming<schema::StatusReply>("daemons", what, elements);
    CATCH_CHECK(status.body.size() < 300);
    CATCH_CHECK_THAT(why_refused(decode_status_reply(status)), too_much);
    CATCH_CHECK_THAT(why_refused(decode_watch_reply(
                       claiming<schema::WatchReply>("events", what, elements))),
                     too_much);
    CATCH_CHECK_THAT(
      why_refused(decode_definition_body(claiming_fanouts(what, elements))),
      too_much);
  }
}

CATCH_TEST_CASE("bytes pass for structs only as far as a message of this size "
                "could bring these",
                "[messages][wire]") {
  const auto what = claim::bytes_as_elements;
  CATCH_CHECK_THAT(why_refused(decode_status_reply(
                     claiming<schema::StatusReply>("daemons", what, 1000))),
                   test::contains("have 1000 elements, but one of its size"));
  CATCH_CHECK_THAT(why_refused(decode_watch_reply(
                     claiming<schema::WatchReply>("events", what, 1000))),
                   test::contains("1000 news of a run at once"));
  CATCH_CHECK_THAT(
    why_refused(decode_definition_body(claiming_fanouts(what, 4097))),
    test::contains("4096 at the most"));
  // However large a frame is.
  field_reader::seen so_far;
  CATCH_CHECK(so_far.most == max_frame_bytes / 8);
}
