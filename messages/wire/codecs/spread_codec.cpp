#include "messages/wire/codecs/bulk_codec.hpp"
#include "messages/wire/codecs/draw_codec.hpp"

namespace graphmill {

using namespace wire;

result<payload> encode(const spread_request& from, bulk_writer arrays) {
  return encode_with<schema::SpreadRequest>(arrays, [&from](auto to) {
    to.setRun(from.run);
    to.setPart(from.part);
    to.setEdgeType(from.edge_type);
    write_rule(from.rule, to);
    to.setFirst(from.first);
    to.setSkip(from.skip);
    write(from.chances, to.initChances());
  });
}

result<spread_request> decode_spread_request(const payload& from) {
  using root = schema::SpreadRequest;
  return decode_frame<root>(
    from.body, "a spread request",
    [&from](root::Reader in) -> result<spread_request> {
      array_reader arrays{from};
      spread_request out;
      GRAPHMILL_TRY(out.run, read_run(in.getRun()));
      out.part = in.getPart();
      out.edge_type = in.getEdgeType();
      GRAPHMILL_TRY(out.rule, read_rule(in));
      out.first = in.getFirst();
      out.skip = in.getSkip();
      GRAPHMILL_TRY(out.chances, arrays.read(in.getChances(), content::floats));
      return out;
    });
}

result<payload> encode(const spread_reply& from, bulk_writer arrays) {
  return encode_with<schema::SpreadReply>(arrays, [&from](auto to) {
    to.setNodes(from.nodes);
    to.setEdges(from.edges);
    write(from.sources, to.initSources());
    write(from.misses, to.initMisses());
  });
}

result<spread_reply> decode_spread_reply(const payload& from) {
  using root = schema::SpreadReply;
  return decode_frame<root>(
    from.body, "a spread reply",
    [&from](root::Reader in) -> result<spread_reply> {
      array_reader arrays{from};
      spread_reply out;
      out.nodes = in.getNodes();
      out.edges = in.getEdges();
      GRAPHMILL_TRY(out.sources, arrays.read(in.getSources(), content::ids));
      GRAPHMILL_TRY(out.misses, arrays.read(in.getMisses(), content::floats));
      return out;
    });
}

} // namespace graphmill
