#include "actors/remote/calls/gather_call.hpp"

#include "actors/base/value_bytes.hpp"
#include "actors/remote/calls/excluded_call.hpp"
#include "partition/dataset/label_rows.hpp"
#include "partition/files/half.hpp"
#include "partition/sampling/reply_merge.hpp"
#include "partition/sampling/rows/hot_nodes.hpp"
#include "partition/sampling/rows/packed_rows.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace graphmill {

namespace {

/// Bytes of one node's value in a message, at the most.
std::uint64_t bytes_each(const node_type_info& type, gather_kind kind,
                         bool half) {
  const auto narrow = kind == gather_kind::features && kept_as_half(type, half);
  return value_bytes(type, kind) / (narrow ? 2 : 1);
}

std::uint64_t bytes_each(const dataset_info& info, const remote_values& wanted,
                         bool half) {
  if (wanted.of_edges) {
    const auto& type = info.edge_types[wanted.type];
    return std::max<std::uint64_t>(
      value_bytes(type) / (kept_as_half(type, half) ? 2 : 1), 1);
  }
  std::uint64_t sum = 0;
  for (const auto& target : wanted.targets)
    sum += bytes_each(info.node_types[wanted.type], target.kind, half);
  return std::max<std::uint64_t>(sum, 1);
}

/// The rows of a target that a piece is about.
class row_map {
public:
  row_map(std::span<const local_id> rows, std::size_t from)
    : rows_(rows), from_(from) {}
  std::size_t operator[](std::size_t i) const {
    return rows_.empty() ? from_ + i
                         : static_cast<std::size_t>(rows_[from_ + i]);
  }

private:
  std::span<const local_id> rows_;
  std::size_t from_;
};

void copy_values(const std::byte* from, std::size_t count, element,
                 std::uint8_t* to) {
  std::memcpy(to, from, count);
}

void copy_values(const std::byte* from, std::size_t count, element type,
                 float* to) {
  if (type == element::float32) {
    std::memcpy(to, from, count * sizeof(float));
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t bits;
    std::memcpy(&bits, from + i * sizeof(bits), sizeof(bits));
    to[i] = from_half(bits);
  }
}

/// Row after row, straight from the frames; a row may lie in two.
template <class Value>
void scatter_rows(const bulk_array& array, std::span<const frame> frames,
                  std::size_t width, const row_map& rows, Value* out) {
  const auto size = element_size(array.type);
  std::size_t row = 0;
  std::size_t column = 0;
  for_each_piece(array, frames, [&](std::span<const std::byte> in) {
    while (!in.empty()) {
      const auto count = std::min(width - column, in.size() / size);
      copy_values(in.data(), count, array.type,
                  out + rows[row] * width + column);
      in = in.subspan(count * size);
      column += count;
      if (column == width) {
        column = 0;
        ++row;
      }
    }
  });
}

/// Whether values of a kind are rows of labels, which come as bytes.
bool are_label_rows(const node_type_info& type, gather_kind kind) {
  return kind == gather_kind::labels && type.has_label_rows();
}

/// Fails unless each row is as `label_kind` says.
result<void> check_label_bytes(const node_type_info& type,
                               const bulk_array& array,
                               std::span<const frame> frames) {
  if (array.count != 0 && (array.type != element::uint8 || array.base != 0))
    return fail(ec::invalid_data,
                "labels of node type \"{}\" have {} bytes each, from {} on",
                type.name, element_size(array.type), array.base);
  std::vector<std::uint8_t> rows(static_cast<std::size_t>(array.count));
  auto* to = rows.data();
  for_each_piece(array, frames, [&to](std::span<const std::byte> in) {
    std::memcpy(to, in.data(), in.size());
    to += in.size();
  });
  if (const auto bad = find_bad_label(
        type.labels, rows, static_cast<std::size_t>(type.class_count)))
    return fail(ec::invalid_data, "a node of type \"{}\" has the {} {}; {}",
                type.name, traits_of(type.labels).unit,
                label_text(type.labels, rows, *bad),
                traits_of(type.labels).expected);
  return ok();
}

/// What a whole number of a kind may be.
struct number_range {
  std::int64_t least = 0;
  std::int64_t greatest = 0;
};
number_range range_of(const node_type_info& type, gather_kind kind) {
  switch (kind) {
  case gather_kind::labels:
    return {-1, type.class_count - 1};
  case gather_kind::degrees:
  case gather_kind::out_degrees:
    return {0, std::numeric_limits<std::int32_t>::max()};
  default:
    return {0, type.count - 1};
  }
}

/// Fails unless there are as many weights as `array` says, all of which may be
/// some.
result<void> check_weights(const node_type_info& type, const bulk_array& array,
                           std::span<const frame> frames) {
  if (array.count != 0 && array.type != element::float32)
    return fail(ec::invalid_data,
                "sums of weights of node type \"{}\" have {} bytes each",
                type.name, element_size(array.type));
  std::vector<float> sums(static_cast<std::size_t>(array.count));
  read_floats(array, frames, sums.data());
  if (!are_weights(sums))
    return fail(
      ec::invalid_data,
      "a sum of weights of a node of type \"{}\" is negative or not finite",
      type.name);
  return ok();
}

/// The features of some edges in an answer.
struct incoming_edges {
  const edge_type_info& type;
  const gather_call::piece& piece;
  const value_target& target;
  const bulk_array& array;

  result<void> check(bool half) const {
    const auto expected =
      piece.count * static_cast<std::uint64_t>(type.feature_width);
    if (array.count != expected)
      return fail(ec::invalid_data,
                  "the answer has {} values for {} edges of type \"{}\"; {} "
                  "expected",
                  array.count, piece.count, type.name, expected);
    const auto element =
      kept_as_half(type, half) ? element::float16 : element::float32;
    if (array.count != 0 && array.type != element)
      return fail(ec::invalid_data,
                  "features of edges of type \"{}\" have {} bytes each",
                  type.name, element_size(array.type));
    return ok();
  }

  /// @returns the bytes written.
  std::uint64_t write(std::span<const frame> frames) const {
    scatter_rows(array, frames, static_cast<std::size_t>(type.feature_width),
                 row_map{target.rows, piece.from},
                 static_cast<float*>(target.out));
    return array.count * sizeof(float);
  }
};

/// One array of an answer, with what it is the answer to.
struct incoming {
  const node_type_info& type;
  const gather_call::piece& piece;
  const value_target& target;
  const bulk_array& array;
  std::vector<std::int64_t> numbers; ///< Of kinds that are whole numbers.
};

result<void> check(incoming& arrival, bool half,
                   std::span<const frame> frames) {
  const auto& [type, piece, target, array, numbers] = arrival;
  const auto features = target.kind == gather_kind::features;
  const auto labels = are_label_rows(type, target.kind);
  const auto width = features ? std::uint64_t{row_form::of(type).floats()}
                     : labels ? type.label_bytes()
                              : 1;
  if (array.count != piece.count * width)
    return fail(
      ec::invalid_data,
      "the answer has {} values for {} nodes of type \"{}\"; {} expected",
      array.count, piece.count, type.name, piece.count * width);
  if (features) {
    // Exactness: all rows of a run are rounded alike.
    const auto rounded = kept_as_half(type, half);
    if (array.count != 0
        && array.type != (rounded ? element::float16 : element::float32))
      return fail(ec::invalid_data,
                  "features of node type \"{}\" have {} bytes each", type.name,
                  element_size(array.type));
    return ok();
  }
  if (labels)
    return check_label_bytes(type, array, frames);
  if (target.kind == gather_kind::in_weights)
    return check_weights(type, array, frames);
  if (array.count != 0 && !is_integer(array.type))
    return fail(ec::invalid_data,
                "the values of nodes of type \"{}\" are not whole numbers",
                type.name);
  arrival.numbers.resize(piece.count);
  read_integers(array, frames, arrival.numbers.data());
  const auto range = range_of(type, target.kind);
  for (auto number : arrival.numbers)
    if (number < range.least || number > range.greatest)
      return fail(
        ec::invalid_data,
        "the answer has {} for a node of type \"{}\"; {} to {} expected",
        number, type.name, range.least, range.greatest);
  return ok();
}

/// @returns the bytes written.
std::uint64_t write(const incoming& arrival, std::span<const frame> frames) {
  const auto& target = arrival.target;
  const row_map rows{target.rows, arrival.piece.from};
  if (target.kind == gather_kind::features) {
    const auto width = row_form::of(arrival.type).floats();
    scatter_rows(arrival.array, frames, width, rows,
                 static_cast<float*>(target.out));
    return arrival.array.count * sizeof(float);
  }
  if (target.kind == gather_kind::in_weights) {
    scatter_rows(arrival.array, frames, 1, rows,
                 static_cast<float*>(target.out));
    return arrival.array.byte_size();
  }
  if (are_label_rows(arrival.type, target.kind)) {
    scatter_rows(arrival.array, frames,
                 static_cast<std::size_t>(arrival.type.label_bytes()), rows,
                 static_cast<std::uint8_t*>(target.out));
    return arrival.array.count;
  }
  const auto& numbers = arrival.numbers;
  if (target.kind == gather_kind::degrees
      || target.kind == gather_kind::out_degrees) {
    auto* out = static_cast<std::int32_t*>(target.out);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      out[rows[i]] = static_cast<std::int32_t>(numbers[i]);
    return numbers.size() * sizeof(std::int32_t);
  }
  auto* out = static_cast<std::int64_t*>(target.out);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    out[rows[i]] = numbers[i];
  return numbers.size() * sizeof(std::int64_t);
}

} // namespace

result<payload> gather_call::encoded(const std::string& run, part_id part,
                                     bool half,
                                     std::uint64_t& ids_bytes) const {
  bulk_writer arrays;
  gather_request message{run, part, {}};
  for (const auto& piece : pieces) {
    const auto& values = of->wanted[piece.values];
    value_query query;
    (values.of_edges ? query.edge_type : query.node_type) = values.type;
    if (!values.edges.empty())
      query.edges = arrays.add_integers(
        values.edges.subspan(piece.from, piece.count), of->owner);
    query.half = half;
    query.level = static_cast<std::uint8_t>(values.level);
    query.ids = arrays.add_integers(values.ids.subspan(piece.from, piece.count),
                                    of->owner);
    for (const auto& target : values.targets)
      query.kinds.push_back(target.kind);
    for (const auto& edges : values.excluded)
      query.excluded.push_back(
        write_excluded(edges.piece(piece.from, piece.count), arrays));
    message.queries.push_back(std::move(query));
  }
  ids_bytes = arrays.byte_size();
  return encode(message, std::move(arrays));
}

std::vector<gather_call> cut_calls(const dataset_info& info,
                                   const std::shared_ptr<remote_gather>& job,
                                   std::uint64_t reply_bytes, bool half) {
  std::vector<gather_call> calls;
  std::uint64_t left = 0;
  for (std::size_t v = 0; v < job->wanted.size(); ++v) {
    const auto total = job->wanted[v].ids.size();
    const auto each = bytes_each(info, job->wanted[v], half);
    for (std::size_t from = 0; from < total;) {
      if (calls.empty() || left < each
          || calls.back().pieces.size() == max_queries) {
        calls.push_back({job, {}});
        left = reply_bytes;
      }
      const auto room = std::max<std::uint64_t>(left / each, 1);
      const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(room, total - from));
      calls.back().pieces.push_back({v, from, count});
      left -= std::min(left, count * each);
      from += count;
    }
  }
  return calls;
}

result<gathered_bytes> scatter(const dataset_info& info,
                               const gather_call& call, bool half,
                               const payload& from) {
  GRAPHMILL_TRY(const auto reply, decode_gather_reply(from));
  std::vector<incoming> arrivals;
  std::vector<incoming_edges> of_edges;
  std::size_t next = 0;
  for (const auto& piece : call.pieces) {
    const auto& values = call.of->wanted[piece.values];
    for (const auto& target : values.targets) {
      if (next == reply.values.size())
        return fail(ec::invalid_data, "only {} arrays came",
                    reply.values.size());
      const auto& array = reply.values[next++];
      if (values.of_edges)
        of_edges.push_back(
          {info.edge_types[values.type], piece, target, array});
      else
        arrivals.push_back(
          {info.node_types[values.type], piece, target, array, {}});
    }
  }
  if (next != reply.values.size())
    return fail(ec::invalid_data, "the answer has {} arrays; {} expected",
                reply.values.size(), next);
  for (const auto& arrival : of_edges)
    GRAPHMILL_TRYV(arrival.check(half));
  for (auto& arrival : arrivals)
    GRAPHMILL_TRYV(check(arrival, half, from.bulk));
  gathered_bytes in;
  for (const auto& arrival : of_edges) {
    call.of->bytes += arrival.write(from.bulk);
    in.features += arrival.array.byte_size();
  }
  for (const auto& arrival : arrivals) {
    call.of->bytes += write(arrival, from.bulk);
    if (arrival.target.kind == gather_kind::features) {
      in.rows += arrival.piece.count;
      in.features += arrival.array.byte_size();
    } else {
      in.values += arrival.array.byte_size();
    }
  }
  return in;
}

} // namespace graphmill
