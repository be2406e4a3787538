#include "messages/capnp_frame.hpp"
#include "messages/data.capnp.h"
#include "messages/data.hpp"

#include <capnp/message.h>

#include <type_traits>

namespace graphmill {

namespace {

// The plain enumerations are the wire's, so that casts are enough.
static_assert(static_cast<int>(element::float32)
              == static_cast<int>(schema::Element::FLOAT32));
static_assert(static_cast<int>(value_kind::out_degrees)
              == static_cast<int>(schema::GatherKind::OUT_DEGREES));

// -- arrays -------------------------------------------------------------------

void write(const bulk_array& from, schema::BulkArray::Builder to) {
  to.setElement(static_cast<schema::Element>(from.type));
  to.setCount(from.count);
  to.setFrame(from.frame);
  to.setOffset(from.offset);
  to.setBase(from.base);
}

/// What an array may consist of.
enum class content : std::uint8_t { ids, counts, values, floats };

bool fits(element type, content what) {
  switch (what) {
  case content::ids:
    return type == element::int32 || type == element::int64;
  case content::counts:
    return type == element::uint8 || type == element::uint16
           || type == element::int32;
  case content::values:
    return true;
  case content::floats:
    return type == element::float32;
  }
  return false;
}

/// Reads the arrays of one message.
class array_reader {
public:
  explicit array_reader(const payload& from) : check_(from.bulk) {}

  result<bulk_array> read(schema::BulkArray::Reader from, content what) {
    const bulk_array out{static_cast<element>(from.getElement()),
                         from.getCount(), from.getBase(), from.getFrame(),
                         from.getOffset()};
    TRYV(check_.array(out));
    if (out.count != 0 && !fits(out.type, what))
      return fail(ec::invalid_data,
                  "an array has elements of type {}, which "
                  "do not belong there",
                  static_cast<int>(out.type));
    return out;
  }

private:
  bulk_check check_;
};

// -- requests and replies
// ------------------------------------------------------

result<std::string> read_run(capnp::Text::Reader from) {
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

/// Builds a message of root `Root` by `fill` around the arrays.
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

unsigned length(std::size_t size) {
  return static_cast<unsigned>(size);
}

} // namespace

// -- sample
// --------------------------------------------------------------------

result<payload> encode(const sample_request& from, bulk_writer arrays) {
  return encode_with<schema::SampleRequest>(arrays, [&from](auto to) {
    to.setRun(from.run);
    to.setPart(from.part);
    to.setKey(from.key);
    to.setHop(from.hop);
    auto queries = to.initQueries(length(from.queries.size()));
    for (unsigned i = 0; i < queries.size(); ++i) {
      const auto& query = from.queries[i];
      queries[i].setEdgeType(query.edge_type);
      queries[i].setFanout(query.fanout);
      queries[i].setReplace(query.replace);
      queries[i].setEdgeIds(query.edge_ids);
      write(query.destinations, queries[i].initDestinations());
    }
  });
}

result<sample_request> decode_sample_request(const payload& from) {
  using root = schema::SampleRequest;
  return decode_frame<root>(
    from.body, "a sample request",
    [&from](root::Reader in) -> result<sample_request> {
      array_reader arrays{from};
      sample_request out;
      TRY(out.run, read_run(in.getRun()));
      out.part = in.getPart();
      out.key = in.getKey();
      out.hop = in.getHop();
      TRYV(check_length(in.getQueries(), max_queries));
      for (auto query : in.getQueries()) {
        TRY(auto ids, arrays.read(query.getDestinations(), content::ids));
        out.queries.push_back({query.getEdgeType(), query.getFanout(),
                               query.getReplace(), query.getEdgeIds(), ids});
      }
      return out;
    });
}

result<payload> encode(const sample_reply& from, bulk_writer arrays) {
  return encode_with<schema::SampleReply>(arrays, [&from](auto to) {
    to.setTooLarge(from.too_large);
    auto answers = to.initAnswers(length(from.answers.size()));
    for (unsigned i = 0; i < answers.size(); ++i) {
      write(from.answers[i].counts, answers[i].initCounts());
      write(from.answers[i].sources, answers[i].initSources());
      write(from.answers[i].edge_ids, answers[i].initEdgeIds());
    }
  });
}

result<sample_reply> decode_sample_reply(const payload& from) {
  using root = schema::SampleReply;
  return decode_frame<root>(
    from.body, "a sample reply",
    [&from](root::Reader in) -> result<sample_reply> {
      array_reader arrays{from};
      sample_reply out;
      out.too_large = in.getTooLarge();
      TRYV(check_length(in.getAnswers(), max_queries));
      for (auto answer : in.getAnswers()) {
        neighbour_arrays one;
        TRY(one.counts, arrays.read(answer.getCounts(), content::counts));
        TRY(one.sources, arrays.read(answer.getSources(), content::ids));
        TRY(one.edge_ids, arrays.read(answer.getEdgeIds(), content::ids));
        out.answers.push_back(one);
      }
      return out;
    });
}

// -- gather
// --------------------------------------------------------------------

result<payload> encode(const gather_request& from, bulk_writer arrays) {
  return encode_with<schema::GatherRequest>(arrays, [&from](auto to) {
    to.setRun(from.run);
    to.setPart(from.part);
    auto queries = to.initQueries(length(from.queries.size()));
    for (unsigned i = 0; i < queries.size(); ++i) {
      const auto& query = from.queries[i];
      queries[i].setNodeType(query.node_type);
      queries[i].setHalf(query.half);
      write(query.ids, queries[i].initIds());
      auto kinds = queries[i].initKinds(length(query.kinds.size()));
      for (unsigned k = 0; k < kinds.size(); ++k)
        kinds.set(k, static_cast<schema::GatherKind>(query.kinds[k]));
    }
  });
}

result<gather_request> decode_gather_request(const payload& from) {
  using root = schema::GatherRequest;
  return decode_frame<root>(
    from.body, "a gather request",
    [&from](root::Reader in) -> result<gather_request> {
      array_reader arrays{from};
      gather_request out;
      TRY(out.run, read_run(in.getRun()));
      out.part = in.getPart();
      TRYV(check_length(in.getQueries(), max_queries));
      for (auto query : in.getQueries()) {
        value_query one{query.getNodeType(), {}, {}, query.getHalf()};
        TRY(one.ids, arrays.read(query.getIds(), content::ids));
        TRYV(check_length(query.getKinds(), max_kinds));
        for (auto kind : query.getKinds()) {
          const auto ours = static_cast<value_kind>(kind);
          if (ours == value_kind::unset || ours > value_kind::out_degrees)
            return fail(ec::invalid_data,
                        "a gather request asks for data of kind {}, which "
                        "this version does not know",
                        static_cast<int>(ours));
          one.kinds.push_back(ours);
        }
        out.queries.push_back(std::move(one));
      }
      return out;
    });
}

result<payload> encode(const gather_reply& from, bulk_writer arrays) {
  return encode_with<schema::GatherReply>(arrays, [&from](auto to) {
    auto values = to.initValues(length(from.values.size()));
    for (unsigned i = 0; i < values.size(); ++i)
      write(from.values[i], values[i]);
  });
}

result<gather_reply> decode_gather_reply(const payload& from) {
  using root = schema::GatherReply;
  return decode_frame<root>(
    from.body, "a gather reply",
    [&from](root::Reader in) -> result<gather_reply> {
      array_reader arrays{from};
      gather_reply out;
      TRYV(check_length(in.getValues(), max_queries * max_kinds));
      for (auto array : in.getValues()) {
        TRY(auto one, arrays.read(array, content::values));
        out.values.push_back(one);
      }
      return out;
    });
}

// -- spread
// --------------------------------------------------------------------

result<payload> encode(const spread_query& from, bulk_writer arrays) {
  return encode_with<schema::SpreadRequest>(arrays, [&from](auto to) {
    to.setRun(from.run);
    to.setPart(from.part);
    to.setEdgeType(from.edge_type);
    to.setFanout(from.fanout);
    to.setReplace(from.replace);
    to.setFirst(from.first);
    to.setSkip(from.skip);
    write(from.chances, to.initChances());
  });
}

result<spread_query> decode_spread_query(const payload& from) {
  using root = schema::SpreadRequest;
  return decode_frame<root>(
    from.body, "a spread request",
    [&from](root::Reader in) -> result<spread_query> {
      array_reader arrays{from};
      spread_query out;
      TRY(out.run, read_run(in.getRun()));
      out.part = in.getPart();
      out.edge_type = in.getEdgeType();
      out.fanout = in.getFanout();
      out.replace = in.getReplace();
      out.first = in.getFirst();
      out.skip = in.getSkip();
      TRY(out.chances, arrays.read(in.getChances(), content::floats));
      return out;
    });
}

result<payload> encode(const spread_answer& from, bulk_writer arrays) {
  return encode_with<schema::SpreadReply>(arrays, [&from](auto to) {
    to.setNodes(from.nodes);
    to.setEdges(from.edges);
    write(from.sources, to.initSources());
    write(from.misses, to.initMisses());
  });
}

result<spread_answer> decode_spread_answer(const payload& from) {
  using root = schema::SpreadReply;
  return decode_frame<root>(
    from.body, "a spread reply",
    [&from](root::Reader in) -> result<spread_answer> {
      array_reader arrays{from};
      spread_answer out;
      out.nodes = in.getNodes();
      out.edges = in.getEdges();
      TRY(out.sources, arrays.read(in.getSources(), content::ids));
      TRY(out.misses, arrays.read(in.getMisses(), content::floats));
      return out;
    });
}

} // namespace graphmill
