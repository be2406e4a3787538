#include "pipelines/kernels/parameters.hpp"

#include "messages/base/random.hpp"

#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

namespace graphmill {

namespace {

/// Middle words of table counters, apart from those of dense parameters.
constexpr std::uint32_t first_table = 0x80000000u;

float uniform(std::uint32_t word, double limit) {
  const auto unit = static_cast<double>(word >> 8) * 0x1p-24;
  return static_cast<float>((2 * unit - 1) * limit);
}

void start_glorot(const parameter_info& info, std::uint32_t number,
                  std::uint64_t key, float* out) {
  for (std::int64_t i = 0; i < info.size; i += 4) {
    const auto words =
      philox4x32(counter_of(static_cast<std::uint64_t>(i / 4), number, 0), key);
    const auto count = std::min<std::int64_t>(4, info.size - i);
    for (std::int64_t k = 0; k < count; ++k)
      out[i + k] = uniform(words[static_cast<std::size_t>(k)], info.limit);
  }
}

/// As TGAT (Xu et al., ICLR'20) begins.
void start_frequencies(std::int64_t count, float* out) {
  for (std::int64_t k = 0; k < count; ++k)
    out[k] = count == 1 ? 0.0f
                        : static_cast<float>(-9 * std::numbers::ln10
                                             * static_cast<double>(k)
                                             / static_cast<double>(count - 1));
}

void start_table(const table_info& info, std::uint32_t number,
                 std::uint64_t key, float* out) {
  const auto limit =
    std::sqrt(3.0 / static_cast<double>(info.width)) * info.scale;
  for (std::int64_t r = 0; r < info.rows; ++r) {
    random_stream words{key, static_cast<std::uint64_t>(r), number};
    for (std::int64_t c = 0; c < info.width; ++c)
      out[r * info.width + c] = uniform(words.next(), limit);
  }
}

/// One tensor of the store, dense or table.
struct tensor_view {
  const std::string& name;
  std::vector<std::int64_t> shape;
  const float* data;
  std::size_t size;
};

template <class F>
void for_each_tensor(const model_layout& layout, const parameter_store& store,
                     const F& f) {
  for (const auto& info : layout.parameters)
    f(tensor_view{info.name, info.shape, store.dense.data() + info.offset,
                  static_cast<std::size_t>(info.size)});
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    const auto& info = layout.tables[t];
    f(tensor_view{info.name,
                  {info.rows, info.width},
                  store.tables[t].data(),
                  static_cast<std::size_t>(info.rows * info.width)});
  }
}

std::string show(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

} // namespace

const_matrix parameter_store::at(const model_layout& layout,
                                 int parameter) const {
  const auto& info = layout.parameters[static_cast<std::size_t>(parameter)];
  const auto columns = info.shape.back();
  return {dense.data() + info.offset, info.size / columns, columns};
}

matrix parameter_store::at(const model_layout& layout, int parameter) {
  const auto& info = layout.parameters[static_cast<std::size_t>(parameter)];
  const auto columns = info.shape.back();
  return {dense.data() + info.offset, info.size / columns, columns};
}

parameter_store copy_of(const parameter_store& from) {
  parameter_store out;
  out.dense.append(from.dense.span());
  for (const auto& table : from.tables)
    out.tables.emplace_back().append(table.span());
  return out;
}

parameter_store initial_parameters(const model_layout& layout,
                                   std::uint64_t run_seed) {
  const auto key = stream_key(run_seed, purpose::initialisation, 0, 0);
  parameter_store out;
  out.dense.resize(static_cast<std::size_t>(layout.dense_size));
  for (std::size_t p = 0; p < layout.parameters.size(); ++p) {
    const auto& info = layout.parameters[p];
    auto* values = out.dense.data() + info.offset;
    if (info.begins == start::glorot)
      start_glorot(info, static_cast<std::uint32_t>(p), key, values);
    else if (info.begins == start::frequencies)
      start_frequencies(info.size, values);
    else
      std::fill(values, values + info.size,
                info.begins == start::ones ? 1.0f : 0.0f);
  }
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    const auto& info = layout.tables[t];
    auto& table = out.tables.emplace_back();
    table.resize(static_cast<std::size_t>(info.rows * info.width));
    start_table(info, first_table + static_cast<std::uint32_t>(t), key,
                table.data());
  }
  return out;
}

void begin_gradients(const model_layout& layout, float statistic,
                     gradient_set& out) {
  out.dense.resize(static_cast<std::size_t>(layout.gradient_size()));
  std::fill(out.dense.begin(), out.dense.end(), 0.0f);
  if (layout.statistics != 0)
    out.dense[static_cast<std::size_t>(layout.dense_size)] = statistic;
}

std::vector<named_tensor> to_tensors(const model_layout& layout,
                                     const parameter_store& from,
                                     std::string_view prefix) {
  std::vector<named_tensor> out;
  for_each_tensor(layout, from, [&out, prefix](const tensor_view& view) {
    out.push_back({std::string{prefix} + view.name,
                   view.shape,
                   {view.data, view.data + view.size}});
  });
  return out;
}

result<void> from_tensors(const model_layout& layout,
                          const std::vector<named_tensor>& tensors,
                          parameter_store& into, std::string_view prefix) {
  std::vector<std::pair<float*, const named_tensor*>> copies;
  error problem;
  for_each_tensor(layout, into, [&](const tensor_view& view) {
    const auto name = std::string{prefix} + view.name;
    const auto found =
      std::find_if(tensors.begin(), tensors.end(),
                   [&name](const named_tensor& t) { return t.name == name; });
    if (found == tensors.end())
      problem =
        fail(ec::invalid_data,
             "the weights hold no tensor {}; they are of another model", name);
    else if (found->shape != view.shape || found->values.size() != view.size)
      problem = fail(ec::invalid_data,
                     "tensor {} of the weights has shape {}, the model needs "
                     "{}; they are of another model or dataset",
                     name, show(found->shape), show(view.shape));
    else
      copies.emplace_back(const_cast<float*>(view.data), &*found);
  });
  if (!problem.message.empty())
    return problem;
  for (const auto& [target, tensor] : copies)
    std::copy(tensor->values.begin(), tensor->values.end(), target);
  return ok();
}

std::string digest_of(const model_layout& layout, const parameter_store& of) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state{
    XXH3_createState(), &XXH3_freeState};
  XXH3_128bits_reset(state.get());
  for_each_tensor(layout, of, [&state](const tensor_view& view) {
    XXH3_128bits_update(state.get(), view.name.c_str(), view.name.size() + 1);
    const std::int64_t rank = static_cast<std::int64_t>(view.shape.size());
    XXH3_128bits_update(state.get(), &rank, sizeof rank);
    XXH3_128bits_update(state.get(), view.shape.data(),
                        view.shape.size() * sizeof(std::int64_t));
    XXH3_128bits_update(state.get(), view.data, view.size * sizeof(float));
  });
  const auto sum = XXH3_128bits_digest(state.get());
  return fmt::format("{:016x}{:016x}", sum.high64, sum.low64);
}

} // namespace graphmill
