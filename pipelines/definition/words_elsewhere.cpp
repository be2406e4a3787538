#include "pipelines/definition/words_elsewhere.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>

namespace graphmill {

namespace {

/// A word in lower case without '_' and '-', and what stands for it here.
struct word_elsewhere {
  std::string_view word;
  std::string_view here;
};

constexpr auto fields_elsewhere = std::to_array<word_elsewhere>({
  {"lr", "optimizer.learning_rate"},
  {"l2", "optimizer.weight_decay"},
  {"wd", "optimizer.weight_decay"},
  {"clip", "optimizer.clip_norm"},
  {"gradclip", "optimizer.clip_norm"},
  {"gradientclipping", "optimizer.clip_norm"},
  {"maxgradnorm", "optimizer.clip_norm"},
  {"scheduler", "optimizer.schedule"},
  {"lrscheduler", "optimizer.schedule"},
  {"lrschedule", "optimizer.schedule"},
  {"warmup", "optimizer.warmup_epochs"},
  {"stepsize", "optimizer.step_epochs"},
  {"gamma", "optimizer.step_factor"},
  {"hiddendim", "model.hidden"},
  {"hiddensize", "model.hidden"},
  {"hiddenunits", "model.hidden"},
  {"hiddenchannels", "model.hidden"},
  {"numhidden", "model.hidden"},
  {"nhidden", "model.hidden"},
  {"numheads", "model.heads"},
  {"nheads", "model.heads"},
  {"embdim", "model.embedding"},
  {"embeddingdim", "model.embedding"},
  {"embeddingsize", "model.embedding"},
  {"numneighbors", "sampler.fanouts"},
  {"numneighbours", "sampler.fanouts"},
  {"subgraphtype", "sampler.subgraph"},
  {"numwalks", "sampler.walks"},
  {"numrandomwalks", "sampler.walks"},
  {"randomwalklength", "sampler.walk_length"},
  {"restartprob", "sampler.restart"},
  {"terminationprob", "sampler.restart"},
  {"workers", "sampler.replicas"},
  {"nworkers", "sampler.replicas"},
  {"numworkers", "sampler.replicas"},
  {"gpu", "trainer.device"},
  {"cuda", "trainer.device"},
  {"usecuda", "trainer.device"},
  {"accelerator", "trainer.device"},
  {"gpus", "trainer.replicas"},
  {"ngpus", "trainer.replicas"},
  {"numgpus", "trainer.replicas"},
  {"devices", "trainer.replicas"},
  {"numthreads", "trainer.threads"},
  {"earlystop", "train.patience"},
  {"earlystopping", "train.patience"},
  {"maxepochs", "train.epochs"},
  {"numepochs", "train.epochs"},
  {"nepochs", "train.epochs"},
  {"bs", "train.batch_size"},
  {"posweight", "train.class_weights"},
  {"criterion", "train.loss"},
  {"lossfunction", "train.loss"},
  {"monitor", "evaluate.metric"},
  {"evalmetric", "evaluate.metric"},
  {"evalevery", "evaluate.every"},
  {"valinterval", "evaluate.every"},
  {"evalbatchsize", "evaluate.batch_size"},
  {"saveevery", "checkpoint.every_steps"},
  {"checkpointevery", "checkpoint.every_steps"},
  {"savetopk", "checkpoint.keep"},
  {"prefetch", "budget.batches"},
  {"prefetchfactor", "budget.batches"},
  {"numneg", "negatives.count"},
  {"numnegs", "negatives.count"},
  {"numnegatives", "negatives.count"},
  {"numnegedges", "negatives.count"},
  {"numnegativeedges", "negatives.count"},
  {"numnegsamples", "negatives.count"},
  {"negsampleratio", "negatives.count"},
  {"negativesampleratio", "negatives.count"},
  {"negsamplingratio", "negatives.count"},
  {"negativesamplingratio", "negatives.count"},
  {"negsampler", "negatives.kind"},
  {"negativesampler", "negatives.kind"},
  {"negsampling", "negatives.kind"},
  {"negativesampling", "negatives.kind"},
  {"trainnegativesampler", "negatives.kind"},
  {"corruptionscheme", "negatives.corrupt"},
  {"numnegedgeseval", "evaluate.negatives"},
  {"numnegativeedgeseval", "evaluate.negatives"},
  {"evalnegatives", "evaluate.negatives"},
  {"scorefunction", "decoder.kind"},
  {"scoringfunction", "decoder.kind"},
  {"scorer", "decoder.kind"},
  {"decodertype", "decoder.kind"},
  {"lpdecodertype", "decoder.kind"},
  {"predictor", "decoder.kind"},
  {"lplossfunc", "train.link_loss"},
  {"linkpredictionloss", "train.link_loss"},
  {"adversarialtemperature", "train.temperature"},
  {"adversarialtemp", "train.temperature"},
  {"targetetype", "task"},
  {"randomseed", "seed"},
  {"randomstate", "seed"},
});

constexpr std::string_view about_layers =
  "a model has as many layers as `sampler.fanouts` has numbers";
constexpr std::string_view about_precision =
  "mixed precision does not exist: models compute in float32. "
  "`fetch.precision: float16` only halves what features take on their way "
  "between daemons";
constexpr std::string_view about_accumulation =
  "gradients are not summed over several batches: a step has "
  "`train.batch_size` seeds, which `trainer.replicas` share";
constexpr std::string_view about_activation =
  "the activation cannot be chosen: it belongs to `model.kind`";
constexpr std::string_view about_norms =
  "`model.layer_norm` is the only norm of layers; features are scaled by "
  "`graphmill import --normalise`";
constexpr std::string_view about_aggregation =
  "`model.kind` says how neighbours are summed up: sage takes the mean, and "
  "there are sage_sum, sage_max and sage_pool";
constexpr std::string_view about_splits =
  "splits belong to the dataset: `graphmill import --split` draws them";
constexpr std::string_view about_edges =
  "edges belong to the dataset: `graphmill import` has --undirected and "
  "--reverse";
constexpr std::string_view about_outputs =
  "the labels of the dataset say how many outputs there are";
constexpr std::string_view about_inputs =
  "the features of the dataset say how wide the input is";
constexpr std::string_view about_trackers =
  "examples/track_run.py sends the metrics of a run to MLflow or Weights & "
  "Biases, and --tensorboard writes curves";
constexpr std::string_view about_tags =
  "--tag WORD adds a word to the name of a run";

constexpr auto absent_fields = std::to_array<word_elsewhere>({
  {"layers", about_layers},
  {"numlayers", about_layers},
  {"nlayers", about_layers},
  {"nlayer", about_layers},
  {"numberoflayers", about_layers},
  {"hops", about_layers},
  {"numhops", about_layers},
  {"precision", about_precision},
  {"mixedprecision", about_precision},
  {"amp", about_precision},
  {"autocast", about_precision},
  {"half", about_precision},
  {"fp16", about_precision},
  {"float16", about_precision},
  {"bf16", about_precision},
  {"bfloat16", about_precision},
  {"tf32", about_precision},
  {"dtype", about_precision},
  {"accumulate", about_accumulation},
  {"accumulationsteps", about_accumulation},
  {"accumulategradbatches", about_accumulation},
  {"gradaccumulation", about_accumulation},
  {"gradientaccumulation", about_accumulation},
  {"gradientaccumulationsteps", about_accumulation},
  {"act", about_activation},
  {"activation", about_activation},
  {"nonlinearity", about_activation},
  {"norm", about_norms},
  {"batchnorm", about_norms},
  {"normalization", about_norms},
  {"normalise", about_norms},
  {"normalize", about_norms},
  {"aggr", about_aggregation},
  {"aggregation", about_aggregation},
  {"aggregator", about_aggregation},
  {"aggregatortype", about_aggregation},
  {"split", about_splits},
  {"splits", about_splits},
  {"testsize", about_splits},
  {"valsize", about_splits},
  {"trainratio", about_splits},
  {"valratio", about_splits},
  {"testratio", about_splits},
  {"undirected", about_edges},
  {"toundirected", about_edges},
  {"bidirected", about_edges},
  {"numclasses", about_outputs},
  {"nclasses", about_outputs},
  {"outchannels", about_outputs},
  {"outdim", about_outputs},
  {"outputdim", about_outputs},
  {"inchannels", about_inputs},
  {"indim", about_inputs},
  {"inputdim", about_inputs},
  {"infeats", about_inputs},
  {"logger", about_trackers},
  {"loggers", about_trackers},
  {"mlflow", about_trackers},
  {"wandb", about_trackers},
  {"tag", about_tags},
  {"tags", about_tags},
});

constexpr auto values_elsewhere = std::to_array<word_elsewhere>({
  {"graphsage", "sage"},
  {"sageconv", "sage"},
  {"sagemean", "sage"},
  {"gcnconv", "gcn"},
  {"graphconv", "gcn"},
  {"gatconv", "gat"},
  {"gatv2conv", "gatv2"},
  {"ginconv", "gin"},
  {"rgcnconv", "rgcn"},
  {"relgraphconv", "rgcn"},
  {"rgatconv", "rgat"},
  {"heterosage", "hetero_sage"},
  {"lgconv", "lightgcn"},
  {"hgtconv", "hgt"},
  {"sign", "mlp"},
  {"fp16", "float16"},
  {"half", "float16"},
  {"fp32", "float32"},
  {"auc", "roc_auc"},
  {"auroc", "roc_auc"},
  {"aucroc", "roc_auc"},
  {"ap", "average_precision"},
  {"auprc", "average_precision"},
  {"aucpr", "average_precision"},
  {"prauc", "average_precision"},
  {"macrof1", "f1_macro"},
  {"microf1", "f1_micro"},
  {"acc", "accuracy"},
  {"cosineannealing", "cosine"},
  {"steplr", "step"},
  {"none", "constant"},
  {"l1", "mae"},
  {"l2", "mse"},
  {"smoothl1", "huber"},
  {"hit", "hits"},
  {"hitsat10", "hits"},
  {"hits10", "hits"},
  {"mr", "mean_rank"},
  {"meanreciprocalrank", "mrr"},
  {"dotproduct", "dot"},
  {"innerproduct", "dot"},
  {"cosinesimilarity", "cosine"},
  {"crossentropy", "softmax"},
  {"bcewithlogits", "bce"},
  {"binarycrossentropy", "bce"},
  {"nssa", "self_adversarial"},
  {"selfadversarialnegativesampling", "self_adversarial"},
  {"marginranking", "margin"},
  {"marginrankingloss", "margin"},
  {"tail", "destination"},
  {"head", "source"},
});

std::string bare(std::string_view word) {
  std::string out;
  for (const char c : word)
    if (c != '_' && c != '-')
      out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

std::string_view word_in(std::span<const word_elsewhere> words,
                         std::string_view word) {
  const auto at = std::ranges::find(words, bare(word), &word_elsewhere::word);
  return at == words.end() ? std::string_view{} : at->here;
}

} // namespace

std::string_view field_elsewhere(std::string_view word) {
  return word_in(fields_elsewhere, word);
}

std::string_view absent_elsewhere(std::string_view word) {
  return word_in(absent_fields, word);
}

std::string_view value_elsewhere(std::string_view word) {
  return word_in(values_elsewhere, word);
}

} // namespace graphmill
