#pragma once

#include "messages/base/error.hpp"
#include "messages/base/progress.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// One measured figure beside the limit measured in the same run.
struct bench_figure {
  std::string name;
  double value = 0;
  std::string unit;
  double limit = 0; ///< In the same unit; 0 = there is none.
  double ratio = 0; ///< value / limit.
};

struct bench_context {
  std::filesystem::path cache; ///< Where generated graphs are kept.
  std::uint64_t seed = 1;
  int scale = 20;                ///< log2 of the nodes of the R-MAT graph.
  progress_callback on_progress; ///< Of generating it.
};

/// A benchmark: a name, a line of help, and what to run.
struct benchmark {
  std::string_view name;
  std::string_view help;
  std::function<result<std::vector<bench_figure>>(const bench_context&)> run;
};

result<std::vector<bench_figure>> bench_sampling(const bench_context&);
result<std::vector<bench_figure>> bench_gather(const bench_context&);
result<std::vector<bench_figure>> bench_assembly(const bench_context&);
result<std::vector<bench_figure>> bench_step(const bench_context&);
result<std::vector<bench_figure>> bench_spans(const bench_context&);
result<std::vector<bench_figure>> bench_status(const bench_context&);
result<std::vector<bench_figure>> bench_epoch(const bench_context&);

} // namespace graphmill
