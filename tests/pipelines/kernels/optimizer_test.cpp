#include "pipelines/gradients/gradient_set.hpp"
#include "pipelines/kernels/optimizer.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

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
  CATCH_CHECK(near(model.parameters.tables[0][1], 0.89));
  sgd.apply(gradients(1, 0, {2}, {0}), 0.1, model.parameters);
  // a: velocity 0.55 + 1 + 0.089 = 1.639.
  CATCH_CHECK(near(model.parameters.dense[0], 0.89 - 0.1639));
  // Row 1 was not touched: neither momentum nor decay moves it.
  CATCH_CHECK(near(model.parameters.tables[0][0], 1));
  CATCH_CHECK(near(model.parameters.tables[0][1], 0.89));
  CATCH_CHECK(near(model.parameters.tables[0][2], 0.99));
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
  CATCH_CHECK(near(second.parameters.tables[0][1], 0.95));
  CATCH_CHECK(near(second.parameters.tables[0][2], 1));
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
