@0xd228f22e3300c84d;
# The pipeline definition: what a user writes to train a model.
#
# This file is the one source of the definition's field names, defaults, ranges,
# units and help. A user writes it as YAML, which is read through the reflection
# of this schema: a field `batchSize` is the key `batch_size` there, an enumerant
# `gcn` the word `gcn`. `graphmill help definition` prints what stands here.
# Between daemons the same struct travels as a Cap'n Proto message, and the code
# uses its plain-struct form, messages/definition/definition.hpp.
#
# Rules:
#   - The schema only grows: append fields with larger ordinals; never change a
#     type, an ordinal or the meaning of a value. A default is part of what old
#     definitions mean, so it stays, too. A retired field keeps its slot as
#     `obsoleteN`.
#   - Value 0 of an enumeration is `unset`: a user cannot write it, and a
#     decoder that meets it, or a value that it does not know, refuses.

using Cxx = import "/capnp/c++.capnp";
using ModelKind = import "/messages/definition/model_kind.capnp".ModelKind;
using Optimizer = import "/messages/definition/optimizer.capnp".Optimizer;
using Faults = import "/messages/definition/faults.capnp".Faults;
using Notes = import "/messages/definition/notes.capnp";
using help = Notes.help; using unit = Notes.unit; using required = Notes.required;
using range = Notes.range; using length = Notes.length; using perKey = Notes.perKey; using word = Notes.word;
using least = Notes.least; using detail = Notes.detail;
$Cxx.namespace("graphmill::schema");

struct Definition {
  # Sections follow the pipeline: sampler -> fetch -> trainer, and then what
  # holds for all of it. Everything but `dataset` has a default.

  name @0 :Text
    $help("Name of the run, used for its folder; the file's name if left out")
    $length(max = 100);

  dataset @1 :Text
    $help("Name of the dataset, or its path; --data says where it lies")
    $required $length(min = 1, max = 100);

  seed @2 :UInt64 = 1
    $help("Seed of every random draw; the same seed gives the same weights");

  sampler @3 :Sampler;
  fetch @4 :Fetch;
  model @5 :Model;
  trainer @6 :Trainer;
  optimizer @7 :Optimizer;
  train @8 :Train;
  evaluate @9 :Evaluate;
  budget @10 :Budget;
  faults @11 :Faults;
  placement @12 :Placement;
  checkpoint @13 :Checkpoint;
  recovery @14 :Recovery;

  labels @15 :Text
    $help("Label set of the dataset to learn, with the splits that it has; the labels of the target node type if left out. `graphmill inspect` lists label sets")
    $length(max = 80);
}

struct Sampler {
  # How the neighbourhood of a batch's seeds is drawn. Replicas and threads
  # change how fast that is, never what is drawn.

  fanouts @0 :List(Int32) = [10, 10]
    $help("In-edges to sample per node, one number per hop beginning at the seeds; -1, or the word all, takes all. As many hops as the model has layers; `all` alone takes all in each of the hops that there would be without it, two if nothing else is said. Or a map: one list per edge type, `default` for all others")
    $unit("in-edges per node") $range(min = -1, max = 1000000)
    $word(name = "all", value = -1)
    $length(min = 1, max = 16) $perKey("edgeFanouts");

  edgeFanouts @1 :List(EdgeFanout);
  # The entries of `fanouts` that name an edge type, in any order.

  replace @2 :Bool = false
    $help("Sample with replacement");

  replicas @3 :UInt32 = 1
    $help("Sampler stages at work on different batches")
    $unit("stages") $range(min = 1, max = 64);

  threads @4 :UInt32 = 1
    $help("Threads that sample, per part of the graph")
    $unit("threads") $range(min = 1, max = 64);
}

struct EdgeFanout {
  key @0 :Text;
  # The edge type: source__name__destination, or its name where that is unique.

  values @1 :List(Int32);
  # As `fanouts`: as many as there are hops.
}

struct Fetch {
  # Gathering the features of the nodes that were sampled.

  replicas @0 :UInt32 = 1
    $help("Feature fetch stages at work on different batches")
    $unit("stages") $range(min = 1, max = 64);

  threads @1 :UInt32 = 1
    $help("Threads that gather features, per part of the graph")
    $unit("threads") $range(min = 1, max = 64);

  precision @2 :Precision = float32
    $help("Exactness of features: float16 halves what travels between daemons, and rounds every row, wherever it lies, so that weights do not depend on the placement");

  cache @3 :UInt64 = 0
    $help("Memory for feature rows of other daemons' nodes, kept from the start of a run, on every daemon with trainers, at 2 bytes a value if they travel as float16 and else at 4; 0 keeps none")
    $unit("bytes") $range(max = 1125899906842624);

  cacheOrder @4 :CacheOrder = vip
    $help("Which rows the cache keeps: those that are likeliest to be wanted by the trainers here (vip), or those with most out-edges (degree)");

  verify @5 :Float64 = 0
    $help("Share of the feature rows, labels and original ids fetched from other daemons that is checked: their owner must show the block of the file that they are from, which must be the one that the dataset had when it was partitioned. 0 checks none, 1 all. A value that differs fails the run, with the name of the daemon")
    $range(min = 0, max = 1);
}

enum Precision {
  unset @0;
  float32 @1;
  # As the dataset has them.
  float16 @2;
  # Rounded to the nearest, ties to even. A value beyond the range of float16
  # fails the run.
}

enum CacheOrder {
  unset @0;
  vip @1;
  # By the expected number of batches of an epoch that a row is in: vertex
  # inclusion probabilities (SALIENT++, arXiv 2305.03152).
  degree @2;
}

struct Model {
  kind @0 :ModelKind = sage
    $help("The kind of layers");

  hidden @1 :UInt32 = 256
    $help("Width of the layers between input and output")
    $unit("values per node") $range(min = 1, max = 65536);

  heads @2 :UInt32 = 4
    $help("Attention heads of kinds that attend; the hidden width is divided among them")
    $unit("heads") $range(min = 1, max = 128);

  dropout @3 :Float64 = 0.5
    $help("Probability of dropping a value between layers while training")
    $range(min = 0, max = 0.99);

  embedding @4 :UInt32 = 64
    $help("Width of the vector learnt per node of a type without features")
    $unit("values per node") $range(min = 1, max = 65536);

  layerNorm @5 :Bool = false
    $help("Normalise each node's values between layers");

  weights @6 :Text
    $help("File of weights (safetensors) to begin with, of another run with the same model; none: they are drawn by the seed. For a run on a cluster it lies where that is submitted")
    $length(max = 4096);

  residual @7 :Bool = false
    $help("Add a layer's input to what it computes, before norm and activation, wherever both are of the same width and the layer does not give the logits");

  jumping @8 :Bool = false
    $help("Jumping knowledge: the outputs of all layers, which then are of the hidden width, are put side by side, and one more matrix makes the logits of them");

  embeddingScale @9 :Float64 = 0.01
    $help("About how long the vectors learnt per node are at first; those of nodes that training never sees stay as they are drawn, and would drown the others if they were long")
    $range(min = 0, max = 1000);

  outputHeads @10 :UInt32 = 0
    $help("Attention heads of the last layer, whose outputs are averaged; 0: as many as `heads`. For kinds that attend, but for hgt")
    $unit("heads") $range(max = 128);

  attentionDropout @11 :Float64 = 0
    $help("Probability of dropping what a node attends to, edge by edge and head by head, while training. For kinds that attend")
    $range(min = 0, max = 0.99);

  attentionResidual @12 :Bool = false
    $help("Add each node's own row, times a matrix, to what its attention gives. For kinds that attend and have no such matrix or gate anyway");

  messageDropout @13 :Float64 = 0
    $help("Probability of dropping a value of the rows that attention sums, which the layer's weights have made, behind the scores, while training. For gat and gatv2")
    $range(min = 0, max = 0.99);

  edgeWeights @14 :EdgeWeights = use
    $help("Whether layers weigh the rows of neighbours by the weights of edges, where the dataset has some. gcn, sage, sage_sum, gin, rgcn and hetero_sage can; other kinds that hear neighbours have no sum to weigh, and take such a dataset with ignore alone");

  relations @15 :RelationUse = sum
    $help("How a layer puts the messages of several edge types into one node together, of rgcn and hetero_sage: sum adds them up; mean divides the sum by the number of edge types that have an edge at the node; mean_of_all divides it by the number of all edge types into the node's type, which is what hetero_sage did before this field");
}

enum RelationUse {
  unset @0;
  sum @1;
  mean @2;
  # Over the edge types with an edge at the node, of those that were sampled.
  meanOfAll @3;
  # Over all edge types into the type. A run whose record of its definition has
  # no such field has trained hetero_sage by this.
}

enum EdgeWeights {
  unset @0;
  use @1;
  ignore @2;
  # As if the dataset had none: they are not even sampled.
}

struct Trainer {
  # The data-parallel group. Replicas share every global step; their number
  # changes speed, and the weights by rounding alone.

  replicas @0 :UInt32 = 1
    $help("Trainers that share each step's seeds and average their gradients. Or a map of min and max: then a run on a cluster has as many of them as its daemons take, goes on with fewer when one is lost for good, and takes others in at the edge of an epoch; its weights depend on when that was, which it records. A run in one process has max of them")
    $unit("trainers") $range(min = 1, max = 64) $least("minReplicas");

  threads @1 :UInt32 = 0
    $help("Threads that compute, per trainer; they change speed, never the weights. 0 deals the processors of a machine out to its trainers")
    $unit("threads") $range(max = 256);

  device @2 :Text = "cpu"
    $help("Where tensors are computed on: cpu, cuda, or cuda:N")
    $length(min = 1, max = 16);

  stepTimeout @3 :UInt32 = 1800
    $help("How long a trainer that is done with its part of a step waits for the others before the run fails: more than one may fall behind whose batches are slow to come. Daemons that are lost are known in seconds whatever this is")
    $unit("seconds") $range(min = 10, max = 86400);

  minReplicas @4 :UInt32 = 0
    $unit("trainers") $range(max = 64);
  # The entry `min` of `replicas`; 0: there is none, their number is fixed.

  sizes @5 :List(Text)
    $help("Where the number of trainers changes, each as EPOCHS/STEPS:TRAINERS, as in [0/0:2, 3/17:1]: after 3 epochs and 17 steps of the next one, go on with 1. With what a run recorded as its sizes, another one ends with the same weights. None: `replicas` decides")
    $length(max = 4096);
}

struct Train {
  batchSize @0 :UInt32 = 1024
    $help("Seeds per step, over all trainers together")
    $unit("seeds") $range(min = 1, max = 16777216)
    $word(name = "all", value = 4294967295);

  epochs @1 :UInt32 = 10
    $help("Passes over the training seeds")
    $unit("epochs") $range(min = 1, max = 1000000);

  maxSteps @2 :UInt32 = 0
    $help("Stop after that many steps over all epochs; 0 sets no limit")
    $unit("steps") $range(max = 4294967295);

  seedOrder @3 :SeedOrder = local
    $help("Which trainer takes a seed: one near its part, or independent of parts");

  patience @4 :UInt32 = 0
    $help("Stop after that many validations without a gain; 0 never does")
    $unit("validations") $range(max = 1000000);

  recordSteps @5 :Bool = false
    $help("Write to steps.jsonl in the run folder what each trainer had of each step: seeds, by their ids before partitioning, sum of losses, and correct ones. For batch sizes of at most 65536");

  minEpochs @6 :UInt32 = 0
    $help("Epochs before `patience` begins to count: validations without a gain in the first so many epochs end nothing")
    $unit("epochs") $range(max = 1000000);

  labelSmoothing @7 :Float64 = 0
    $help("Share of a seed's target that is dealt out to all classes alike. Losses that are shown stay plain cross-entropies")
    $range(min = 0, max = 0.999);

  balanceClasses @8 :Bool = false
    $help("Weigh training seeds by the inverse of how many of them their class has, so that all classes count the same. For runs in one process alone; on a cluster give `class_weights`");

  classWeights @9 :List(Float64)
    $help("What the seeds of each class weigh in the gradient: a list with one number for each class, or a map from names of classes to numbers, as in {fraud: 10}, in which classes that are not named weigh 1. A step takes the weighted mean over its seeds. None: all weigh the same. Losses that are shown stay plain cross-entropies")
    $range(min = 0, max = 1e9) $length(max = 1000000) $perKey("namedClassWeights");

  loss @10 :ValueLoss = mse
    $help("What is made small where labels are numbers: mse the squares of errors, mae their amounts, huber half the squares up to an error of 1, and amounts less one half beyond. The mean over the values of a seed. For labels that are classes there is nothing to choose");

  patienceWindow @11 :UInt32 = 1
    $help("Over how many validations the score that `patience` counts is averaged, so that one lucky validation does not end a run: a moving average that forgets the older ones exponentially. 1 takes each as it is. The best epoch is chosen by each validation as it is")
    $unit("validations") $range(min = 1, max = 1000000);

  namedClassWeights @12 :List(ClassWeight);
  # The entries of `classWeights` if that is a map, in any order.

  focalGamma @13 :Float64 = 0
    $help("Focal loss: each cross-entropy is multiplied by (1 - p) to the power of this, where p is the probability that the model gives to what is true. Seeds that the model is sure of then count less. 0: plain cross-entropy; 2 is usual. Losses that are shown stay plain cross-entropies")
    $range(min = 0, max = 20);
}

struct ClassWeight {
  key @0 :Text;
  # The class by its name, or by its number where classes have no names.

  values @1 :Float64
    $range(min = 0, max = 1e9);
}

enum ValueLoss {
  unset @0;
  mse @1;
  mae @2;
  huber @3;
}

enum SeedOrder {
  unset @0;
  local @1;
  # Seeds go to trainers near their owner, as far as equal counts allow.
  global @2;
  # The partitioning decides nothing: weights are the same for any number of
  # parts.
}

struct Evaluate {
  neighbours @0 :NeighbourUse = sampled
    $help("Evaluate with sampled neighbours, or with all of them");

  batchSize @1 :UInt32 = 1024
    $help("Seeds per step of an evaluation, over all trainers together")
    $unit("seeds") $range(min = 1, max = 16777216)
    $word(name = "all", value = 4294967295);

  every @2 :UInt32 = 1
    $help("Epochs between two validations")
    $unit("epochs") $range(min = 1, max = 1000000);

  metric @3 :EvaluationMetric = accuracy
    $help("The metric of the validations that chooses the best epoch and that `train.patience` counts by. Larger is better, except for loss, mse and mae. f1_macro, roc_auc and average_precision are means over all classes or labels, also where there are two. WORD:CLASS is the metric of one class against all others, as in f1:fraud: f1, precision, recall, roc_auc, average_precision, recall_at_fpr@RATE (the largest recall with a false-positive rate of at most RATE) and precision_at_k@COUNT (the precision of the COUNT seeds with the largest scores), as in recall_at_fpr@0.01:fraud. f1 and its means, precision and recall are for up to 512 classes, or any number of labels; the others bring scores together as `scores` does. Where labels are numbers: mse or mae, the means of squares or amounts of errors")
    $detail("metricDetail");

  scores @4 :Bool = false
    $help("Tell ROC-AUC and average precision of validations and tests, too, each class against the others. For that the scores of all their seeds are brought to where the run is led: 4 bytes for each seed and class, 256 MiB for a split at the most, and 16 MiB for a batch");

  predict @5 :Bool = false
    $help("Nothing is trained: the run computes the model for all nodes of the target type, with the weights that it begins with, in batches of `batch_size`, and leaves logits and predictions in its folder. On a cluster alone, where `graphmill submit --predict RUN` sends such a run");

  only @6 :MeasuredSplit = none
    $help("Nothing is trained: the run measures this split with the weights that it begins with, and tells all metrics. Sampled neighbours are drawn as after the last of `train.epochs`. On a cluster alone, where `graphmill submit --evaluate RUN` sends such a run");

  metricDetail @7 :Text
    $length(max = 300);
  # What follows the word of `metric`: "@0.01:fraud", ":fraud", or nothing.

  threshold @8 :Text
    $help("Decision threshold of one class: a seed is taken for the class if the class has at least this probability, and otherwise for the likeliest of the others. WORD:CLASS tunes it on the validation seeds of the best epoch, as in f1:fraud: f1 makes the F1 of the class largest, recall_at_fpr@RATE its recall with a false-positive rate of at most RATE, and precision_at_k@COUNT takes the COUNT seeds with the largest scores. NUMBER:CLASS sets it, as in 0.3:fraud. The run keeps it, and predict and evaluate use it. Brings scores together as `scores` does. Empty: the likeliest class; labels from 0.5 on")
    $length(max = 300);
}

enum MeasuredSplit {
  unset @0;
  none @1;
  # The run trains, or predicts.
  train @2;
  validation @3;
  test @4;
}

enum EvaluationMetric {
  unset @0;
  accuracy @1;
  loss @2;
  f1Macro @3;
  rocAuc @4;
  averagePrecision @5;
  f1Micro @6;
  mse @7;
  mae @8;
  f1 @9;
  # This and those below are of one class, which `metricDetail` names.
  precision @10;
  recall @11;
  recallAtFpr @12;
  precisionAtK @13;
}

enum NeighbourUse {
  unset @0;
  sampled @1;
  all @2;
}

struct Budget {
  # What may be in flight. A batch larger than the whole budget runs alone.
  bytes @0 :UInt64 = 1073741824
    $help("Memory of all batches in flight in one process; on a cluster, in each daemon")
    $unit("bytes") $range(min = 1, max = 1125899906842624);

  batches @1 :UInt32 = 4
    $help("Batches in flight per trainer")
    $unit("batches") $range(min = 1, max = 1024);
}

struct Placement {
  # Where a cluster carries the run out, by names of daemons. It decides how fast
  # a run is, never what comes out; a run in one process takes no notice of it.

  trainers @0 :List(Text)
    $help("Daemons of a cluster that train: ranks are dealt to them in this order, round after round, as far as they have slots; none: near the parts. `graphmill train` takes no notice")
    $length(max = 1024);

  samplers @1 :List(Text)
    $help("Daemons of a cluster that sample: batches are dealt to them in turn, whole; none: beside each trainer. `graphmill train` takes no notice")
    $length(max = 1024);

  owners @2 :UInt32 = 1
    $help("Daemons of a cluster that serve each part, as far as so many offer it: with 2 a run goes on when one of them dies, but each maps and reads what it serves. `graphmill train` takes no notice")
    $unit("daemons") $range(min = 1, max = 16);

  daemons @3 :List(Text)
    $help("Daemons of a cluster that the run may use for whatever it is; none: all. Runs that name others do not wait for each other where the coordinator takes several at once (`graphmill node --runs-at-once`). `graphmill train` takes no notice")
    $length(max = 1024);
}

struct Checkpoint {
  # What a run leaves on its way, so that it can be resumed. It changes no result.

  everySteps @0 :UInt32 = 0
    $help("Write a checkpoint after every so many training steps, too, and not at the edges of epochs alone; 0 does not")
    $unit("steps") $range(max = 4294967295);

  everyMinutes @1 :UInt32 = 0
    $help("Write a checkpoint whenever so many minutes have passed since the last one, too; 0 does not")
    $unit("minutes") $range(max = 525600);

  keep @2 :UInt32 = 2
    $help("How many checkpoints are kept in the run folder, the newest ones; 0 writes none")
    $unit("checkpoints") $range(max = 1000);
}

struct Recovery {
  # What a run on a cluster does when it loses a daemon. It changes no result.

  wait @0 :UInt32 = 300
    $help("How long a run on a cluster that has lost a daemon waits for it, or for another one that can take its place, before it ends; 0 ends it at once")
    $unit("seconds") $range(max = 604800);

  attempts @1 :UInt32 = 5
    $help("After so many attempts in a row that have lost a daemon before they had trained a step, a run on a cluster ends")
    $unit("attempts") $range(min = 1, max = 1000000);
}
