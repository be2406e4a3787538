#include "pipelines/results/run_folder.hpp"
#include "pipelines/results/safetensors.hpp"
#include "tests/fuzz/registry.hpp"

#include <cstring>
#include <string>
#include <vector>

// What a run has left: weights and run.json.

namespace graphmill::fuzz {

namespace {

namespace fs = std::filesystem;

/// As bytes: not a number is not equal to itself.
bool same_values(const named_tensor& a, const named_tensor& b) {
  return a.values.size() == b.values.size()
         && (a.values.empty()
             || std::memcmp(a.values.data(), b.values.data(),
                            a.values.size() * sizeof(float))
                  == 0);
}

void read_weights(std::string_view input) {
  const auto path = scratch() / "weights.safetensors";
  put_file(path, input);
  const auto got = read_safetensors(path);
  if (!got)
    return;
  std::size_t bytes = 0;
  for (const auto& tensor : got.value().tensors)
    bytes += tensor.values.size() * sizeof(float);
  require(bytes <= input.size(), "tensors of more bytes than their file has");
  (void)weights_digest(got.value().tensors);
  const auto copy = scratch() / "copy.safetensors";
  const auto written = write_safetensors(copy, got.value());
  if (!written)
    broken("weights that were read cannot be written: "
           + written.error().message);
  const auto again = read_safetensors(copy);
  require(again.has_value(), "weights that were written do not read");
  const auto& a = got.value().tensors;
  const auto& b = again.value().tensors;
  require(a.size() == b.size()
            && again.value().metadata == got.value().metadata,
          "weights that were written read as others");
  for (std::size_t i = 0; i < a.size(); ++i)
    require(a[i].name == b[i].name && a[i].shape == b[i].shape
              && same_values(a[i], b[i]),
            "weights that were written read as others");
}

std::vector<std::string> weights() {
  std::vector<std::string> out;
  for (const tensor_file& content :
       {tensor_file{{{"layer.0.weight", {2, 3}, {1, 2, 3, 4, 5, 6}},
                     {"layer.0.bias", {2}, {0.5f, -1}}},
                    {{"format", "pt"}, {"digest", "abc"}}},
        tensor_file{{{"empty", {0, 4}, {}}, {"one", {}, {7}}}, {}},
        tensor_file{}}) {
    const auto path = scratch() / "seed.safetensors";
    require(write_safetensors(path, content).has_value(), "no seed of weights");
    out.push_back(get_file(path));
  }
  return out;
}

void read_run(std::string_view input) {
  const auto folder = scratch() / "run";
  fs::create_directories(folder);
  put_file(folder / "run.json", input);
  put_file(folder / "weights.safetensors", "");
  const auto run = run_folder::open(folder);
  if (!run)
    require(!run.error().message.empty(), "an error without a sentence");
}

std::vector<std::string> runs() {
  return {R"({"data": "/srv/wordnet", "dataset_digest": "abc",
 "format_version": 1})",
          R"({"data": "d", "format_version": 2})"};
}

} // namespace

const harness safetensors_harness{"safetensors", "weights", read_weights,
                                  weights, 1500};
const harness run_folder_harness{"run_folder", "run.json of a run's folder",
                                 read_run, runs, 3000};

} // namespace graphmill::fuzz
