#include "messages/wire/codecs/bulk_codec.hpp"
#include "messages/wire/codecs/enum_codec.hpp"

namespace graphmill {

using namespace wire;

result<payload> encode(const prove_request& from, bulk_writer arrays) {
  return encode_with<schema::ProveRequest>(arrays, [&from](auto to) {
    to.setRun(from.run);
    to.setPart(from.part);
    auto queries = to.initQueries(length(from.queries.size()));
    for (unsigned i = 0; i < queries.size(); ++i) {
      const auto& query = from.queries[i];
      queries[i].setNodeType(query.node_type);
      queries[i].setKind(static_cast<schema::GatherKind>(query.kind));
      write(query.blocks, queries[i].initBlocks());
    }
  });
}

result<prove_request> decode_prove_request(const payload& from) {
  using root = schema::ProveRequest;
  return decode_frame<root>(
    from.body, "a request for proofs",
    [&from](root::Reader in) -> result<prove_request> {
      array_reader arrays{from};
      prove_request out;
      GRAPHMILL_TRY(out.run, read_run(in.getRun()));
      out.part = in.getPart();
      GRAPHMILL_TRYV(check_length(in.getQueries(), max_queries));
      for (auto query : in.getQueries()) {
        prove_query plain;
        plain.node_type = query.getNodeType();
        const auto kind = known_value(query.getKind(), gather_kind::features,
                                      gather_kind::in_weights);
        if (!kind)
          return fail(ec::invalid_data,
                      "a proof is asked for data of kind {}, which this "
                      "version does not know",
                      static_cast<int>(query.getKind()));
        plain.kind = *kind;
        GRAPHMILL_TRY(plain.blocks,
                      arrays.read(query.getBlocks(), content::ids));
        out.queries.push_back(plain);
      }
      return out;
    });
}

result<payload> encode(const prove_reply& from, bulk_writer arrays) {
  return encode_with<schema::ProveReply>(arrays, [&from](auto to) {
    auto proofs = to.initProofs(length(from.proofs.size()));
    for (unsigned i = 0; i < proofs.size(); ++i) {
      write(from.proofs[i].content, proofs[i].initContent());
      write(from.proofs[i].digests, proofs[i].initDigests());
    }
  });
}

result<prove_reply> decode_prove_reply(const payload& from) {
  using root = schema::ProveReply;
  return decode_frame<root>(
    from.body, "proofs", [&from](root::Reader in) -> result<prove_reply> {
      array_reader arrays{from};
      prove_reply out;
      GRAPHMILL_TRYV(check_length(in.getProofs(), max_queries));
      for (auto proof : in.getProofs()) {
        proof_arrays plain;
        GRAPHMILL_TRY(plain.content,
                      arrays.read(proof.getContent(), content::bytes));
        GRAPHMILL_TRY(plain.digests,
                      arrays.read(proof.getDigests(), content::bytes));
        out.proofs.push_back(plain);
      }
      return out;
    });
}

} // namespace graphmill
