#include "actors/commands/text/evaluation_text.hpp"
#include "actors/commands/text/summary_text.hpp"
#include "tests/support/catch.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace graphmill::test {

using nlohmann::json;

CATCH_TEST_CASE("what was measured is said in few words",
                "[commands][evaluation]") {
  CATCH_CHECK(measured_text({{"seeds", 2}, {"loss", 0.5}, {"accuracy", 0.75}})
              == "accuracy 0.7500, loss 0.5000 over 2 seeds");
  CATCH_CHECK(measured_text({{"seeds", 1}, {"loss", nullptr}})
              == "loss nan over 1 seed");
  CATCH_CHECK(metrics_text({{"seeds", 1}, {"loss", 0.5}}).empty());
  CATCH_CHECK(metrics_text({{"f1_macro", 0.5},
                            {"f1_micro", 1},
                            {"roc_auc", nullptr},
                            {"average_precision", 0.25}})
              == "F1 0.5000 macro, 1.0000 micro; ROC-AUC -, average precision "
                 "0.2500, means over the classes");
  CATCH_CHECK(metrics_text({{"roc_auc", 0.5},
                            {"average_precision", 0.25},
                            {"classes", json::array({1, 2})}})
              == "ROC-AUC 0.5000, average precision 0.2500, means over both "
                 "classes");
  CATCH_CHECK(threshold_text({{"threshold", 0.25},
                              {"threshold_of", "f1:fraud"},
                              {"threshold_precision", 0.5},
                              {"threshold_recall", 1.0},
                              {"threshold_f1", 2.0 / 3},
                              {"threshold_false_positive_rate", nullptr}})
              == "fraud from probability 0.2500 on: precision 0.5000, recall "
                 "1.0000, F1 0.6667, false-positive rate -");
  CATCH_CHECK(threshold_text(json::array()).empty());
  CATCH_CHECK(
    metrics_text({{"mse", 4.0}, {"rmse", 2.0}, {"mae", 1.5}, {"r2", nullptr}})
    == "MSE 4.0000, RMSE 2.0000, MAE 1.5000, R2 -");
  CATCH_CHECK(metrics_text({{"mrr", 0.5},
                            {"hits@1", 0.25},
                            {"hits@3", 0.5},
                            {"hits@10", 1},
                            {"mean_rank", 3.25},
                            {"tied", 0.125},
                            {"roc_auc", 0.75},
                            {"average_precision", 0.5}})
              == "MRR 0.5000, hits@1 0.2500, hits@3 0.5000, hits@10 1.0000, "
                 "mean rank 3.25, 12.5 % tied; ROC-AUC 0.7500, average "
                 "precision 0.5000");
  CATCH_CHECK(ranks_text({{"mrr", 0.5},
                          {"hits@1", 0.25},
                          {"hits@3", 0.5},
                          {"hits@10", 1},
                          {"recall@20", 0.75},
                          {"ndcg@20", 0.625},
                          {"mean_rank", 3},
                          {"tied", 0}})
              == "MRR 0.5000, hits@1 0.2500, hits@3 0.5000, hits@10 1.0000, "
                 "recall@20 0.7500, NDCG@20 0.6250, mean rank 3, 0.0 % tied");
  // Anybody may have written it.
  CATCH_CHECK(measured_text(json::array()) == "loss nan over 0 seeds");
  CATCH_CHECK(measured_text({{"seeds", -1}, {"loss", "x"}, {"accuracy", "x"}})
              == "loss nan over 0 seeds");
  CATCH_CHECK(metrics_text(json::array()).empty());
}

CATCH_TEST_CASE("a summary says what was measured alone",
                "[commands][evaluation]") {
  const json told{{"split", "validation"}, {"seeds", 2},
                  {"loss", 0.5},           {"accuracy", 0.75},
                  {"f1_macro", 0.5},       {"f1_micro", 0.75}};
  CATCH_CHECK_THAT(
    result_text({{"evaluation", told}}),
    contains("evaluated        the validation split: accuracy 0.7500, loss "
             "0.5000 over 2 seeds\n"
             "metrics          F1 0.5000 macro, 0.7500 micro\n"));
  CATCH_CHECK(result_text(json::object()).find("evaluated")
              == std::string::npos);
}

CATCH_TEST_CASE("a summary of links has no accuracy, but ranks",
                "[commands][evaluation]") {
  const json ranks{{"mrr", 0.5},     {"hits@1", 0.25},  {"hits@3", 0.5},
                   {"hits@10", 1},   {"mean_rank", 3},  {"tied", 0},
                   {"hits@5", 0.75}, {"roc_auc", 0.75}, {"seeds", 4}};
  const auto said = result_text({{"validation_accuracy", nullptr},
                                 {"test_accuracy", nullptr},
                                 {"best_epoch", 7},
                                 {"metric", "hits@5"},
                                 {"validation", ranks},
                                 {"test", ranks}});
  const std::string told = "MRR 0.5000, hits@1 0.2500, hits@3 0.5000, hits@10 "
                           "1.0000, mean rank 3, 0.0 % tied";
  CATCH_CHECK_THAT(said, contains("validation       " + told
                                  + " after epoch 7, the best by hits@5\n"
                                    "test             "
                                  + told + "\ntest hits@5      0.7500\n"));
  CATCH_CHECK(said.find("accuracy") == std::string::npos);
  CATCH_CHECK(said.find("means over") == std::string::npos);
}

} // namespace graphmill::test
