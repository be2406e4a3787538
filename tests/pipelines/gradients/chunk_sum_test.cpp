#include "messages/base/random.hpp"
#include "pipelines/gradients/chunk_sum.hpp"
#include "pipelines/gradients/messages/incoming_transfers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace graphmill::test {

namespace {

struct piece {
  rank_id from = 0;
  std::uint64_t offset = 0;
  frame bytes;
};

std::shared_ptr<gradient_set> gradients_of(std::size_t floats,
                                           random_stream& draws) {
  auto out = std::make_shared<gradient_set>();
  out->dense.resize(floats);
  // Large and small ones, so that another order of additions shows.
  for (auto& value : out->dense)
    value = static_cast<float>(draws.below(1'000'000)) - 5e5f
            + 1e-3f * static_cast<float>(draws.below(1'000));
  return out;
}

/// A rank's chunk, cut where `draws` says.
void cut(const gradient_set& from, const bucket& chunk, rank_id rank,
         random_stream& draws, std::vector<piece>& into) {
  const auto bytes = std::as_bytes(
    from.dense.span().subspan(static_cast<std::size_t>(chunk.offset),
                              static_cast<std::size_t>(chunk.size)));
  for (std::size_t at = 0; at < bytes.size();) {
    const auto size = std::min<std::size_t>(
      bytes.size() - at, piece_receiver::grain * (1 + draws.below(3'000)));
    into.push_back({rank, at, frame::copy(bytes.subspan(at, size))});
    at += size;
  }
}

} // namespace

CATCH_TEST_CASE("a chunk is added up in rank order, however its pieces come",
                "[gradients]") {
  random_stream draws{20, 0};
  for (rank_id ranks : {2, 3, 5})
    for (rank_id me = 0; me < ranks; ++me) {
      CATCH_INFO("rank " << me << " of " << ranks << ", seed 20");
      const bucket chunk{3, 20'001};
      const std::size_t floats = 20'010;
      std::vector<std::shared_ptr<gradient_set>> all;
      std::vector<piece> pieces;
      for (rank_id r = 0; r < ranks; ++r) {
        all.push_back(gradients_of(floats, draws));
        if (r != me)
          cut(*all.back(), chunk, r, draws, pieces);
      }
      for (auto left = pieces.size(); left > 1; --left)
        std::swap(pieces[left - 1],
                  pieces[draws.below(static_cast<std::uint32_t>(left))]);

      auto expected = std::make_shared<gradient_set>();
      expected->dense.resize(floats);
      auto sum = std::make_shared<gradient_set>();
      sum->dense.resize(floats);
      for (std::size_t i = 0; i < floats; ++i) {
        expected->dense[i] = sum->dense[i] = 7;
        if (i < 3 || i >= 3 + 20'001)
          continue;
        expected->dense[i] = all[0]->dense[i];
        for (std::size_t r = 1; r < all.size(); ++r)
          expected->dense[i] += all[r]->dense[i];
      }

      chunk_sum adder{all[static_cast<std::size_t>(me)], sum, chunk, me, ranks};
      for (auto& next : pieces)
        adder.take(next.from, next.offset, std::move(next.bytes));
      CATCH_CHECK(std::memcmp(sum->dense.data(), expected->dense.data(),
                              floats * sizeof(float))
                  == 0);
    }
}

CATCH_TEST_CASE("a chunk holds no piece that all ranks have sent",
                "[gradients]") {
  const auto mine = std::make_shared<gradient_set>();
  mine->dense.resize(4);
  const auto sum = std::make_shared<gradient_set>();
  sum->dense.resize(4);
  chunk_sum adder{mine, sum, {0, 4}, 1, 3};
  const auto bytes = std::make_shared<std::vector<float>>(4, 1.0f);
  const auto whole = frame::own(bytes, std::as_bytes(std::span{*bytes}));
  const auto half = frame::own(bytes, whole.bytes().first(8));
  const auto rest = frame::own(bytes, whole.bytes().subspan(8));
  const auto alone = bytes.use_count();
  adder.take(2, 0, whole);
  CATCH_CHECK(bytes.use_count() == alone + 1);
  adder.take(0, 8, rest);
  CATCH_CHECK(bytes.use_count() == alone + 2);
  adder.take(0, 0, half);
  CATCH_CHECK(bytes.use_count() == alone);
}

CATCH_TEST_CASE("a piece that cuts a number in two is refused, if it is added",
                "[gradients][messages]") {
  struct counter final : piece_receiver {
    void take(rank_id, std::uint64_t, frame) override { ++taken; }
    int taken = 0;
  };
  const auto to = std::make_shared<counter>();
  incoming_transfers from{1};
  std::vector<std::byte> place(10'004);
  const auto of =
    std::make_shared<operation>(std::make_shared<progress_bell>(), 2);
  of->expect(1, true);
  from.expect({1, place, nullptr, to}, of);
  const auto send = [&](std::uint64_t offset, std::size_t size) {
    std::optional<result<void>> out;
    from.deliver(
      {"r", 0, 1, 0, gradient_purpose::piece, 0, offset, place.size()},
      frame::copy(std::vector<std::byte>(size)),
      [&out](const result<void>& how) { out = how; });
    return out.value();
  };
  for (const auto& [offset, size] :
       {std::pair<std::uint64_t, std::size_t>{0, 5'004}, {4, 5'000}})
    CATCH_CHECK(error_of(send(offset, size)).code == ec::invalid_data);
  CATCH_CHECK(to->taken == 0);
  CATCH_CHECK(send(5'000, 5'004).has_value()); // To the end.
  CATCH_CHECK(send(0, 5'000).has_value());
  CATCH_CHECK(send(0, 5'000).has_value()); // Once more.
  CATCH_CHECK(to->taken == 2);
  CATCH_CHECK(of->done());
}

} // namespace graphmill::test
