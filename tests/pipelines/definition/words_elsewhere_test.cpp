#include "pipelines/definition/definition_help.hpp"
#include "pipelines/definition/words_elsewhere.hpp"
#include "tests/pipelines/definition/parsed_definition.hpp"

#include <algorithm>
#include <fmt/format.h>

// What other libraries call a field, or have and we do not.

namespace graphmill::test {

namespace {

bool is_field(std::string_view path) {
  return std::ranges::any_of(describe_definition(), [path](const auto& field) {
    return field.path == path;
  });
}

/// The texts between back quotes that look like the path of a field.
texts paths_in(std::string_view sentence) {
  texts out;
  for (auto at = sentence.find('`'); at != sentence.npos;
       at = sentence.find('`', at + 1)) {
    const auto end = sentence.find('`', at + 1);
    auto word = std::string{sentence.substr(at + 1, end - at - 1)};
    word = word.substr(0, word.find(':'));
    if (word.find('.') != word.npos && word.find(' ') == word.npos)
      out.push_back(word);
    at = end;
  }
  return out;
}

} // namespace

CATCH_TEST_CASE("mixed precision does not exist", "[definition]") {
  for (const auto* section : {"trainer", "train", "optimizer", "model"})
    for (const auto* word : {"precision", "mixed_precision", "amp", "bf16"}) {
      const auto found = problems_in(
        fmt::format("{{dataset: d, {}: {{{}: 16}}}}", section, word));
      CATCH_REQUIRE(found.size() == 1);
      CATCH_CHECK(found.front().find("mixed precision does not exist")
                  != std::string::npos);
      CATCH_CHECK(found.front().find("belongs to") == std::string::npos);
    }
  CATCH_CHECK(problems_in("{dataset: d, fetch: {precision: fp16}}")
                .front()
                .find("that is `float16` here")
              != std::string::npos);
}

CATCH_TEST_CASE("words of other libraries name fields that there are",
                "[definition]") {
  for (const auto* word : {"lr",
                           "LR_Scheduler",
                           "num-workers",
                           "gpus",
                           "early_stopping",
                           "bs",
                           "monitor",
                           "save_every",
                           "pos_weight",
                           "gamma",
                           "random_state",
                           "emb_dim",
                           "prefetch",
                           "eval_batch_size",
                           "criterion",
                           "warmup",
                           "num_heads",
                           "num_neighbors",
                           "hidden_dim",
                           "clip",
                           "wd",
                           "num_threads",
                           "eval_every",
                           "save_top_k",
                           "num_negs",
                           "neg_sampling",
                           "neg_sampling_ratio",
                           "num_neg_samples",
                           "negative_sampler",
                           "corruption_scheme",
                           "score_function",
                           "lp_decoder_type",
                           "lp_loss_func",
                           "num_negative_edges_eval",
                           "adversarial_temperature",
                           "target_etype"}) {
    CATCH_INFO(word);
    CATCH_CHECK(is_field(field_elsewhere(word)));
    CATCH_CHECK(absent_elsewhere(word).empty());
  }
  for (const auto* word :
       {"num_layers", "fp16", "gradient_accumulation_steps", "activation",
        "batch_norm", "aggr", "test_size", "undirected", "num_classes",
        "in_channels", "wandb", "tags"}) {
    CATCH_INFO(word);
    CATCH_CHECK(!absent_elsewhere(word).empty());
    CATCH_CHECK(field_elsewhere(word).empty());
    for (const auto& path : paths_in(absent_elsewhere(word)))
      CATCH_CHECK(is_field(path));
  }
  CATCH_CHECK(field_elsewhere("nothing_like_it").empty());
  CATCH_CHECK(absent_elsewhere("").empty());
}

CATCH_TEST_CASE("values that other libraries call otherwise", "[definition]") {
  for (const auto& [text, here] :
       {std::pair{"decoder: {kind: dot_product}", "dot"},
        std::pair{"model: {kind: LGConv}", "lightgcn"},
        std::pair{"negatives: {corrupt: tail}", "destination"},
        std::pair{"train: {link_loss: cross_entropy}", "softmax"},
        std::pair{"evaluate: {metric: hits10}", "hits"}}) {
    CATCH_INFO(text);
    CATCH_CHECK(problems_in(fmt::format("{{dataset: d, task: t, {}}}", text))
                  .front()
                  .find(fmt::format("that is `{}` here", here))
                != std::string::npos);
  }
  CATCH_CHECK(
    problems_in("{dataset: d, evaluate: {metric: auc}}").front().find("roc_auc")
    != std::string::npos);
  CATCH_CHECK(problems_in("{dataset: d, model: {kind: GraphSAGE}}")
                .front()
                .find("that is `sage` here")
              != std::string::npos);
}

} // namespace graphmill::test
