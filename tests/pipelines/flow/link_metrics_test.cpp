#include "pipelines/flow/class_metrics.hpp"
#include "pipelines/flow/link_metrics.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/value_list.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <random>
#include <vector>

namespace graphmill::test::link_metrics {

namespace {

using ranks = std::vector<rank_count>;

/// Links of which each has a score and scores of wrong pairs, for both ends.
struct ranked_links {
  std::vector<float> scores;
  std::vector<std::vector<float>> tails;
  std::vector<std::vector<float>> heads;

  std::int64_t count() const { return std::ssize(scores); }

  /// Rank by its definition.
  double rank_of(std::size_t link, const std::vector<float>& wrong) const {
    double out = 1;
    for (const auto one : wrong)
      out += one > scores[link] ? 1 : one == scores[link] ? 0.5 : 0;
    return out;
  }

  seed_outcomes told(const std::vector<std::size_t>& links) const {
    seed_outcomes out;
    out.classes = 1;
    out.form = outcome_form::ranks;
    std::map<std::int64_t, std::int32_t> of_tails;
    std::map<std::int64_t, std::int32_t> of_heads;
    for (const auto link : links) {
      const auto add = [&](auto& to, const std::vector<float>& wrong) {
        ++to[static_cast<std::int64_t>(2 * rank_of(link, wrong))];
        out.tied += std::ranges::count(wrong, scores[link]) != 0;
      };
      add(of_tails, tails[link]);
      add(of_heads, heads[link]);
      out.labels.insert(out.labels.end(), {1, 0});
      out.scores.insert(out.scores.end(), {scores[link], tails[link][0]});
    }
    for (const auto& [doubled, count] : of_tails)
      out.destination_ranks.push_back({doubled, count});
    for (const auto& [doubled, count] : of_heads)
      out.source_ranks.push_back({doubled, count});
    return out;
  }
};

ranked_links drawn_links(std::uint32_t seed) {
  std::mt19937 engine{seed};
  std::uniform_int_distribution<int> draw{0, 9}; // Few values: many ties.
  const auto some = [&] { return static_cast<float>(draw(engine)); };
  ranked_links out;
  for (int link = 0; link < 200; ++link) {
    out.scores.push_back(some() + 2);
    for (auto* to : {&out.tails, &out.heads})
      std::generate_n(std::back_inserter(to->emplace_back()), 12, some);
  }
  return out;
}

metric_choice metric(const char* name) {
  return *metric_called(name);
}

} // namespace

CATCH_TEST_CASE("metrics of ranks on paper", "[flow][links]") {
  // Ranks of destinations: 1, 1.5, 4; of sources: 2, 2, 2.
  class_tally tally;
  seed_outcomes told;
  told.classes = 1;
  told.form = outcome_form::ranks;
  told.destination_ranks = ranks{{2, 1}, {3, 1}, {8, 1}};
  told.source_ranks = ranks{{4, 3}};
  told.tied = 1;
  tally.add(told);
  const auto got = tally.metrics(3);
  CATCH_REQUIRE(got);
  CATCH_REQUIRE(got->links);
  const auto& links = *got->links;
  CATCH_CHECK(links.destinations.mrr() == (1 + 2. / 3 + 0.25) / 3);
  CATCH_CHECK(links.destinations.mean_rank() == 6.5 / 3);
  CATCH_CHECK(links.destinations.hits(1) == 1. / 3);
  CATCH_CHECK(links.destinations.hits(2) == 2. / 3);
  CATCH_CHECK(links.destinations.hits(4) == 1);
  CATCH_CHECK(links.mrr() == ((1 + 2. / 3 + 0.25) / 3 + 0.5) / 2);
  CATCH_CHECK(links.mean_rank() == (6.5 / 3 + 2) / 2);
  CATCH_CHECK(links.hits(1) == 1. / 6);
  CATCH_CHECK(links.share_of_ties() == 1. / 6);
  CATCH_CHECK_FALSE(got->scored);
  CATCH_CHECK_FALSE(got->f1_macro());
  const auto value = [&got](const char* name) {
    return value_of(metric(name), {}, &*got);
  };
  CATCH_CHECK(value("mrr") == links.mrr());
  CATCH_CHECK(value("hits@2") == (2. / 3 + 1) / 2);
  CATCH_CHECK(value("mean_rank") == links.mean_rank());
  CATCH_CHECK_FALSE(value("roc_auc"));
  // A link of which nothing was told.
  CATCH_CHECK_FALSE(tally.metrics(4));
}

CATCH_TEST_CASE("metrics of groups on paper", "[flow][links]") {
  // A group of one link with rank 2; of two with ranks 1 and 3; of four with
  // ranks 1, 3, 4 and 9.
  class_tally tally;
  seed_outcomes told;
  told.classes = 1;
  told.form = outcome_form::ranks;
  told.destination_ranks = ranks{{2, 7}};
  told.groups = {{1, 1, 4}, {2, 1, 2}, {2, 1, 6},
                 {4, 1, 2}, {4, 1, 6}, {4, 1, 8}};
  tally.add(told);
  told.destination_ranks = ranks{{2, 1}}; // Another link repeats one of these.
  told.groups = {{4, 1, 18}};
  tally.add(told);
  const auto got = tally.metrics(8);
  CATCH_REQUIRE(got);
  const auto value = [&got](const char* name) {
    return value_of(metric(name), {}, &*got).value();
  };
  CATCH_CHECK(value("recall@1") == Approx((0 + 1. / 2 + 1. / 4) / 3));
  CATCH_CHECK(value("recall@2") == Approx((1 + 1. / 2 + 1. / 4) / 3));
  CATCH_CHECK(value("recall@3") == Approx((1 + 1 + 2. / 4) / 3));
  CATCH_CHECK(value("recall@9") == Approx(1));
  CATCH_CHECK(value("precision@1") == Approx((0 + 1 + 1) / 3.));
  CATCH_CHECK(value("precision@3") == Approx((1 + 2 + 2) / 9.));
  const auto gain = [](double rank) { return 1 / std::log2(rank + 1); };
  CATCH_CHECK(value("ndcg@1") == Approx((0 + 1 + 1) / 3.));
  CATCH_CHECK(
    value("ndcg@3")
    == Approx((gain(2) / gain(1) + (gain(1) + gain(3)) / (gain(1) + gain(2))
               + (gain(1) + gain(3)) / (gain(1) + gain(2) + gain(3)))
              / 3));
  CATCH_CHECK(
    value("ndcg@100")
    == Approx((gain(2) / gain(1) + (gain(1) + gain(3)) / (gain(1) + gain(2))
               + (gain(1) + gain(3) + gain(4) + gain(9))
                   / (gain(1) + gain(2) + gain(3) + gain(4)))
              / 3));
  CATCH_CHECK_FALSE(metric("ndcg@5").is_loss());
  // Sampled negatives know no groups.
  class_tally other;
  told.groups.clear();
  other.add(told);
  const auto without = other.metrics(1);
  CATCH_CHECK(value_of(metric("mrr"), {}, &*without));
  CATCH_CHECK_FALSE(value_of(metric("recall@1"), {}, &*without));
}

CATCH_TEST_CASE("of too many ranks, those of groups are left out first",
                "[flow][links]") {
  seed_outcomes told;
  told.classes = 1;
  told.form = outcome_form::ranks;
  constexpr auto most =
    static_cast<std::int32_t>(seed_outcomes::most_batch_scores);
  told.destination_ranks = ranks{{4, most}};
  for (std::int64_t rank = 1; rank < most; ++rank)
    told.groups.push_back({1, 1, 2 * rank});
  class_tally tally;
  tally.add(told); // With the rank of all links, as many as are kept.
  const auto before = tally.metrics(most);
  CATCH_REQUIRE(before);
  CATCH_CHECK(value_of(metric("recall@1"), {}, &*before));
  told.destination_ranks = ranks{{2, 1}};
  told.groups = {{1, 1, 2}};
  tally.add(told);
  tally.add(told); // Its groups alone would be some of them.
  const auto got = tally.metrics(most + 2);
  CATCH_REQUIRE(got);
  CATCH_CHECK(value_of(metric("hits@1"), {}, &*got) == 2.0 / (most + 2));
  CATCH_CHECK_FALSE(value_of(metric("recall@1"), {}, &*got));
}

CATCH_TEST_CASE("links may be ranked at one end", "[flow][links]") {
  for (const auto at_source : {false, true}) {
    class_tally tally;
    seed_outcomes told;
    told.classes = 1;
    told.form = outcome_form::ranks;
    (at_source ? told.source_ranks : told.destination_ranks) = ranks{{10, 2}};
    tally.add(told);
    const auto got = tally.metrics(2);
    CATCH_REQUIRE(got);
    CATCH_CHECK(got->links->mrr() == 0.2);
    CATCH_CHECK(got->links->mean_rank() == 5);
    CATCH_CHECK(got->links->hits(5) == 1);
    CATCH_CHECK(got->links->share_of_ties() == 0);
  }
}

CATCH_TEST_CASE("metrics of links are those of their definition",
                "[flow][links]") {
  const auto links = drawn_links(5);
  std::vector<std::size_t> all(links.scores.size());
  std::iota(all.begin(), all.end(), 0);
  class_tally tally;
  tally.add(links.told(all));
  const auto got = *tally.metrics(links.count());
  double inverse = 0;
  double sum = 0;
  double found = 0;
  double in_order = 0;
  for (const auto link : all) {
    for (const auto* wrong : {&links.tails[link], &links.heads[link]}) {
      const auto rank = links.rank_of(link, *wrong);
      inverse += 1 / rank;
      sum += rank;
      found += rank <= 3;
    }
    for (const auto other : all)
      in_order += links.scores[link] > links.tails[other][0]    ? 1
                  : links.scores[link] == links.tails[other][0] ? 0.5
                                                                : 0;
  }
  const auto count = static_cast<double>(all.size());
  CATCH_CHECK(got.links->mrr() == Approx(inverse / (2 * count)).epsilon(1e-12));
  CATCH_CHECK(got.links->mean_rank()
              == Approx(sum / (2 * count)).epsilon(1e-12));
  CATCH_CHECK(got.links->hits(3) == Approx(found / (2 * count)).epsilon(1e-12));
  CATCH_CHECK(got.scored);
  CATCH_CHECK(*got.roc_auc
              == Approx(in_order / (count * count)).epsilon(1e-12));
}

CATCH_TEST_CASE("metrics of links do not depend on how links were dealt out",
                "[flow][links]") {
  const auto links = drawn_links(6);
  std::vector<std::size_t> order(links.scores.size());
  std::iota(order.begin(), order.end(), 0);
  class_tally whole;
  whole.add(links.told(order));
  const auto expected = *whole.metrics(links.count());
  std::mt19937 engine{7};
  for (const std::size_t batch : {1, 7, 64}) {
    std::shuffle(order.begin(), order.end(), engine);
    class_tally tally;
    for (std::size_t begin = 0; begin < order.size(); begin += batch) {
      const auto end = std::min(begin + batch, order.size());
      tally.add(links.told({order.begin() + std::ptrdiff_t(begin),
                            order.begin() + std::ptrdiff_t(end)}));
    }
    const auto got = *tally.metrics(links.count());
    CATCH_CHECK(got.links->mrr() == expected.links->mrr());
    CATCH_CHECK(got.links->mean_rank() == expected.links->mean_rank());
    CATCH_CHECK(got.links->hits(10) == expected.links->hits(10));
    CATCH_CHECK(got.links->tied == expected.links->tied);
    CATCH_CHECK(got.roc_auc == expected.roc_auc);
    CATCH_CHECK(got.average_precision == expected.average_precision);
  }
}

CATCH_TEST_CASE("scores that are no numbers give links no areas",
                "[flow][links]") {
  class_tally tally;
  seed_outcomes told;
  told.classes = 1;
  told.form = outcome_form::ranks;
  told.labels = {1, 0};
  told.scores = {no_value, 1};
  told.destination_ranks = ranks{{4, 1}};
  tally.add(told);
  const auto got = tally.metrics(1);
  CATCH_REQUIRE(got);
  CATCH_CHECK_FALSE(got->roc_auc);
  CATCH_CHECK_FALSE(got->average_precision);
  // A link that had no negative brings the score of its edge alone.
  told.labels = {1};
  told.scores = {3};
  tally.add(told);
  CATCH_CHECK(tally.metrics(2)->links->mean_rank() == 2);
}

} // namespace graphmill::test::link_metrics
