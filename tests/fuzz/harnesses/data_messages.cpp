#include "messages/wire/data.hpp"
#include "messages/wire/gradients.hpp"
#include "tests/fuzz/harnesses/codecs.hpp"
#include "tests/fuzz/registry.hpp"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

// Messages of the data channel: bodies that describe arrays, and the frames
// that these lie in. Whatever passes the decoders is read from its first to its
// last element.

namespace graphmill::fuzz {

namespace {

void read_array(const bulk_array& array, const payload& from) {
  std::uint64_t bytes = 0;
  for_each_piece(array, from.bulk, [&bytes](std::span<const std::byte> piece) {
    bytes += piece.size();
    // Touches both ends.
    require(piece.empty() || piece.front() != piece.back() || true, "");
  });
  require(bytes == array.byte_size(), "an array of another size than it says");
  const auto count = static_cast<std::size_t>(array.count);
  if (is_integer(array.type)) {
    std::vector<std::int64_t> wide(count);
    read_integers(array, from.bulk, wide.data());
    std::vector<std::int32_t> narrow(count);
    if (read_integers(array, from.bulk, narrow.data(), -5, 1000))
      for (std::size_t i = 0; i < count; ++i)
        require(narrow[i] == wide[i] && narrow[i] >= -5 && narrow[i] <= 1000,
                "a number in 4 bytes is not the one in 8, or out of range");
  } else if (array.type == element::float32) {
    std::vector<float> values(count);
    read_floats(array, from.bulk, values.data());
  }
}

// All arrays of a message.
template <class Visit>
void arrays_of(const excluded_arrays& in, Visit visit) {
  visit(in.at);
  visit(in.counts);
  visit(in.edges);
}
template <class Visit>
void arrays_of(const sample_request& in, Visit visit) {
  for (const auto& ids : in.among)
    visit(ids);
  for (const auto& query : in.queries) {
    visit(query.destinations);
    arrays_of(query.excluded, visit);
  }
}
template <class Visit>
void arrays_of(const sample_reply& in, Visit visit) {
  for (const auto& answer : in.answers) {
    visit(answer.counts);
    visit(answer.sources);
    visit(answer.edge_ids);
    visit(answer.weights);
  }
}
template <class Visit>
void arrays_of(const gather_request& in, Visit visit) {
  for (const auto& query : in.queries) {
    visit(query.ids);
    for (const auto& excluded : query.excluded)
      arrays_of(excluded, visit);
  }
}
template <class Visit>
void arrays_of(const gather_reply& in, Visit visit) {
  for (const auto& values : in.values)
    visit(values);
}
template <class Visit>
void arrays_of(const batch_request& in, Visit visit) {
  visit(in.seeds);
  for (const auto& ids : in.seeds_by_type)
    visit(ids);
  for (const auto& excluded : in.excluded)
    arrays_of(excluded, visit);
}
template <class Visit>
void arrays_of(const batch_reply& in, Visit visit) {
  for (const auto& list : in.nodes)
    visit(list.ids);
  for (const auto& list : in.edges) {
    visit(list.counts);
    visit(list.sources);
    visit(list.edge_ids);
    visit(list.weights);
  }
}
template <class Visit>
void arrays_of(const spread_request& in, Visit visit) {
  visit(in.chances);
}
template <class Visit>
void arrays_of(const spread_reply& in, Visit visit) {
  visit(in.sources);
  visit(in.misses);
}

template <class Visit>
void arrays_of(const prove_request& in, Visit visit) {
  for (const auto& query : in.queries)
    visit(query.blocks);
}
template <class Visit>
void arrays_of(const prove_reply& in, Visit visit) {
  for (const auto& proof : in.proofs) {
    visit(proof.content);
    visit(proof.digests);
  }
}

/// The body is made anew; the arrays that it refers to are where they were.
template <auto Decode>
bool with_arrays(const payload& from) {
  const auto got = Decode(from);
  if (!got) {
    require(!got.error().message.empty(), "an error without a sentence");
    return false;
  }
  arrays_of(got.value(),
            [&from](const bulk_array& array) { read_array(array, from); });
  const auto second = encode(got.value(), bulk_writer{});
  if (!second)
    return true; // It said the same again and again, and became too large.
  const payload sent{second.value().body, from.bulk};
  const auto again = Decode(sent);
  require(again.has_value(),
          "what was decoded encodes to what does not decode");
  const auto third = encode(again.value(), bulk_writer{});
  require(third && same(third.value().body, second.value().body),
          "what was decoded, encoded and decoded again is not the same");
  return true;
}

bool gradients(const payload& from) {
  const auto got = decode_gradient_message(from);
  if (!got)
    return false;
  const auto& head = got.value();
  if (head.purpose == gradient_purpose::piece)
    require(from.bulk.size() == 1 && head.offset <= head.total
              && from.bulk[0].size() <= head.total - head.offset,
            "a piece of gradients beyond its transfer");
  const auto sent =
    encode(head, from.bulk.empty() ? frame{} : from.bulk.front());
  require(decode_gradient_message(sent).has_value(),
          "a piece of gradients that was sent on does not decode");
  return true;
}

constexpr std::array<message_reader, 11> data_readers{
  with_arrays<decode_sample_request>,
  with_arrays<decode_sample_reply>,
  with_arrays<decode_gather_request>,
  with_arrays<decode_gather_reply>,
  with_arrays<decode_batch_request>,
  with_arrays<decode_batch_reply>,
  with_arrays<decode_spread_request>,
  with_arrays<decode_spread_reply>,
  gradients,
  with_arrays<decode_prove_request>,
  with_arrays<decode_prove_reply>,
};

void read_data_message(std::string_view input) {
  const auto in = message_in(input);
  data_readers[in.which % data_readers.size()](in.data);
}

template <class T>
std::string data_seed(std::size_t which, const T& from, bulk_writer arrays) {
  return input_of(which, encode(from, std::move(arrays)).value());
}

constexpr std::array some_floats{0.5f, 1.5f, -2.0f};

/// Arrays of all kinds, in one message, which may name each once.
struct some_arrays {
  bulk_writer writer;
  bulk_array ids =
    writer.add_integers(std::vector<std::int64_t>{3, 1, 1 << 20});
  bulk_array far =
    writer.add_integers(std::vector<std::int64_t>{0, std::int64_t{1} << 40});
  bulk_array counts = writer.add_counts(std::vector<std::int32_t>{2, 0, 300});
  bulk_array floats =
    writer.add(element::float32, std::as_bytes(std::span{some_floats}));
  bulk_array places = writer.add_integers(std::vector<std::int64_t>{0, 1, 2});
  bulk_array edges = writer.add_integers(std::vector<std::int64_t>{7, 8});
};

std::vector<std::string> data_messages() {
  std::vector<std::string> out;
  const draw_rule two{2, draw_kind::without_replacement};
  some_arrays a;
  out.push_back(data_seed(
    0,
    sample_request{
      "r",
      1,
      99,
      2,
      {{1, two, true, a.ids, 0, 0},
       {0, two, false, a.far, 5, 10, true, {a.places, a.counts, a.edges}}},
      {a.ids}},
    std::move(a.writer)));
  some_arrays b;
  out.push_back(
    data_seed(1, sample_reply{{{b.counts, b.ids, b.far, b.floats}}, false},
              std::move(b.writer)));
  some_arrays c;
  out.push_back(data_seed(
    2,
    gather_request{
      "r", 1, {{0, c.ids, {gather_kind::features, gather_kind::labels}, true}}},
    std::move(c.writer)));
  some_arrays d;
  out.push_back(
    data_seed(3, gather_reply{{d.floats, d.ids}}, std::move(d.writer)));
  some_arrays e;
  out.push_back(data_seed(4, batch_request{"r", 5, batch_kind::train, e.ids},
                          std::move(e.writer)));
  some_arrays k;
  out.push_back(data_seed(4,
                          batch_request{"r",
                                        5,
                                        batch_kind::train,
                                        {},
                                        {},
                                        {k.ids, {}, k.far},
                                        {{k.places, k.counts, k.edges}, {}}},
                          std::move(k.writer)));
  some_arrays f;
  out.push_back(data_seed(
    5, batch_reply{{{{1, 3}, f.ids}}, {{f.counts, f.far, {}, f.floats}}, false},
    std::move(f.writer)));
  some_arrays g;
  out.push_back(data_seed(6, spread_request{"r", 1, 0, two, 4, 0, g.floats},
                          std::move(g.writer)));
  some_arrays h;
  out.push_back(
    data_seed(7, spread_reply{3, 9, h.ids, h.floats}, std::move(h.writer)));
  some_arrays i;
  out.push_back(
    data_seed(9, prove_request{"r", 1, {{0, gather_kind::labels, i.ids}}},
              std::move(i.writer)));
  some_arrays j;
  const auto bytes =
    j.writer.add(element::uint8, std::as_bytes(std::span{some_floats}));
  out.push_back(
    data_seed(10, prove_reply{{{bytes, bytes}}}, std::move(j.writer)));
  const gradient_message piece{"r", 1, 0, 1, gradient_purpose::piece, 3, 0, 24};
  out.push_back(input_of(
    8, encode(piece, frame_of(std::string_view{"123456781234567812345678"}))));
  require_sound(out, data_readers);
  return out;
}

} // namespace

const harness data_messages_harness{"data_messages",
                                    "messages with arrays, and gradients",
                                    read_data_message, data_messages, 20000};

} // namespace graphmill::fuzz
