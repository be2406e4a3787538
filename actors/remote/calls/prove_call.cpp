#include "actors/remote/calls/prove_call.hpp"

#include "partition/dataset/proved_arrays.hpp"
#include "partition/files/mapped_file.hpp"
#include "partition/files/page_requests.hpp"
#include "partition/sampling/rows/gather.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

namespace graphmill {

namespace {

constexpr std::uint64_t digest_bytes = sizeof(block_digest);

/// The array that values of a kind are from.
std::optional<proved_array> proved_by(gather_kind kind) {
  switch (kind) {
  case gather_kind::features:
    return proved_array::features;
  case gather_kind::labels:
    return proved_array::labels;
  case gather_kind::original_ids:
    return proved_array::original_ids;
  default:
    return std::nullopt;
  }
}

std::string_view words_for(proved_array which) {
  switch (which) {
  case proved_array::features:
    return "the feature row";
  case proved_array::labels:
    return "the label";
  case proved_array::original_ids:
    break;
  }
  return "the original id";
}

block_layout layout_in(const partitioned_graph& graph, part_id part,
                       node_type_id type, proved_array which) {
  const auto offsets = graph.offsets(type);
  return layout_of(graph.info().node_types[static_cast<std::size_t>(type)],
                   offsets[static_cast<std::size_t>(part) + 1]
                     - offsets[static_cast<std::size_t>(part)],
                   which);
}

/// What a block takes in an answer.
std::uint64_t proof_bytes(const block_layout& layout, std::int64_t block) {
  return layout.bytes_of(block)
         + static_cast<std::uint64_t>(length_of_proof(layout.blocks(), block))
             * digest_bytes;
}

/// The blocks of a piece, each once.
std::vector<std::int64_t> blocks_of(const prove_call::piece& piece) {
  std::vector<std::int64_t> out;
  for (const auto& value : piece.checked)
    if (out.empty() || out.back() != value.block)
      out.push_back(value.block);
  return out;
}

std::vector<std::byte> bytes_of(const bulk_array& array,
                                std::span<const frame> frames) {
  std::vector<std::byte> out;
  out.reserve(static_cast<std::size_t>(array.byte_size()));
  for_each_piece(array, frames, [&out](std::span<const std::byte> in) {
    out.insert(out.end(), in.begin(), in.end());
  });
  return out;
}

/// Deals values to calls.
class check_cutter {
public:
  check_cutter(std::shared_ptr<remote_gather> job, std::uint64_t reply_bytes)
    : job_(std::move(job)), most_(reply_bytes) {}

  /// @param checked Of one target, in the order of blocks.
  void add(std::size_t values, std::size_t target, const block_layout& layout,
           std::span<const prove_call::value> checked) {
    auto begun = false;
    for (std::size_t i = 0; i < checked.size(); ++i) {
      const auto block = checked[i].block;
      if (i == 0 || checked[i - 1].block != block) {
        const auto bytes = proof_bytes(layout, block);
        if (calls_.empty() || left_ < bytes
            || (!begun && calls_.back().pieces.size() == max_queries)) {
          calls_.push_back({job_, {}});
          left_ = most_;
          begun = false;
        }
        left_ -= std::min(left_, bytes);
      }
      if (!std::exchange(begun, true))
        calls_.back().pieces.push_back({values, target, {}});
      calls_.back().pieces.back().checked.push_back(checked[i]);
    }
  }

  std::vector<prove_call> finish() { return std::move(calls_); }

private:
  std::shared_ptr<remote_gather> job_;
  std::uint64_t most_;
  std::uint64_t left_ = 0;
  std::vector<prove_call> calls_;
};

/// Compares the values of one target with the blocks of one proof.
class proof_check {
public:
  proof_check(const partitioned_graph& graph, part_id part,
              const remote_values& values, const value_target& target,
              proved_array which, bool half)
    : type_(graph.info().node_types[static_cast<std::size_t>(values.type)]),
      values_(values), target_(target), which_(which),
      begin_(graph.offsets(values.type)[static_cast<std::size_t>(part)]),
      layout_(layout_in(graph, part, values.type, which)),
      root_(graph.root_of(part, values.type, which)), half_(half) {}

  result<void> run(const prove_call::piece& piece,
                   std::span<const std::byte> content,
                   std::span<const std::byte> digests) {
    const auto* next = piece.checked.data();
    const auto* end = next + piece.checked.size();
    while (next != end) {
      const auto block = next->block;
      GRAPHMILL_TRY(const auto bytes,
                    take(content, layout_.bytes_of(block), *next));
      const auto length = length_of_proof(layout_.blocks(), block);
      GRAPHMILL_TRY(const auto beside,
                    take(digests,
                         static_cast<std::uint64_t>(length) * digest_bytes,
                         *next));
      std::vector<block_digest> proof(static_cast<std::size_t>(length));
      if (!proof.empty())
        std::memcpy(proof.data(), beside.data(), beside.size());
      if (!root_ || root_by(bytes, layout_.blocks(), block, proof) != root_)
        return forged(*next);
      for (; next != end && next->block == block; ++next)
        if (!is_same(*next, bytes)) {
          fault_ = proof_fault::values;
          return other_value(*next);
        }
    }
    if (!content.empty() || !digests.empty())
      return fail(ec::invalid_data, "its proof has more than was requested");
    return ok();
  }

  /// After a failure.
  proof_fault fault() const { return fault_; }

private:
  result<std::span<const std::byte>> take(std::span<const std::byte>& from,
                                          std::uint64_t bytes,
                                          const prove_call::value& about) {
    if (bytes > from.size())
      return fail(ec::invalid_data, "its proof of {} is incomplete",
                  described(about));
    const auto count = static_cast<std::size_t>(bytes);
    const auto out = from.first(count);
    from = from.subspan(count);
    return out;
  }

  std::int64_t row_in_part(const prove_call::value& value) const {
    return values_.ids[value.at] - begin_;
  }

  std::size_t place_of(const prove_call::value& value) const {
    return target_.rows.empty()
             ? value.at
             : static_cast<std::size_t>(target_.rows[value.at]);
  }

  bool is_same(const prove_call::value& value,
               std::span<const std::byte> block) {
    const auto* row = block.data()
                      + static_cast<std::uint64_t>(
                          row_in_part(value) - layout_.first_row(value.block))
                          * layout_.row_bytes;
    if (which_ != proved_array::features)
      return std::memcmp(static_cast<const std::byte*>(target_.out)
                           + place_of(value) * layout_.row_bytes,
                         row, layout_.row_bytes)
             == 0;
    // As the owner should have sent it: widened, and rounded if all are.
    const feature_row_copy copy{type_, half_};
    expected_.resize(copy.width());
    return copy(row, expected_.data())
           && std::memcmp(static_cast<const float*>(target_.out)
                            + place_of(value) * copy.width(),
                          expected_.data(), copy.width() * sizeof(float))
                == 0;
  }

  std::string described(const prove_call::value& value) const {
    return fmt::format("{} of node {} of type \"{}\" (nodes/{}/{}, block {})",
                       words_for(which_), values_.ids[value.at], type_.name,
                       type_.name, file_of(which_), value.block);
  }

  error forged(const prove_call::value& value) const {
    return fail(ec::invalid_data,
                "its proof of {} has a block that is not in the dataset: its "
                "files are damaged, or it forges data",
                described(value));
  }

  error other_value(const prove_call::value& value) const {
    return fail(ec::invalid_data,
                "{} that it sent is not in the dataset: its files were "
                "changed, or it forges data",
                described(value));
  }

  const node_type_info& type_;
  const remote_values& values_;
  const value_target& target_;
  proved_array which_;
  node_id begin_;
  block_layout layout_;
  std::optional<block_digest> root_;
  bool half_;
  proof_fault fault_ = proof_fault::proof;
  std::vector<float> expected_;
};

/// The blocks that a query asks for, if the array has them.
result<std::vector<std::int64_t>>
read_blocks(const bulk_array& array, const payload& from, std::int64_t blocks) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(array.count));
  read_integers(array, from.bulk, out.data());
  for (std::size_t i = 0; i < out.size(); ++i)
    if (out[i] < 0 || out[i] >= blocks || (i != 0 && out[i] <= out[i - 1]))
      return fail(ec::invalid_argument,
                  "block {} is requested, of {} in ascending order", out[i],
                  blocks);
  return out;
}

} // namespace

result<payload> prove_call::encoded(const std::string& run,
                                    part_id part) const {
  bulk_writer arrays;
  prove_request message{run, part, {}};
  for (const auto& piece : pieces) {
    const auto& values = of->wanted[piece.values];
    message.queries.push_back({values.type, values.targets[piece.target].kind,
                               arrays.add_integers(blocks_of(piece))});
  }
  return encode(message, std::move(arrays));
}

std::vector<prove_call> cut_checks(const partitioned_graph& graph,
                                   const gather_call& call,
                                   const row_audit& audit, std::uint64_t batch,
                                   std::uint64_t reply_bytes) {
  check_cutter out{call.of, reply_bytes};
  for (const auto& piece : call.pieces) {
    const auto& values = call.of->wanted[piece.values];
    for (std::size_t t = 0; t < values.targets.size(); ++t) {
      const auto kind = values.targets[t].kind;
      const auto which = proved_by(kind);
      if (!which)
        continue;
      std::vector<prove_call::value> checked;
      std::optional<block_layout> layout;
      node_id begin = 0;
      for (auto i = piece.from; i < piece.from + piece.count; ++i) {
        const auto id = values.ids[i];
        if (!audit.picks(batch, values.type, kind, id))
          continue;
        if (!layout) {
          const auto part = graph.owner(values.type, id);
          layout = layout_in(graph, part, values.type, *which);
          begin = graph.offsets(values.type)[static_cast<std::size_t>(part)];
        }
        checked.push_back({layout->block_of(id - begin), i});
      }
      if (checked.empty())
        continue;
      std::ranges::stable_sort(checked, {}, &prove_call::value::block);
      out.add(piece.values, t, *layout, checked);
    }
  }
  return out.finish();
}

result<std::uint64_t> check_proofs(const partitioned_graph& graph, part_id part,
                                   const prove_call& call, bool half,
                                   const payload& from, proof_fault& fault) {
  fault = proof_fault::proof;
  GRAPHMILL_TRY(const auto reply, decode_prove_reply(from));
  if (reply.proofs.size() != call.pieces.size())
    return fail(ec::invalid_data, "the answer has {} proofs; {} expected",
                reply.proofs.size(), call.pieces.size());
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < call.pieces.size(); ++i) {
    const auto& piece = call.pieces[i];
    const auto& values = call.of->wanted[piece.values];
    const auto& target = values.targets[piece.target];
    proof_check check{
      graph, part, values, target, proved_by(target.kind).value(), half};
    auto sound = check.run(piece, bytes_of(reply.proofs[i].content, from.bulk),
                           bytes_of(reply.proofs[i].digests, from.bulk));
    if (!sound) {
      fault = check.fault();
      return std::move(sound).error();
    }
    count += piece.checked.size();
  }
  return count;
}

result<wanted_proofs> read_prove(const shard& part, const prove_request& asked,
                                 const payload& from) {
  wanted_proofs out;
  const auto& types = part.info().node_types;
  for (const auto& query : asked.queries) {
    const auto which = proved_by(query.kind);
    if (query.node_type < 0 || query.node_type >= std::ssize(types) || !which)
      return fail(ec::invalid_argument,
                  "nothing can be proved of data of kind {} of node type {}",
                  static_cast<int>(query.kind), query.node_type);
    const auto& type = types[static_cast<std::size_t>(query.node_type)];
    const auto& nodes = part.nodes(query.node_type);
    const auto layout = layout_of(type, nodes.end - nodes.begin, *which);
    if (elements_of(part, query.node_type, *which).empty()
        || std::ssize(nodes.trees[static_cast<std::size_t>(*which)])
             != nodes_of_tree(layout.blocks()))
      return fail(ec::not_found,
                  "part {} has no digests of the blocks of nodes/{}/{}: copy "
                  "it again, or partition the dataset again",
                  part.part(), type.name, file_of(*which));
    GRAPHMILL_TRY(auto blocks,
                  read_blocks(query.blocks, from, layout.blocks()));
    for (auto block : blocks)
      out.bytes += proof_bytes(layout, block);
    if (out.bytes > max_bulk_bytes)
      return fail(ec::invalid_argument,
                  "the request is for blocks of more than {} bytes",
                  max_bulk_bytes);
    out.queries.push_back({query.node_type, *which, std::move(blocks)});
  }
  return out;
}

result<payload> answer_prove(const shard& part, const wanted_proofs& wanted) {
  bulk_writer arrays;
  prove_reply reply;
  for (const auto& [type, which, blocks] : wanted.queries) {
    const auto& nodes = part.nodes(type);
    const auto layout =
      layout_of(part.info().node_types[static_cast<std::size_t>(type)],
                nodes.end - nodes.begin, which);
    const auto elements = elements_of(part, type, which);
    const auto content_of = [&](std::int64_t block) {
      return elements.subspan(static_cast<std::size_t>(layout.first_row(block))
                                * static_cast<std::size_t>(layout.row_bytes),
                              static_cast<std::size_t>(layout.bytes_of(block)));
    };
    page_requests pages;
    for (auto block : blocks)
      pages.add(content_of(block).data(), content_of(block).size());
    pages.send();
    std::vector<std::byte> content;
    std::vector<block_digest> digests;
    for (auto block : blocks) {
      const auto bytes = content_of(block);
      content.insert(content.end(), bytes.begin(), bytes.end());
      append_proof(nodes.trees[static_cast<std::size_t>(which)],
                   layout.blocks(), block, digests);
    }
    reply.proofs.push_back(
      {arrays.add(element::uint8, content),
       arrays.add(element::uint8, std::as_bytes(std::span{digests}))});
  }
  if (auto broken = mapped_file::first_fault())
    return *std::move(broken);
  return encode(reply, std::move(arrays));
}

} // namespace graphmill
