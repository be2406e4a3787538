#include "tests/pipelines/model/numeric_gradients.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <algorithm>
#include <cmath>

namespace graphmill::test {

namespace {

/// Derivatives of the reference's loss by central differences.
std::vector<double> numeric(reference_model& model, const std::string& name) {
  std::vector<double> out;
  auto& values = model.values[name];
  for (auto& x : values) {
    const auto kept = x;
    constexpr double step = 1e-6;
    x = kept + step;
    const auto above = model.loss();
    x = kept - step;
    const auto below = model.loss();
    x = kept;
    out.push_back((above - below) / (2 * step));
  }
  return out;
}

void check_close(const std::string& name, const std::vector<double>& want,
                 const float* got) {
  double scale = 0;
  for (auto x : want)
    scale = std::max(scale, std::abs(x));
  for (std::size_t i = 0; i < want.size(); ++i) {
    CATCH_INFO(name << "[" << i << "]: " << got[i] << " for " << want[i]);
    CATCH_CHECK(std::abs(got[i] - want[i]) <= 2e-5 * scale + 2e-6);
  }
}

} // namespace

void randomise(replica& model, reference_model& reference,
               std::mt19937_64& random) {
  std::uniform_real_distribution<float> value{-1, 1};
  auto tensors = model.parameters();
  for (auto& tensor : tensors) {
    for (auto& x : tensor.values)
      x = value(random);
    reference.values[tensor.name].assign(tensor.values.begin(),
                                         tensor.values.end());
  }
  value_of(model.load(tensors));
}

void compare_gradients(const model_layout& layout, reference_model& reference,
                       const gradient_set& got) {
  for (const auto& info : layout.parameters)
    check_close(info.name, numeric(reference, info.name),
                got.dense.data() + info.offset);
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    const auto& table = layout.tables[t];
    std::vector<float> dense(table.rows * table.width);
    const auto& sparse = got.tables[t];
    for (std::size_t k = 0; k < sparse.rows.size(); ++k)
      std::copy_n(sparse.values.data() + k * table.width, table.width,
                  dense.data() + sparse.rows[k] * table.width);
    check_close(table.name, numeric(reference, table.name), dense.data());
  }
}

void check_gradients(const definition& def, const toy_graph& graph,
                     const std::vector<node_id>& seeds, int fanout,
                     std::mt19937_64& random) {
  const auto layout = value_of(make_layout(def, graph.info));
  auto model = value_of(replica::create(def, graph.info));
  auto batch = make_batch(graph, def, seeds, fanout);
  batch.global_seeds += 3; // Other ranks have some, too.
  batch.data.key.rank = 2;
  reference_model reference{layout, batch, def.model.layer_norm};
  reference.training = true;
  reference.key = 99;
  reference.class_weights = def.train.class_weights;
  reference.smoothing = def.train.label_smoothing;
  randomise(*model, reference, random);

  gradient_set got;
  const auto metrics = value_of(model->compute_gradients(batch, 99, got));
  const auto loss = metrics.loss_sum / double(batch.global_seeds);
  auto plain = reference; // What is told is the plain cross-entropy.
  plain.class_weights.clear();
  plain.smoothing = 0;
  CATCH_CHECK(std::abs(loss - plain.loss()) < 1e-5 * (1 + loss));
  compare_gradients(layout, reference, got);
}

} // namespace graphmill::test
