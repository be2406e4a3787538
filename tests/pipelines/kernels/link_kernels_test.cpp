#include "pipelines/kernels/links/link_losses.hpp"
#include "pipelines/kernels/links/link_panels.hpp"
#include "pipelines/kernels/links/link_queries.hpp"
#include "pipelines/kernels/links/link_rows.hpp"
#include "pipelines/kernels/links/link_scores.hpp"
#include "pipelines/kernels/links/link_sums.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <vector>

namespace graphmill::test::link_kernels {

namespace {

using numbers = std::vector<float>;
constexpr auto nan = std::numeric_limits<float>::quiet_NaN();
const double log2 = std::log(2.0);

const std::vector all_comparisons{comparison::product, comparison::absolute,
                                  comparison::euclidean, comparison::modulus};

double plain_score(comparison how, const float* a, const float* b,
                   std::int64_t width) {
  double sum = 0;
  for (std::int64_t c = 0; c < width; ++c) {
    const auto d = double(a[c]) - b[c];
    if (how == comparison::product)
      sum += double(a[c]) * b[c];
    else if (how == comparison::absolute)
      sum += std::abs(d);
    else if (how == comparison::euclidean)
      sum += d * d;
    else if (c < width / 2)
      sum += std::hypot(d, double(a[c + width / 2]) - b[c + width / 2]);
  }
  return how == comparison::product     ? sum
         : how == comparison::euclidean ? -std::sqrt(sum)
                                        : -sum;
}

numbers random_numbers(std::mt19937_64& random, std::int64_t count) {
  std::uniform_real_distribution<float> value{-1, 1};
  numbers out(static_cast<std::size_t>(count));
  for (auto& x : out)
    x = value(random);
  return out;
}

} // namespace

CATCH_TEST_CASE("scores of lists equal plain ones", "[kernels][links]") {
  std::mt19937_64 random{7};
  for (const auto how : all_comparisons)
    for (const std::int64_t width : {2, 6, 16, 30, 32, 50, 128}) {
      CATCH_INFO("comparison " << int(how) << ", width " << width);
      constexpr std::int64_t rows = 9;
      constexpr std::int64_t nodes = 7;
      const auto a = random_numbers(random, rows * width);
      const auto b = random_numbers(random, nodes * width);
      std::vector<local_id> lists;
      for (std::int64_t i = 0; i < rows * 5; ++i)
        lists.push_back(static_cast<local_id>(random() % (nodes + 1)) - 1);
      numbers out(rows * 6, 9);
      score_lists({.how = how,
                   .a = {a.data(), rows, width},
                   .b = {b.data(), nodes, width},
                   .lists = lists.data(),
                   .stride = 5,
                   .first = 1,
                   .last = 5},
                  0, rows, {out.data(), rows, 6});
      numbers all(rows * nodes);
      compare_all(how, {a.data(), rows, width}, {b.data(), nodes, width}, 0,
                  rows, {all.data(), rows, nodes});
      for (std::int64_t i = 0; i < rows; ++i) {
        CATCH_CHECK(out[i * 6] == 9);
        CATCH_CHECK(out[i * 6 + 5] == 9);
        for (std::int64_t k = 1; k < 5; ++k) {
          const auto node = lists[i * 5 + k];
          const auto got = out[i * 6 + k];
          if (node == seed_batch::none) {
            CATCH_CHECK(got == no_score);
            continue;
          }
          const auto want = plain_score(how, a.data() + i * width,
                                        b.data() + node * width, width);
          CATCH_CHECK(std::abs(got - want) < 1e-5 * (1 + std::abs(want)));
          CATCH_CHECK(all[i * nodes + node] == got);
        }
      }
    }
}

CATCH_TEST_CASE("gradients of scores are those of lists, turned or not",
                "[kernels][links]") {
  std::mt19937_64 random{11};
  for (const auto how : all_comparisons) {
    CATCH_INFO("comparison " << int(how));
    constexpr std::int64_t width = 20;
    constexpr std::int64_t rows = 6;
    constexpr std::int64_t nodes = 5;
    const auto a = random_numbers(random, rows * width);
    const auto b = random_numbers(random, nodes * width);
    const auto weights = random_numbers(random, rows * 4);
    std::vector<local_id> lists;
    for (std::int64_t i = 0; i < rows * 4; ++i)
      lists.push_back(static_cast<local_id>(random() % (nodes + 1)) - 1);
    const const_matrix as{a.data(), rows, width};
    const const_matrix bs{b.data(), nodes, width};
    numbers of_a(rows * width);
    add_gradients({.how = how,
                   .a = as,
                   .b = bs,
                   .columns = lists.data(),
                   .weights = weights.data(),
                   .stride = 4,
                   .weight_stride = 4,
                   .first = 0,
                   .last = 4},
                  0, rows, {of_a.data(), rows, width});
    turned_lists turned;
    turn_lists(lists, 4, 0, 4, {weights.data(), rows, 4}, nodes, turned);
    CATCH_CHECK(
      turned.indptr.back()
      == std::ssize(lists)
           - std::count(lists.begin(), lists.end(), seed_batch::none));
    numbers of_b(nodes * width);
    add_gradients({.how = how,
                   .a = bs,
                   .b = as,
                   .indptr = turned.indptr.data(),
                   .columns = turned.rows.data(),
                   .weights = turned.weights.data()},
                  0, nodes, {of_b.data(), nodes, width});
    // Central differences of the weighted sum of all scores.
    const auto sum_of = [&](const numbers& x, const numbers& y) {
      double sum = 0;
      for (std::int64_t i = 0; i < rows * 4; ++i)
        if (lists[i] != seed_batch::none)
          sum += weights[i]
                 * plain_score(how, x.data() + i / 4 * width,
                               y.data() + lists[i] * width, width);
      return sum;
    };
    constexpr float step = 0x1p-10f;
    const auto check = [&](const numbers& got, bool first) {
      for (std::size_t i = 0; i < got.size(); ++i) {
        auto x = a;
        auto y = b;
        auto& moved = first ? x[i] : y[i];
        moved += step;
        const auto above = sum_of(x, y);
        moved -= 2 * step;
        const auto slope = (above - sum_of(x, y)) / (2 * double(step));
        CATCH_INFO("element " << i << " of " << (first ? "a" : "b"));
        CATCH_CHECK(std::abs(got[i] - slope) < 2e-3);
      }
    };
    check(of_a, true);
    check(of_b, false);
    // All with all.
    const auto grid = random_numbers(random, rows * nodes);
    numbers each(rows * width);
    numbers listed(rows * width);
    std::vector<local_id> every;
    for (std::int64_t i = 0; i < rows * nodes; ++i)
      every.push_back(static_cast<local_id>(i % nodes));
    add_all_gradients(how, as, bs, {grid.data(), rows, nodes}, false, 0, rows,
                      {each.data(), rows, width});
    add_gradients({.how = how,
                   .a = as,
                   .b = bs,
                   .columns = every.data(),
                   .weights = grid.data(),
                   .stride = nodes,
                   .weight_stride = nodes,
                   .first = 0,
                   .last = nodes},
                  0, rows, {listed.data(), rows, width});
    CATCH_CHECK(each == listed);
  }
}

CATCH_TEST_CASE("distances of equal rows have no slope", "[kernels][links]") {
  const numbers a{1, 2, 3, 4};
  const numbers weights{1};
  const std::vector<local_id> list{0};
  for (const auto how :
       {comparison::absolute, comparison::euclidean, comparison::modulus}) {
    numbers out(4);
    add_gradients({.how = how,
                   .a = {a.data(), 1, 4},
                   .b = {a.data(), 1, 4},
                   .columns = list.data(),
                   .weights = weights.data(),
                   .stride = 1,
                   .weight_stride = 1,
                   .first = 0,
                   .last = 1},
                  0, 1, {out.data(), 1, 4});
    CATCH_CHECK(out == numbers(4, 0));
  }
}

CATCH_TEST_CASE("queries of both ends on paper", "[kernels][links]") {
  // h = (1 + 3i, 2 + 4i), and r = (5 + 7i, 6 + 8i) of the second edge type.
  const numbers node{1, 2, 3, 4};
  const numbers relations{0, 0, 0, 0, 5, 6, 7, 8};
  const std::vector<local_id> ends{0};
  const std::vector<std::int32_t> relation_of{1};
  const auto query = [&](decoder_kind kind, query_side side) {
    numbers out(4);
    make_queries(link_queries{.kind = kind,
                              .side = side,
                              .nodes = {node.data(), 1, 4},
                              .ends = ends,
                              .relations = {relations.data(), 2, 4},
                              .relation_of = relation_of},
                 0, 1, {out.data(), 1, 4});
    return out;
  };
  using enum query_side;
  CATCH_CHECK(query(decoder_kind::dot, source) == node);
  CATCH_CHECK(query(decoder_kind::distmult, destination)
              == numbers{5, 12, 21, 32});
  CATCH_CHECK(query(decoder_kind::transe, source) == numbers{6, 8, 10, 12});
  CATCH_CHECK(query(decoder_kind::transe, destination)
              == numbers{-4, -4, -4, -4});
  CATCH_CHECK(query(decoder_kind::complex, source)
              == numbers{5 - 21, 12 - 32, 7 + 15, 16 + 24});
  CATCH_CHECK(query(decoder_kind::complex, destination)
              == numbers{5 + 21, 12 + 32, -7 + 15, -16 + 24});
}

CATCH_TEST_CASE("losses of links on paper", "[kernels][links]") {
  // All scores 0 but the edge of the second row; its third slot is missing, and
  // so are all negatives of the third row.
  const numbers logits{0, 0,        0,        //
                       2, 1,        no_score, //
                       0, no_score, no_score};
  const auto soft = [](double x) { return std::log1p(std::exp(x)); };
  struct {
    link_loss loss;
    double sum;
  } const cases[]{
    {link_loss::bce, log2 + (soft(-2) + soft(1)) / 2 + log2 / 2},
    {link_loss::margin, 1.5 + 0.5 + 0},
    {link_loss::bpr, log2 + soft(-1)},
    {link_loss::softmax, std::log(3.0) + soft(-1) + 0},
    {link_loss::self_adversarial, (soft(-1.5) + soft(1.5)) / 2
                                    + (soft(-3.5) + soft(2.5)) / 2
                                    + soft(-1.5) / 2},
  };
  for (const auto& [loss, sum] : cases) {
    CATCH_INFO("loss " << int(loss));
    numbers gradient(9, 5);
    const auto metrics =
      link_losses({logits.data(), 3, 3}, {.kind = loss, .margin = 1.5}, 0.5,
                  {gradient.data(), 3, 3});
    CATCH_CHECK(metrics.seeds == 3);
    CATCH_CHECK(metrics.loss_sum == Approx(sum).epsilon(1e-12));
    CATCH_CHECK(gradient[5] == 0);
    CATCH_CHECK(gradient[7] == 0);
    CATCH_CHECK(gradient[8] == 0);
    CATCH_CHECK(gradient[0] < 0);
    CATCH_CHECK(gradient[1] == gradient[2]);
    CATCH_CHECK(gradient[1] > 0);
    CATCH_CHECK(
      link_losses({logits.data(), 3, 3}, {.kind = loss, .margin = 1.5}, 1, {})
        .loss_sum
      == metrics.loss_sum);
  }
  numbers gradient(9);
  link_losses({logits.data(), 3, 3}, {.kind = link_loss::bce}, 1,
              {gradient.data(), 3, 3});
  CATCH_CHECK(gradient[0] == -0.25f);
  CATCH_CHECK(gradient[1] == 0.125f);
}

CATCH_TEST_CASE("losses of links stay finite for large scores",
                "[kernels][links]") {
  const numbers logits{-3e4f, 3e4f, 2e4f};
  for (const auto loss : {link_loss::bce, link_loss::margin, link_loss::bpr,
                          link_loss::softmax, link_loss::self_adversarial}) {
    numbers gradient(3);
    const auto metrics = link_losses({logits.data(), 1, 3}, {.kind = loss}, 1,
                                     {gradient.data(), 1, 3});
    CATCH_CHECK(std::isfinite(metrics.loss_sum));
    for (const auto g : gradient)
      CATCH_CHECK(std::isfinite(g));
  }
  const numbers broken{nan, 0, 0};
  CATCH_CHECK(std::isnan(
    link_losses({broken.data(), 1, 3}, {.kind = link_loss::margin}, 1, {})
      .loss_sum));
}

CATCH_TEST_CASE("ranks of links count ties half, and what exists alone",
                "[kernels][links]") {
  // The edge; two wrong destinations, one wrong source, a joint source.
  const link_slots slots{.wrong_destinations = 2,
                         .wrong_sources = 1,
                         .joint_destinations = 0,
                         .joint_sources = 1};
  const numbers logits{1, 0,        1,        2, 0, //
                       1, no_score, 3,        1, 1, //
                       1, no_score, no_score, 0, 0, //
                       1, nan,      0,        0, no_score};
  const auto got = link_outcomes_of({logits.data(), 4, 5}, slots, true);
  CATCH_CHECK(got.form == outcome_form::ranks);
  CATCH_CHECK(got.classes == 1);
  // 1.5, 2, 1, 2 and 2, 2, 1, 1, doubled.
  CATCH_CHECK(got.destination_ranks
              == std::vector<rank_count>{{2, 1}, {3, 1}, {4, 2}});
  CATCH_CHECK(got.source_ranks == std::vector<rank_count>{{2, 2}, {4, 2}});
  CATCH_CHECK(got.tied == 2);
  CATCH_CHECK(got.labels == std::vector<std::int32_t>{1, 0, 1, 0, 1, 0, 1, 0});
  CATCH_CHECK(got.scores[0] == 1);
  CATCH_CHECK(got.scores[1] == 0);
  CATCH_CHECK(got.scores[3] == 3);
  CATCH_CHECK(got.scores[5] == 0);
  CATCH_CHECK(
    link_outcomes_of({logits.data(), 4, 5}, slots, false).scores.empty());
}

CATCH_TEST_CASE("ranks of links equal plain ones", "[kernels][links]") {
  std::mt19937_64 random{13};
  for (int round = 0; round < 200; ++round) {
    const link_slots slots{.wrong_destinations = std::int64_t(random() % 6),
                           .wrong_sources = std::int64_t(random() % 6)};
    constexpr std::int64_t rows = 5;
    numbers logits;
    for (std::int64_t i = 0; i < rows * slots.count(); ++i)
      logits.push_back(i % slots.count() != 0 && random() % 5 == 0
                         ? no_score
                         : static_cast<float>(random() % 4));
    std::map<std::int64_t, int> want[2];
    for (std::int64_t i = 0; i < rows; ++i) {
      const auto* row = logits.data() + i * slots.count();
      for (const auto source : {false, true}) {
        const auto first = source ? 1 + slots.wrong_destinations : 1;
        const auto last =
          first + (source ? slots.wrong_sources : slots.wrong_destinations);
        double rank = 1;
        for (auto k = first; k < last; ++k)
          rank += row[k] == no_score ? 0
                  : row[k] > row[0]  ? 1
                  : row[k] == row[0] ? 0.5
                                     : 0;
        if (first != last)
          ++want[source][std::int64_t(2 * rank)];
      }
    }
    const auto got =
      link_outcomes_of({logits.data(), rows, slots.count()}, slots, false);
    const auto as_map = [](const std::vector<rank_count>& ranks) {
      std::map<std::int64_t, int> out;
      for (const auto& one : ranks)
        out[one.doubled] = one.count;
      return out;
    };
    CATCH_CHECK(as_map(got.destination_ranks) == want[0]);
    CATCH_CHECK(as_map(got.source_ranks) == want[1]);
  }
}

CATCH_TEST_CASE("sums over blocks of scores are ranks and losses of lists",
                "[kernels][links]") {
  std::mt19937_64 random{17};
  std::normal_distribution<float> score{0, 4};
  for (const auto kind : {link_loss::bce, link_loss::margin, link_loss::bpr,
                          link_loss::softmax, link_loss::self_adversarial})
    for (const std::int64_t count : {0, 1, 7, 8, 600, 3001}) {
      CATCH_INFO("loss " << int(kind) << ", " << count << " negatives");
      const link_loss_shape shape{kind, 0.7, 0.5};
      numbers logits{score(random)};
      for (std::int64_t k = 0; k < count; ++k)
        logits.push_back(random() % 9 == 0   ? no_score
                         : random() % 5 == 0 ? logits[0]
                                             : score(random));
      // In blocks of eight times 1, 2, 3, ...
      met_negatives met;
      loss_sums sums;
      std::int64_t found = 0;
      for (std::int64_t from = 0, length = 8; from < count; length += 8) {
        numbers block(static_cast<std::size_t>(length), no_score);
        const auto taken = std::min(length, count - from);
        std::copy_n(logits.begin() + 1 + from, taken, block.begin());
        const auto exist = meet_negatives(block.data(), length, logits[0], met);
        add_loss_terms(shape, logits[0], block.data(), length, exist, sums);
        found += exist;
        from += taken;
      }
      const const_matrix row{logits.data(), 1, std::ssize(logits)};
      CATCH_CHECK(
        found == count - std::count(logits.begin(), logits.end(), no_score));
      const auto want = link_losses(row, shape, 1, {}).loss_sum;
      CATCH_CHECK(loss_of(shape, logits[0], sums)
                  == Approx(want).epsilon(2e-6).margin(1e-6));
      if (count == 0)
        continue;
      const auto ranks =
        link_outcomes_of(row, {.wrong_destinations = count}, false);
      CATCH_CHECK(met.doubled_rank() == ranks.destination_ranks[0].doubled);
    }
  // What is no number is greater, and spoils the loss.
  const numbers broken{nan, 1, 1, 1, 1, 1, 1, no_score};
  for (const auto kind : {link_loss::bce, link_loss::margin, link_loss::bpr,
                          link_loss::softmax, link_loss::self_adversarial}) {
    met_negatives met;
    loss_sums sums;
    const auto exist = meet_negatives(broken.data(), 8, 2, met);
    CATCH_CHECK(exist == 7);
    CATCH_CHECK(met.greater == 1);
    add_loss_terms({kind}, 2, broken.data(), 8, exist, sums);
    CATCH_CHECK(std::isnan(loss_of({kind}, 2, sums)));
  }
  met_negatives met;
  meet_negatives(broken.data(), 8, nan, met);
  CATCH_CHECK(met.greater == 7);
}

CATCH_TEST_CASE("products with panels do not depend on the place of a node",
                "[kernels][links]") {
  std::mt19937_64 random{19};
  for (const std::int64_t width : {1, 6, 16, 100, 333})
    for (const std::int64_t rows : {1, 5, 12, 31}) {
      constexpr std::int64_t nodes = 41;
      CATCH_INFO("width " << width << ", " << rows << " rows");
      auto b = random_numbers(random, nodes * width);
      const auto a = random_numbers(random, rows * width);
      for (const std::int64_t copy : {7, 16, 40}) // Of node 0.
        std::copy_n(b.begin(), width, b.begin() + copy * width);
      const auto panels = panels_of(nodes);
      numbers laid(static_cast<std::size_t>(panels * panel_nodes * width));
      make_panels({b.data(), nodes, width}, 0, panels, laid.data());
      const auto columns = panels * panel_nodes;
      numbers out(static_cast<std::size_t>(rows * columns));
      multiply_panels({a.data(), rows, width}, laid.data(), panels,
                      {out.data(), rows, columns});
      for (std::int64_t i = 0; i < rows; ++i) {
        // A row alone, and a node alone.
        numbers alone(static_cast<std::size_t>(columns));
        multiply_panels({a.data() + i * width, 1, width}, laid.data(), panels,
                        {alone.data(), 1, columns});
        for (std::int64_t j = 0; j < nodes; ++j) {
          const auto got = out[static_cast<std::size_t>(i * columns + j)];
          const auto want =
            plain_score(comparison::product, a.data() + i * width,
                        b.data() + j * width, width);
          CATCH_REQUIRE(std::abs(got - want) < 1e-5 * (1 + std::abs(want)));
          CATCH_REQUIRE(alone[static_cast<std::size_t>(j)] == got);
        }
        for (const std::int64_t copy : {7, 16, 40})
          CATCH_CHECK(out[static_cast<std::size_t>(i * columns + copy)]
                      == out[static_cast<std::size_t>(i * columns)]);
        CATCH_CHECK(out[static_cast<std::size_t>(i * columns + nodes)] == 0);
      }
    }
}

CATCH_TEST_CASE("rows over a stack of several node types", "[kernels][links]") {
  seed_batch rows;
  rows.columns = 4;
  rows.wrong_destinations = 1;
  rows.wrong_sources = 1;
  rows.locals = {0, 1, 0,
                 2, //
                 1, 0, seed_batch::none,
                 1};
  rows.relations = {0, 1};
  rows.joint_destinations = {{}, {1, 0}, {2}};
  const std::vector<edge_ends> ends{{0, 1}, {1, 2}};
  const std::vector<std::int64_t> offsets{0, 3, 5, 9};
  const auto got = link_rows_of(rows, ends, offsets);
  CATCH_CHECK(got.sources == std::vector<local_id>{0, 4});
  CATCH_CHECK(got.destinations == std::vector<local_id>{4, 5});
  CATCH_CHECK(got.candidates
              == std::vector<local_id>{4, 3, 2, 5, seed_batch::none, 4});
  CATCH_CHECK(got.slots.own() == 3);
  CATCH_CHECK(got.slots.count() == 5);
  CATCH_CHECK_FALSE(got.slots.replaces_source(1));
  CATCH_CHECK(got.slots.replaces_source(2));
  CATCH_CHECK_FALSE(got.slots.replaces_source(3));
  CATCH_REQUIRE(got.joint.size() == 2);
  CATCH_CHECK(got.joint[0].rows == std::vector<std::int32_t>{0});
  CATCH_CHECK(got.joint[0].nodes == std::vector<local_id>{4, 3});
  CATCH_CHECK(got.joint[1].rows == std::vector<std::int32_t>{1});
  CATCH_CHECK(got.joint[1].nodes == std::vector<local_id>{7});
  CATCH_CHECK(got.joint[1].slot == 3);
}

} // namespace graphmill::test::link_kernels
