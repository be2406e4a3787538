#include "pipelines/definition/definition_file.hpp"
#include "pipelines/definition/validation/validation.hpp"
#include "pipelines/definition/yaml/scalar_text.hpp"
#include "tests/fuzz/registry.hpp"

#include <cmath>
#include <string>
#include <vector>

// Definitions as users write them, and the values of `--set`.

namespace graphmill::fuzz {

namespace {

dataset_info some_info() {
  dataset_info out;
  out.name = "d";
  out.node_types = {{.name = "a",
                     .count = 9,
                     .feature_width = 2,
                     .class_count = 2,
                     .split_counts = {3, 3, 3}}};
  out.edge_types = {{.source = 0,
                     .name = "b",
                     .destination = 0,
                     .count = 9,
                     .max_in_degree = 4}};
  return out;
}

void check(const definition_source& source) {
  for (const auto& problem : source.problems) {
    const auto text = to_string(problem);
    require(!text.empty() && text.size() < 4000,
            "a problem of no or any length");
    for (const char c : problem.text)
      require(static_cast<unsigned char>(c) >= 0x20,
              "a problem with a control character");
  }
  if (!source.problems.empty())
    return;
  // What was understood is written such that it is understood the same.
  const auto again = parse_record(definition_yaml(source.value));
  if (!again.problems.empty())
    broken("a definition that was written down has a problem: "
           + to_string(again.problems.front()));
  require(again.value == source.value,
          "a definition that was written down reads as another one");
  (void)problems_with(source, some_info());
}

void read_definition(std::string_view input) {
  check(parse_definition(input, "fuzz.yaml"));
}

std::vector<std::string> definitions() {
  return {
    "dataset: d\n",
    "dataset: d\nname: n\nseed: 18446744073709551615\n"
    "sampler: {fanouts: {default: [10, -1], a__b__c: [1, 0]}, replace: true}\n"
    "fetch: {precision: float16, cache: 64 MiB, cache_order: degree}\n"
    "model: {kind: gat, hidden: 8, heads: 2, dropout: 0.5, layer_norm: true}\n"
    "optimizer: {kind: sgd, learning_rate: 5e-4, momentum: 0.9, schedule: "
    "step}\n"
    "train: {batch_size: 1024, epochs: 3, seed_order: global, patience: 5}\n"
    "evaluate: {neighbours: all}\ntrainer: {replicas: 2, device: cuda:0}\n"
    "budget: {bytes: 1.5 GiB, batches: 4}\nfaults: {crash_every: 7}\n"
    "placement: {trainers: [one, two], samplers: [three]}\n",
    "dataset: d\ntrainer: {replicas: {min: 1, max: 4}, sizes: [0/0:2, "
    "3/17:1]}\n",
    "# A comment\ndataset: \"d\\u20ac\"\nsampler:\n  fanouts:\n    - 5\n    - "
    "5\n"
    "name: |\n  lines\n  of text\n",
    "dataset: d\ndataset: e\nmodle: {}\ntrain: {epochs: -1}\n",
  };
}

void read_setting(std::string_view input) {
  const auto parts = files_in(input, 2);
  const std::vector<std::string> overrides{std::string{parts[0]},
                                           std::string{parts[1]}};
  check(parse_definition("dataset: d\n", "fuzz.yaml", overrides));
  const auto& text = overrides.front();
  if (const auto bytes = parse_bytes(text))
    require(parse_bytes(bytes_text(*bytes)) == bytes,
            "a number of bytes that was written down reads as another one");
  if (const auto number = parse_number(text))
    require(std::isfinite(*number), "a number that is not finite");
  (void)parse_whole(text);
  (void)parse_bool(text);
}

std::vector<std::string> settings() {
  return {
    joined({"train.epochs=3", "sampler.fanouts=[5, 5]"}),
    joined({"sampler.fanouts.a__b__c=[1, 0]", "name=x y"}),
    joined({"placement.trainers=[a, b]", "seed=0"}),
    joined({"trainer.replicas={min: 2, max: 3}", "trainer.sizes=[0/0:3]"}),
    "1.5 GiB",
    "17592186044415.9 MiB",
    "512 kB",
    "5e-4",
    "-3",
    "true",
  };
}

} // namespace

const harness definition_harness{"definition", "definitions in YAML",
                                 read_definition, definitions, 3000};
const harness settings_harness{"settings", "values of --set, numbers and sizes",
                               read_setting, settings, 3000};

} // namespace graphmill::fuzz
