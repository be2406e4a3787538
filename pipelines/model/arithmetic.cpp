#include "pipelines/model/arithmetic.hpp"

#include "messages/base/random.hpp"
#include "partition/files/content_hash.hpp"
#include "pipelines/model/passes/gemm.hpp"

#include <fmt/format.h>

#include <dlfcn.h>
#include <gnu/libc-version.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace graphmill {

namespace {

std::vector<float> numbers(std::int64_t count, std::uint64_t stream) {
  random_stream draws{stream, 0};
  std::vector<float> out(static_cast<std::size_t>(count));
  for (auto& value : out)
    value = 2 * draws.uniform() - 1;
  return out;
}

/// All three kinds of products of a model, of a size that fits no block.
void probe_products(std::int64_t rows, std::int64_t inner, std::int64_t columns,
                    content_hash& into) {
  const auto a = numbers(rows * inner, 1);
  const auto b = numbers(inner * columns, 2);
  const auto c = numbers(rows * columns, 3);
  std::vector<float> out(static_cast<std::size_t>(rows * columns));
  std::vector<float> back(static_cast<std::size_t>(inner * columns));
  std::vector<float> left(static_cast<std::size_t>(rows * inner));
  multiply({a.data(), rows, inner}, {b.data(), inner, columns}, 0,
           {out.data(), rows, columns});
  multiply_tn({a.data(), rows, inner}, {c.data(), rows, columns}, 0,
              {back.data(), inner, columns});
  multiply_nt({c.data(), rows, columns}, {b.data(), inner, columns}, 0,
              {left.data(), rows, inner});
  for (const auto* result : {&out, &back, &left})
    into.update(std::as_bytes(std::span{*result}));
}

/// What activations, softmax and loss call.
void probe_functions(content_hash& into) {
  std::vector<double> out;
  for (const auto x : numbers(4096, 4)) {
    out.push_back(std::exp(8 * x));
    out.push_back(std::expm1(4 * x));
    out.push_back(std::exp(8 * double(x)));
    out.push_back(std::log(1.5 + double(x)));
  }
  into.update(std::as_bytes(std::span{out}));
}

std::string text_of(const char* symbol) {
  using getter = char* (*)();
  auto* found = dlsym(RTLD_DEFAULT, symbol);
  return found == nullptr ? std::string{}
                          : std::string{reinterpret_cast<getter>(found)()};
}

std::string names_of_libraries() {
  const auto core = text_of("openblas_get_corename");
  const auto config = text_of("openblas_get_config"); // "OpenBLAS 0.3.21 ..."
  const auto version = config.substr(0, config.find(' ', config.find(' ') + 1));
  const auto others = fmt::format("glibc {}", gnu_get_libc_version());
  return core.empty() ? others
                      : fmt::format("{} for {}, {}", version, core, others);
}

} // namespace

arithmetic arithmetic_here() {
  content_hash products;
  content_hash functions;
  for (const auto& [rows, inner, columns] :
       {std::array<std::int64_t, 3>{1031, 263, 41}, {67, 1301, 259}, {5, 3, 7}})
    probe_products(rows, inner, columns, products);
  probe_functions(functions);
  return {names_of_libraries(),
          fmt::format("{}/{}", products.digest(), functions.digest())};
}

} // namespace graphmill
