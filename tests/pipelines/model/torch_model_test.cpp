#include "pipelines/gradients/gradient_set.hpp"
#include "pipelines/model/fused_model.hpp"
#include "pipelines/model/torch/devices.hpp"
#include "pipelines/model/torch/torch_model.hpp"
#include "pipelines/model/torch/torch_operations.hpp"
#include "tests/pipelines/model/batches.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace graphmill::test {

namespace {

/// The largest difference, as a share of the largest value, or of `scale` if
/// that is more.
template <class A, class B>
double difference(const A& got, const B& want, std::size_t size,
                  double scale = 1e-6) {
  double worst = 0;
  for (std::size_t i = 0; i < size; ++i) {
    worst = std::max(worst, std::abs(double(got[i]) - want[i]));
    scale = std::max(scale, std::abs(double(want[i])));
  }
  return worst / scale;
}

} // namespace

CATCH_TEST_CASE("fused kernels and libtorch's operations agree", "[compute]") {
  const auto kind = GENERATE(from_range(all_kinds()));
  const auto norm = GENERATE(false, true);
  const auto skips = GENERATE(false, true);
  const auto widths =
    GENERATE(std::vector<std::int64_t>{7}, std::vector<std::int64_t>{0},
             std::vector<std::int64_t>{150});
  const auto weighted = GENERATE(false, true);
  if (weighted && !traits_of(kind).weighs_edges())
    return;
  CATCH_INFO("kind " << int(kind) << ", width " << widths[0] << ", weighted "
                     << weighted << ", seed 3");
  std::mt19937_64 random{3};
  toy_options options{.nodes = {300}, .widths = widths, .edges = {{0, 0}}};
  if (traits_of(kind).typed)
    options = {.nodes = {300, 200},
               .widths = {widths[0], 9},
               .edges = {{1, 0}, {0, 1}, {0, 0}}};
  auto graph = random_graph(random, options);
  std::mt19937_64 more{4};
  if (weighted)
    add_weights(graph, more);
  auto def = small_definition(kind, 2);
  def.model.hidden = 32;
  def.model.dropout = 0.4;
  def.model.layer_norm = norm;
  def.model.residual = skips;
  def.model.jumping = skips;
  if (norm)
    add_attention_options(def);
  // Rows of a table that is nearly zero are nearly equal, and what one of them
  // gains in attention the others lose: the exact gradient of a destination's
  // score is then zero or close to it, and only rounding is left to compare.
  if (skips || kind == model_kind::rgat || kind == model_kind::gatv2
      || kind == model_kind::hgt || (kind == model_kind::gat && weighted))
    def.model.embedding_scale = 1;
  const auto layout = value_of(make_layout(def, graph.info));
  const auto parameters = initial_parameters(layout, 5);
  std::vector<node_id> seeds;
  for (node_id i = 0; i < 50; ++i)
    seeds.push_back(i * 3);
  const auto batch = make_batch(graph, def, seeds, 3);

  thread_team team{2};
  fused_model fused{layout,
                    parameters,
                    batch,
                    {.team = &team,
                     .training = true,
                     .key = 77,
                     .pool = buffer_pool::make(1 << 24)}};
  torch_model plain{
    layout, parameters, batch, {.device = "cpu", .training = true, .key = 77}};
  const auto ours = fused.forward();
  const auto theirs = plain.forward();
  CATCH_REQUIRE(ours.rows == theirs.rows);
  CATCH_REQUIRE(ours.columns == theirs.columns);
  CATCH_CHECK(difference(ours.data, theirs.data, ours.size()) < 1e-5);
  CATCH_CHECK(difference(fused.last_input().data, plain.last_input().data,
                         plain.last_input().size())
              < 1e-5);

  std::vector<float> upstream(ours.size());
  for (auto& x : upstream)
    x = static_cast<float>(random() % 1000) / 500 - 1;
  const const_matrix gradient{upstream.data(), ours.rows, ours.columns};
  gradient_set got;
  gradient_set want;
  fused.backward(gradient, got);
  std::vector<std::int64_t> offsets;
  std::vector<std::vector<float>> final_parts;
  plain.backward(gradient, want, [&](std::int64_t offset) {
    offsets.push_back(offset);
    final_parts.emplace_back(want.dense.begin() + offset, want.dense.end());
  });
  CATCH_CHECK(offsets
              == std::vector{layout.layers[1].offset, layout.layers[0].offset});
  for (std::size_t i = 0; i < offsets.size(); ++i)
    CATCH_CHECK(std::equal(final_parts[i].begin(), final_parts[i].end(),
                           want.dense.begin() + offsets[i]));
  double largest = 0;
  for (const auto value : want.dense)
    largest = std::max(largest, std::abs(double(value)));
  for (const auto& info : layout.parameters) {
    CATCH_INFO(info.name);
    // A gate and priors are each one number for all rows, whose gradients add
    // up to nearly nothing now and then: these are no measure of rounding.
    const auto sums_up = info.name.ends_with("skip.gate")
                         || info.name.ends_with("attention.prior");
    CATCH_CHECK(difference(got.dense.data() + info.offset,
                           want.dense.data() + info.offset, info.size,
                           sums_up ? largest : 1e-6)
                < 2e-5);
  }
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    CATCH_REQUIRE(got.tables[t].rows.size() == want.tables[t].rows.size());
    CATCH_CHECK(std::equal(got.tables[t].rows.begin(), got.tables[t].rows.end(),
                           want.tables[t].rows.begin()));
    CATCH_CHECK(difference(got.tables[t].values, want.tables[t].values,
                           want.tables[t].values.size())
                < 2e-5);
  }
}

CATCH_TEST_CASE("libtorch's maxima lose no value that is no number",
                "[compute]") {
  // The same in another place of its row: first, in the middle, and last; and
  // a row without it, and one without edges.
  const auto nan = std::nanf("");
  const std::vector<float> x{1, nan, 2};
  const std::vector<std::int64_t> from{1, 0, 0, 1, 2, 2, 1, 0, 2};
  const std::vector<std::int64_t> to{0, 0, 1, 1, 1, 2, 2, 3, 3};
  const auto h = tensor_on(at::kCPU, {x.data(), 3, 1});
  const auto place = [](const std::vector<std::int64_t>& nodes) {
    auto out = at::empty({static_cast<std::int64_t>(nodes.size())}, at::kLong);
    std::copy(nodes.begin(), nodes.end(), out.data_ptr<std::int64_t>());
    return out;
  };
  const auto got = largest_messages(h, {place(from), place(to), 5});
  CATCH_REQUIRE(got.numel() == 5);
  const auto* values = got.data_ptr<float>();
  for (int row = 0; row < 3; ++row)
    CATCH_CHECK(std::isnan(values[row]));
  CATCH_CHECK(values[3] == 2);
  CATCH_CHECK(values[4] == 0);
}

CATCH_TEST_CASE("evaluation computes what training computes", "[compute]") {
  const auto kind = GENERATE(from_range(all_kinds()));
  const auto hops = GENERATE(1, 2, 3);
  const auto norm = GENERATE(false, true);
  // With all nodes as seeds every layer has as many rows as the one before it,
  // so memory that is given back too early is taken again at once.
  const auto count = GENERATE(node_id{300}, node_id{20});
  CATCH_INFO("kind " << int(kind) << ", hops " << hops << ", norm " << norm
                     << ", seeds " << count << ", seed 8");
  std::mt19937_64 random{8};
  const auto graph = random_graph(
    random, {.nodes = {300}, .widths = {32}, .edges = {{0, 0}}, .classes = 16});
  auto def = small_definition(kind, hops);
  def.model.hidden = 32;
  def.model.layer_norm = norm;
  const auto layout = value_of(make_layout(def, graph.info));
  const auto parameters = initial_parameters(layout, 5);
  const auto batch = make_batch(graph, def, first_nodes(count));
  thread_team team{2};
  const auto pool = buffer_pool::make(1 << 24);
  fused_model training{
    layout, parameters, batch, {.team = &team, .training = true, .pool = pool}};
  const auto want = training.forward();
  fused_model evaluation{
    layout, parameters, batch, {.team = &team, .pool = pool}};
  const auto got = evaluation.forward();
  CATCH_REQUIRE(got.size() == want.size());
  CATCH_CHECK(difference(got.data, want.data, want.size()) < 1e-5);
  const auto inputs = training.last_input();
  CATCH_CHECK(
    difference(evaluation.last_input().data, inputs.data, inputs.size())
    < 1e-5);
}

CATCH_TEST_CASE("devices that are not there are refused", "[compute]") {
  value_of(check_device("cpu"));
  for (const auto* name : {"", "gpu", "cuda:99", "cpu:x", "tpu"}) {
    const auto failure = error_of(check_device(name));
    CATCH_CHECK(failure.code == ec::invalid_argument);
    CATCH_CHECK(failure.message.find("trainer.device") != std::string::npos);
  }
}

CATCH_TEST_CASE("trainers take CUDA devices in turn", "[compute]") {
  CATCH_CHECK(device_of("cuda", 0, 2) == "cuda:0");
  CATCH_CHECK(device_of("cuda", 3, 2) == "cuda:1");
  CATCH_CHECK(device_of("cuda", 3, 0) == "cuda");
  CATCH_CHECK(device_of("cuda:1", 0, 2) == "cuda:1");
  CATCH_CHECK(device_of("cpu", 1, 2) == "cpu");
}

} // namespace graphmill::test
