#include "pipelines/gradients/gradient_set.hpp"
#include "pipelines/kernels/optimizer.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

namespace graphmill::test {

namespace {

/// Two dense parameters of one float each, and a table of 3 rows of width 1.
struct tiny_model {
  model_layout layout;
  parameter_store parameters;

  tiny_model() {
    layout.parameters.push_back({"a", {1}, start::zeros, 0, 0, 1});
    layout.parameters.push_back({"b", {1}, start::zeros, 0, 1, 1});
    layout.dense_size = 2;
    layout.tables.push_back({"t", 0, 3, 1});
    parameters.dense.append(std::vector<float>{1.0f, -2.0f});
    parameters.tables.emplace_back().append(
      std::vector<float>{1.0f, 1.0f, 1.0f});
  }
};

gradient_set gradients(float a, float b, std::vector<node_id> rows,
                       std::vector<float> values) {
  gradient_set out;
  out.dense.append(std::vector<float>{a, b});
  auto& table = out.tables.emplace_back();
  table.rows.append(rows);
  table.values.append(values);
  return out;
}

bool near(double got, double want) {
  return std::abs(got - want) < 1e-6;
}

} // namespace

CATCH_TEST_CASE("SGD with momentum and weight decay, two steps by hand",
                "[kernels]") {
  tiny_model model;
  optimizer sgd{
    {.kind = optimizer_kind::sgd, .weight_decay = 0.1, .momentum = 0.5},
    model.layout};
  sgd.apply(gradients(1, 0, {1}, {1}), 0.1, model.parameters);
  // a: velocity 1 + 0.1 * 1 = 1.1, a = 1 - 0.11. b: -0.2, b = -2 + 0.02.
  CATCH_CHECK(near(model.parameters.dense[0], 0.89));
  CATCH_CHECK(near(model.parameters.dense[1], -1.98));
  CATCH_CHECK(near(model.parameters.tables[0][1], 0.9)); // Without decay.
  sgd.apply(gradients(1, 0, {2}, {0}), 0.1, model.parameters);
  // a: velocity 0.55 + 1 + 0.089 = 1.639.
  CATCH_CHECK(near(model.parameters.dense[0], 0.89 - 0.1639));
  // Row 1 was not touched: momentum does not move it.
  CATCH_CHECK(near(model.parameters.tables[0][0], 1));
  CATCH_CHECK(near(model.parameters.tables[0][1], 0.9));
  CATCH_CHECK(near(model.parameters.tables[0][2], 1));
}

CATCH_TEST_CASE("Adam, two steps by hand", "[kernels]") {
  tiny_model model;
  optimizer adam{{.kind = optimizer_kind::adam}, model.layout};
  adam.apply(gradients(0.5f, -4, {0}, {2}), 0.1, model.parameters);
  // The first step is the learning rate, whatever the gradient's size.
  CATCH_CHECK(near(model.parameters.dense[0], 0.9));
  CATCH_CHECK(near(model.parameters.dense[1], -1.9));
  CATCH_CHECK(near(model.parameters.tables[0][0], 0.9));
  adam.apply(gradients(1.5f, 0, {2}, {3}), 0.1, model.parameters);
  const auto step = [](double g1, double g2) {
    const auto m = (0.9 * 0.1 * g1 + 0.1 * g2) / (1 - 0.81);
    const auto v =
      (0.999 * 0.001 * g1 * g1 + 0.001 * g2 * g2) / (1 - 0.999 * 0.999);
    return 0.1 * m / (std::sqrt(v) + 1e-8);
  };
  CATCH_CHECK(near(model.parameters.dense[0], 0.9 - step(0.5, 1.5)));
  CATCH_CHECK(near(model.parameters.dense[1], -1.9 - step(-4, 0)));
  // Lazily: row 0 stays; row 2 has its first gradient in the second step.
  CATCH_CHECK(near(model.parameters.tables[0][0], 0.9));
  CATCH_CHECK(near(model.parameters.tables[0][2], 1 - step(0, 3)));
}

CATCH_TEST_CASE("weight decay adds to Adam's gradient, shrinks under AdamW",
                "[kernels]") {
  tiny_model first;
  optimizer adam{{.kind = optimizer_kind::adam, .weight_decay = 0.5},
                 first.layout};
  adam.apply(gradients(0, 0, {}, {}), 0.1, first.parameters);
  CATCH_CHECK(near(first.parameters.dense[0], 0.9)); // A full step to zero.
  CATCH_CHECK(near(first.parameters.tables[0][0], 1));
  tiny_model second;
  optimizer adamw{{.kind = optimizer_kind::adamw, .weight_decay = 0.5},
                  second.layout};
  adamw.apply(gradients(0, 1, {1}, {0}), 0.1, second.parameters);
  CATCH_CHECK(near(second.parameters.dense[0], 0.95));
  CATCH_CHECK(near(second.parameters.dense[1], -2 * 0.95 - 0.1));
  CATCH_CHECK(near(second.parameters.tables[0][1], 1));
  CATCH_CHECK(near(second.parameters.tables[0][2], 1));
}

CATCH_TEST_CASE("weight decay is for the layers and the kinds of parameters "
                "that the definition names",
                "[kernels]") {
  // Two layers, each with a weight and a bias.
  model_layout layout;
  layout.parameters = {{"w1", {1, 1}, start::zeros, 0, 0, 1},
                       {"b1", {1}, start::zeros, 0, 1, 1},
                       {"w2", {1, 1}, start::zeros, 0, 2, 1},
                       {"b2", {1}, start::zeros, 0, 3, 1}};
  layout.dense_size = 4;
  layout.layers.resize(2);
  layout.layers[1].offset = 2;
  const auto after = [&layout](decayed_layers layers, bool biases) {
    parameter_store parameters;
    parameters.dense.append(std::vector<float>{1, 1, 1, 1});
    gradient_set none;
    none.dense.append(std::vector<float>{0, 0, 0, 0});
    optimizer steps{{.kind = optimizer_kind::sgd,
                     .weight_decay = 0.5,
                     .decay_layers = layers,
                     .decay_biases = biases},
                    layout};
    steps.apply(none, 0.5, parameters);
    return std::vector<float>{parameters.dense.begin(), parameters.dense.end()};
  };
  const auto all = decayed_layers::all;
  const auto first = decayed_layers::first;
  using floats = std::vector<float>;
  CATCH_CHECK(after(all, true) == floats{0.75f, 0.75f, 0.75f, 0.75f});
  CATCH_CHECK(after(all, false) == floats{0.75f, 1, 0.75f, 1});
  CATCH_CHECK(after(first, true) == floats{0.75f, 0.75f, 1, 1});
  CATCH_CHECK(after(first, false) == floats{0.75f, 1, 1, 1});
  // What makes logits of the outputs of a single layer is none.
  layout.layers.resize(1);
  layout.head_offset = 2;
  layout.jumping_weight = 2;
  layout.jumping_bias = 3;
  CATCH_CHECK(after(first, true) == floats{0.75f, 0.75f, 1, 1});
  CATCH_CHECK(after(all, true) == floats{0.75f, 0.75f, 0.75f, 0.75f});
}

CATCH_TEST_CASE("gradients longer than clip_norm are scaled down to it",
                "[kernels]") {
  const auto after = [](double clip, double factor) {
    tiny_model model;
    optimizer sgd{{.kind = optimizer_kind::sgd, .clip_norm = clip},
                  model.layout};
    // Of length 13: 3, 4 and 12 at a right angle.
    sgd.apply(gradients(3, 4, {1}, {12}), 1, model.parameters, factor);
    return std::array{model.parameters.dense[0] - 1,
                      model.parameters.dense[1] + 2,
                      model.parameters.tables[0][1] - 1};
  };
  for (const auto& [clip, factor, share] :
       {std::array{0.0, 1.0, 1.0}, std::array{13.5, 1.0, 1.0},
        std::array{6.5, 1.0, 0.5}, std::array{6.5, 0.25, 0.25},
        std::array{6.5, 2.0, 0.5}}) {
    CATCH_INFO("clip " << clip << ", factor " << factor);
    const auto moved = after(clip, factor);
    CATCH_CHECK(near(moved[0], -3 * share));
    CATCH_CHECK(near(moved[1], -4 * share));
    CATCH_CHECK(near(moved[2], -12 * share));
  }
}

CATCH_TEST_CASE("lazy decay of tables is dense decay, bit for bit",
                "[kernels]") {
  const auto kind =
    GENERATE(optimizer_kind::adam, optimizer_kind::adamw, optimizer_kind::sgd);
  CATCH_INFO("kind " << int(kind) << ", seed 5");
  constexpr std::int64_t rows = 7;
  constexpr std::int64_t width = 19; // Fills no vector register.
  model_layout layout;
  layout.tables.push_back({"t", 0, rows, width});
  const definition::optimizer_section options{
    .kind = kind, .weight_decay = 0.25, .embedding_decay = 3};
  auto without = options; // The dense one decays by hand, before it steps.
  without.embedding_decay = 0;
  optimizer lazy{options, layout};
  optimizer dense{without, layout};
  std::mt19937_64 random{5};
  std::uniform_real_distribution<float> value{-1, 1};
  parameter_store ours;
  ours.tables.emplace_back();
  for (std::int64_t i = 0; i < rows * width; ++i)
    ours.tables[0].push_back(value(random));
  auto theirs = copy_of(ours);
  const auto equal = [&](std::int64_t row) {
    const auto at = row * width;
    return std::equal(ours.tables[0].begin() + at,
                      ours.tables[0].begin() + at + width,
                      theirs.tables[0].begin() + at);
  };
  bool lagged = false;
  for (int step = 0; step < 60; ++step) {
    const auto rate = 0.01 + 0.001 * (step % 7); // As schedules change it.
    const auto keep = static_cast<float>(1 - rate * 3);
    gradient_set touched;
    auto& table = touched.tables.emplace_back();
    for (std::int64_t row = 0; row + 1 < rows; ++row) // The last one never.
      if (random() % 3 == 0) {
        table.rows.push_back(row);
        for (std::int64_t c = 0; c < width; ++c)
          table.values.push_back(value(random));
      }
    lazy.apply(touched, rate, ours);
    for (auto& x : theirs.tables[0])
      x *= keep;
    dense.apply(touched, rate, theirs);
    for (const auto row : table.rows)
      CATCH_CHECK(equal(row));
    lagged |= !equal(rows - 1);
    if (step == 20) {
      lazy.catch_up(0, std::vector<node_id>{2, 5, 2}, ours);
      CATCH_CHECK((equal(2) && equal(5)));
    }
    if (step == 30 || step == 59) {
      lazy.catch_up(ours);
      lazy.catch_up(ours); // Nothing is due any more.
      for (std::int64_t row = 0; row < rows; ++row)
        CATCH_CHECK(equal(row));
    }
  }
  CATCH_CHECK(lagged);
}

CATCH_TEST_CASE("decay that is due does not pile up without an end",
                "[kernels]") {
  constexpr int count = 70000; // More steps than the optimizer keeps in mind.
  constexpr double rate = 1e-5;
  model_layout layout;
  layout.tables.push_back({"t", 0, 2, 1});
  optimizer sgd{{.kind = optimizer_kind::sgd, .embedding_decay = 1}, layout};
  parameter_store ours;
  ours.tables.emplace_back().append(std::vector<float>{1, -3});
  std::vector<float> want{1, -3};
  gradient_set none;
  none.tables.emplace_back();
  for (int step = 0; step < count; ++step) {
    sgd.apply(none, rate, ours);
    for (auto& x : want)
      x *= static_cast<float>(1 - rate);
  }
  CATCH_CHECK(ours.tables[0][0] < 1);       // Caught up on the way,
  CATCH_CHECK(ours.tables[0][0] > want[0]); // but not to the end.
  sgd.catch_up(ours);
  CATCH_CHECK(std::equal(want.begin(), want.end(), ours.tables[0].begin()));
}

CATCH_TEST_CASE("adding gradients merges the rows of tables", "[kernels]") {
  auto sum = gradients(1, 2, {1, 4}, {10, 40});
  add(sum, gradients(0.5f, 0, {0, 4, 9}, {1, 2, 3}));
  add(sum, gradients(0, 0, {}, {}));
  CATCH_CHECK(sum.dense[0] == 1.5f);
  const std::vector<node_id> rows(sum.tables[0].rows.begin(),
                                  sum.tables[0].rows.end());
  const std::vector<float> values(sum.tables[0].values.begin(),
                                  sum.tables[0].values.end());
  CATCH_CHECK(rows == std::vector<node_id>{0, 1, 4, 9});
  CATCH_CHECK(values == std::vector<float>{1, 10, 42, 3});
  auto empty = gradients(0, 0, {}, {});
  add(empty, sum);
  CATCH_CHECK(empty.tables[0].rows.size() == 4);
}

} // namespace graphmill::test
