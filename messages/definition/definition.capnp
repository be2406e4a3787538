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
    $help("Name of the run and its folder; default: the name of the file")
    $length(max = 100);

  dataset @1 :Text
    $help("Name of the dataset, or its path; --data gives its folder")
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
    $help("Label set to learn, with its splits; default: the labels of the target node type. `graphmill inspect` lists label sets")
    $length(max = 80);

  task @16 :Text
    $help("Task of edges to learn: links to predict, or classes, labels or numbers of edges, with its splits; not together with `labels`. Default: labels of nodes. `graphmill inspect` lists tasks")
    $length(max = 80);

  decoder @17 :Decoder;
  negatives @18 :Negatives;
}

struct Decoder {
  # What makes a score of the outputs of two nodes, for tasks of edges.

  kind @0 :DecoderKind = dot
    $help("How the outputs h and t of source and destination give a score. Links only: dot is h . t; cosine divides it by both lengths; distmult is the sum of h r t; complex, transe and rotate are those of knowledge graphs, with a learnt vector r of each edge type. For all tasks: bilinear is h W t with a learnt matrix, and mlp a layer of `hidden` values over h, t and h t, side by side");

  hidden @1 :UInt32 = 0
    $help("Width of the layer inside of mlp; 0: as the output of a node")
    $unit("values per edge") $range(max = 65536);

  norm @2 :UInt32 = 1
    $help("Distance of transe: 1 adds up absolute values, 2 is the Euclidean one")
    $range(min = 1, max = 2);

  edgeFeatures @3 :Bool = false
    $help("Whether the score of an edge also depends on the edge's own features. For classes, labels and numbers of edges that have features; not for links, whose negatives have none. With mlp they stand beside h, t and h t; with bilinear a learnt matrix times them is added");
}

enum DecoderKind {
  unset @0;
  dot @1;
  cosine @2;
  distmult @3;
  complex @4;
  # Re(sum of h r conj(t)): of vectors of even width, real halves first.
  transe @5;
  # -|h + r - t|
  rotate @6;
  # -|h e^(i r) - t|, r being angles, half as many as an output is wide.
  bilinear @7;
  mlp @8;
}

struct Negatives {
  # Node pairs without an edge, which links are told from. Drawn by position of
  # the row and original ids, so that they are the same for any ranks and parts.

  kind @0 :NegativeKind = perEdge
    $help("per_edge: each edge has its own negatives; joint: all edges of a step share them; given: those of the dataset");

  count @1 :UInt32 = 1
    $help("Negatives of each edge, or with joint of each step; both ends have so many if both are corrupted. Not for given")
    $unit("negatives") $range(min = 1, max = 65536);

  corrupt @2 :CorruptedEnd = destination
    $help("The end of an edge that negatives replace: destination; source; both, each apart; or pair, which replaces both ends at once and is for per_edge alone");

  weight @3 :NegativeWeight = uniform
    $help("Nodes by chance: uniform, or degree, in proportion to (in-degree + out-degree)^0.75 within the training edges");
}

enum NegativeKind {
  unset @0;
  perEdge @1;
  joint @2;
  given @3;
}

enum CorruptedEnd {
  unset @0;
  destination @1;
  source @2;
  both @3;
  # Heads and tails, each apart: twice as many negatives.
  pair @4;
  # Both ends of a negative are drawn, as in graph autoencoders.
}

enum NegativeWeight {
  unset @0;
  uniform @1;
  degree @2;
}

struct Sampler {
  # How the neighbourhood of a batch's seeds is drawn. Replicas and threads
  # change how fast that is, never what is drawn.

  fanouts @0 :List(Int32) = [10, 10]
    $help("In-edges to sample per node, one number per hop, starting at the seeds; -1, or the word all, takes all. The model has as many layers. `all` alone takes all in every hop, two hops by default. Or a map: one list per edge type, `default` for all others")
    $unit("in-edges per node") $range(min = -1, max = 1000000)
    $word(name = "all", value = -1)
    $length(min = 1, max = 16) $perKey("edgeFanouts");

  edgeFanouts @1 :List(EdgeFanout);
  # The entries of `fanouts` that name an edge type, in any order.

  replace @2 :Bool = false
    $help("Sample with replacement");

  replicas @3 :UInt32 = 1
    $help("Sampler actors that work on different batches")
    $unit("stages") $range(min = 1, max = 64);

  threads @4 :UInt32 = 1
    $help("Sampling threads per part of the graph")
    $unit("threads") $range(min = 1, max = 64);

  method @5 :SamplingMethod = uniform
    $help("Which in-edges a fanout takes: any with equal chances (uniform); by their weights, where edges have some (weighted); or labor, for which the nodes of a hop prefer the same sources, so that a batch has fewer nodes. Or how nodes are found otherwise: pinsage takes the nodes that random walks visit most often, as many as fanouts says; hgt as many nodes of each type in each hop as fanouts says; saint those on a random walk from each seed. The last two take all edges among these nodes");

  time @6 :TimeUse = none
    $help("What a seed of a dataset with times may see, in all hops: strict, edges before its own time; inclusive, edges of that very time, too; ignore, all edges, as if there were no times. Needed where edges have times, and refused where they have none. Edge types without times count as always there");

  latest @7 :Bool = false
    $help("With `time`: take the last edges before the seed's time, as many as `fanouts` says, instead of drawing some of them");

  window @8 :UInt64 = 0
    $help("With `time`: edges that are older than so long before the seed's time do not count; 0 sets no limit. Of times without a unit, in steps")
    $unit("seconds") $range(max = 1000000000000);

  disjoint @9 :Bool = false
    $help("With `time`: each row has a tree of its own, sampled by its own time. Otherwise all rows of a step share nodes, and see what was before the earliest of them, which needs rows in the order of time");

  subgraph @10 :SubgraphKind = directional
    $help("Edges of a batch among the nodes that were sampled: those that were sampled (directional); these and their reverses (bidirectional); or all that the graph has (induced). With the last two, layers run over all nodes of the batch");

  walks @11 :UInt32 = 20
    $help("Random walks from each node; for method pinsage")
    $unit("walks") $range(min = 1, max = 10000);

  walkLength @12 :UInt32 = 2
    $help("Steps of a random walk, at the most; for methods pinsage and saint. Each step goes from a node to the source of one of its in-edges")
    $unit("steps") $range(min = 1, max = 64);

  restart @13 :Float64 = 0.5
    $help("How likely a walk ends before each further step; for method pinsage")
    $range(min = 0, max = 1);
}

enum SubgraphKind {
  unset @0;
  directional @1;
  bidirectional @2;
  # A reverse is of the type rev_<name>, or of the type that it is the reverse of,
  # or else, between nodes of one type, of the same type.
  induced @3;
}

enum TimeUse {
  unset @0;
  none @1;
  # There are no times.
  ignore @2;
  # As if there were none.
  strict @3;
  inclusive @4;
}

enum SamplingMethod {
  unset @0;
  uniform @1;
  weighted @2;
  # In proportion to the weights of edges. Without replacement by exponential
  # keys (Efraimidis and Spirakis, "Weighted random sampling with a reservoir",
  # 2006). Types without weights: uniform.
  labor @3;
  # LABOR-0 (Balin and Catalyurek, arXiv 2210.13339) with exactly `fanouts`
  # in-edges: those whose sources have the smallest numbers, which a source has
  # for all destinations of a hop.
  pinsage @4;
  # Ying et al., arXiv 1806.01973. Counts of visits weigh messages.
  hgt @5;
  # HGSampling (Hu et al., arXiv 2003.01332). All edges among the nodes.
  saint @6;
  # Walks of GraphSAINT (Zeng et al., arXiv 1907.04931). All edges among the
  # nodes, and no coefficients: each seed is a root once in an epoch.
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
    $help("Fetcher actors that work on different batches")
    $unit("stages") $range(min = 1, max = 64);

  threads @1 :UInt32 = 1
    $help("Gathering threads per part of the graph")
    $unit("threads") $range(min = 1, max = 64);

  precision @2 :Precision = float32
    $help("Precision of features: float16 halves the traffic between daemons. It rounds every row, also local ones, so that weights do not depend on the placement");

  cache @3 :UInt64 = 0
    $help("Memory on every daemon with trainers for feature rows of other daemons' nodes, filled at the start of a run. A value takes 2 bytes with float16, else 4; 0 keeps none")
    $unit("bytes") $range(max = 1125899906842624);

  cacheOrder @4 :CacheOrder = vip
    $help("Rows that the cache keeps: those that its trainers most likely need (vip), or those with most out-edges (degree)");

  verify @5 :Float64 = 0
    $help("Share of the feature rows, labels and original ids from other daemons that is checked: their owner must prove that they are in the file as it was partitioned. 0 checks none, 1 all. A wrong value fails the run and names the daemon")
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
    $help("Kind of layers");

  hidden @1 :UInt32 = 256
    $help("Width of the layers between input and output")
    $unit("values per node") $range(min = 1, max = 65536);

  heads @2 :UInt32 = 4
    $help("Attention heads; they divide the hidden width. For kinds with attention")
    $unit("heads") $range(min = 1, max = 128);

  dropout @3 :Float64 = 0.5
    $help("Probability of dropping a value between layers while training")
    $range(min = 0, max = 0.99);

  embedding @4 :UInt32 = 64
    $help("Width of the learnt vector of each node of a type without features")
    $unit("values per node") $range(min = 1, max = 65536);

  layerNorm @5 :Bool = false
    $help("Normalise the values of each node between layers");

  weights @6 :Text
    $help("File of initial weights (safetensors) from another run with the same model; default: random weights. For a run on a cluster, a file where it is submitted")
    $length(max = 4096);

  residual @7 :Bool = false
    $help("Add the input of a layer to its output, before norm and activation, where both have the same width; not in the layer of the logits");

  jumping @8 :Bool = false
    $help("Jumping knowledge: all layers have the hidden width, and one more matrix computes the logits from all their outputs side by side");

  embeddingScale @9 :Float64 = 0.01
    $help("Approximate initial length of learnt vectors of nodes. Vectors of nodes that training never reaches keep it, so a large length drowns the others")
    $range(min = 0, max = 1000);

  outputHeads @10 :UInt32 = 0
    $help("Attention heads of the last layer, which averages them; 0: as many as `heads`. For kinds with attention, except hgt")
    $unit("heads") $range(max = 128);

  attentionDropout @11 :Float64 = 0
    $help("Probability of dropping an attention weight, for each edge and head, while training. For kinds with attention")
    $range(min = 0, max = 0.99);

  attentionResidual @12 :Bool = false
    $help("Add each node's own row, times a matrix, to the result of its attention. For kinds with attention that have no such matrix or gate");

  messageDropout @13 :Float64 = 0
    $help("Probability of dropping a value of the projected rows that attention sums, after the scores, while training. For gat and gatv2")
    $range(min = 0, max = 0.99);

  edgeWeights @14 :EdgeWeights = use
    $help("Whether layers weigh neighbours by the weights of edges, if there are some. Sums multiply rows by them, and attention its powers exp(score). sage_max and sage_pool weigh nothing, and accept such a dataset only with ignore");

  relations @15 :RelationUse = sum
    $help("How rgcn and hetero_sage combine the messages of several edge types at a node: sum adds them; mean divides the sum by the number of edge types with an edge at the node; mean_of_all divides it by the number of all edge types into the node's type, as hetero_sage did before this field");

  width @16 :UInt32 = 0
    $help("Width of the output of a node, for tasks of edges; 0: as `hidden`")
    $unit("values per node") $range(max = 65536);

  bases @17 :UInt32 = 0
    $help("For rgcn and hetero_sage: the weight matrices of all edge types are sums of so many that they share, each edge type with factors of its own. With hundreds of edge types that is faster and learns better. 0: each edge type has a matrix of its own")
    $unit("matrices") $range(max = 4096);

  edgeFeatures @18 :EdgeFeatures = use
    $help("Whether layers read the features of edges, if there are some. sage, sage_sum, gcn, gin, rgcn, hetero_sage, gat, gatv2, rgat and hgt can; other kinds with neighbours accept such a dataset only with ignore, which does not even fetch them");

  edgeAges @19 :EdgeAges = none
    $help("Columns that layers read of the age of an edge, beside its features. The age is the time from the edge to its row. none: no column. log: one, log(1 + age / age_unit). cosine: `age_width` columns cos(w age / age_unit + b), where w and b are learnt. Needs `sampler.time: strict` or `inclusive`. For kinds that read features of edges");

  ageUnit @20 :Float64 = 1
    $help("What ages are divided by, such as 86400 for days. For times without a unit in steps")
    $unit("seconds") $range(min = 1e-6, max = 1e12);

  ageWidth @21 :UInt32 = 16
    $help("Columns of an age with `edge_ages: cosine`")
    $unit("columns") $range(min = 1, max = 1024);
}

enum EdgeAges {
  unset @0;
  none @1;
  log @2;
  cosine @3;
  # As in TGAT (Xu et al., "Inductive representation learning on temporal
  # graphs", ICLR'20).
}

enum EdgeFeatures {
  unset @0;
  use @1;
  ignore @2;
  # As if the dataset had none.
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
    $help("Trainers that share the seeds of each step and average their gradients. Or a map of min and max: a run on a cluster then has as many as there are slots, continues with fewer when one is lost, and adds others at the end of an epoch. Its weights depend on when that happens, which it records. A run in one process has max trainers")
    $unit("trainers") $range(min = 1, max = 64) $least("minReplicas");

  threads @1 :UInt32 = 0
    $help("Compute threads per trainer; they change speed, never the weights. 0 divides the processors of a machine among its trainers")
    $unit("threads") $range(max = 256);

  device @2 :Text = "cpu"
    $help("Device of the trainers: cpu, cuda, or cuda:N")
    $length(min = 1, max = 16);

  stepTimeout @3 :UInt32 = 1800
    $help("How long a trainer waits for the others in a step before the run fails; longer than slow batches may delay one. Lost daemons are noticed within seconds in any case")
    $unit("seconds") $range(min = 10, max = 86400);

  minReplicas @4 :UInt32 = 0
    $unit("trainers") $range(max = 64);
  # The entry `min` of `replicas`; 0: there is none, their number is fixed.

  sizes @5 :List(Text)
    $help("Positions at which the number of trainers changes, as EPOCHS/STEPS:TRAINERS, as in [0/0:2, 3/17:1]: after 3 epochs and 17 steps of the next one, continue with 1. The recorded sizes of a run give its weights again. Default: `replicas` decides")
    $length(max = 4096);
}

struct Train {
  batchSize @0 :UInt32 = 1024
    $help("Seeds per step, of all trainers together")
    $unit("seeds") $range(min = 1, max = 16777216)
    $word(name = "all", value = 4294967295);

  epochs @1 :UInt32 = 10
    $help("Passes over the training seeds")
    $unit("epochs") $range(min = 1, max = 1000000);

  maxSteps @2 :UInt32 = 0
    $help("Stop after so many steps over all epochs; 0 sets no limit")
    $unit("steps") $range(max = 4294967295);

  seedOrder @3 :SeedOrder = local
    $help("Which trainer gets a seed: one near its part (local), or independent of parts (global)");

  patience @4 :UInt32 = 0
    $help("Stop after so many validations without improvement; 0 never stops")
    $unit("validations") $range(max = 1000000);

  recordSteps @5 :Bool = false
    $help("Write each trainer's part of each step to steps.jsonl in the run folder: seeds, by their ids before partitioning, sum of losses, and correct ones. For batch sizes of at most 65536");

  minEpochs @6 :UInt32 = 0
    $help("Epochs before `patience` starts to count")
    $unit("epochs") $range(max = 1000000);

  labelSmoothing @7 :Float64 = 0
    $help("Share of a seed's target that is spread equally over all classes. Losses that are shown stay plain cross-entropies")
    $range(min = 0, max = 0.999);

  balanceClasses @8 :Bool = false
    $help("Weigh training seeds by the inverse of the size of their class, so that all classes count the same. In one process only; on a cluster set `class_weights`");

  classWeights @9 :List(Float64)
    $help("Weight of each class in the gradient: a list with one number for each class, or a map from names of classes to numbers, as in {fraud: 10}, where other classes weigh 1. A step takes the weighted mean over its seeds. Default: equal weights. Losses that are shown stay plain cross-entropies")
    $range(min = 0, max = 1e9) $length(max = 1000000) $perKey("namedClassWeights");

  loss @10 :ValueLoss = mse
    $help("Loss for labels that are numbers: mse (squared errors), mae (absolute errors) or huber (half the squared error up to an error of 1, the absolute error less one half beyond), averaged over the values of a seed. Not for classes");

  patienceWindow @11 :UInt32 = 1
    $help("Validations over which the score for `patience` is averaged, by an exponential moving average, so that one lucky validation does not end a run. 1 averages nothing. The best epoch is always chosen by single validations. Where `patience` is given, the default is 10")
    $unit("validations") $range(min = 1, max = 1000000);

  namedClassWeights @12 :List(ClassWeight);
  # The entries of `classWeights` if that is a map, in any order.

  focalGamma @13 :Float64 = 0
    $help("Focal loss: multiplies each cross-entropy by (1 - p) to this power, where p is the probability of the true class or label. Easy seeds then count less. 0: plain cross-entropy; 2 is usual. Losses that are shown stay plain cross-entropies")
    $range(min = 0, max = 20);

  linkLoss @14 :LinkLoss = bce
    $help("Loss of links: bce, the binary cross entropy, in which an edge and the mean over its negatives count one half each; margin, the mean over negatives of how far a score s falls short of the edge's by `margin`; bpr, the mean of -log sigmoid(edge - negative); softmax, the cross entropy of the edge among its negatives; self_adversarial, bce of margin + s in which hard negatives weigh more");

  margin @15 :Float64 = 1
    $help("Margin of the losses margin and self_adversarial")
    $range(min = 0, max = 1e6);

  temperature @16 :Float64 = 1
    $help("Of self_adversarial: negatives weigh as the softmax of temperature times their scores")
    $range(min = 0, max = 1e6);

  exclude @17 :Exclusion = pair
    $help("What a link that is learnt must not see: pair, all edges between its two nodes, in both directions, are left out before neighbours are drawn, for all links of the step; none, it may see itself, as in a graph autoencoder on full batches, of which nothing would be left. Edges that are held out carry no messages in any case. Tasks of classes, labels and numbers have none of this: a row that is learnt sees its own edge, unless times are strict");

  shuffle @18 :Bool = true
    $help("Shuffle the training seeds of each epoch; false takes them in their order, which is that of time where the split was made by time");
}

enum Exclusion {
  unset @0;
  pair @1;
  none @2;
}

enum LinkLoss {
  unset @0;
  bce @1;
  margin @2;
  bpr @3;
  softmax @4;
  selfAdversarial @5;
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
    $help("Evaluate with sampled neighbours or with all");

  batchSize @1 :UInt32 = 1024
    $help("Seeds per step of an evaluation, of all trainers together")
    $unit("seeds") $range(min = 1, max = 16777216)
    $word(name = "all", value = 4294967295);

  every @2 :UInt32 = 1
    $help("Epochs between two validations")
    $unit("epochs") $range(min = 1, max = 1000000);

  metric @3 :EvaluationMetric = accuracy
    $help("Metric of validations that chooses the best epoch and drives `train.patience`. Larger is better, except for loss, mse, mae and mean_rank. f1_macro, roc_auc and average_precision are means over all classes or labels, also of two. WORD:CLASS is the metric of one class against all others, as in f1:fraud: f1, precision, recall, roc_auc, average_precision, recall_at_fpr@RATE (the largest recall with a false-positive rate of at most RATE) and precision_at_k@COUNT (the precision of the COUNT seeds with the largest scores), as in recall_at_fpr@0.01:fraud. f1 and its means, precision and recall are for up to 512 classes, or any number of labels; the others collect scores as `scores` does. For numbers: mse or mae, the mean squared or absolute error. For links: mrr (mean of 1 / rank), hits@K (share of ranks up to K), mean_rank, roc_auc or average_precision; and, with `negatives: all`, recall@K, precision@K or ndcg@K, means over the links that have the same source")
    $detail("metricDetail");

  scores @4 :Bool = false
    $help("Also compute ROC-AUC and average precision of validations and tests, each class against the others. The scores of all their seeds are collected where the run is led: 4 bytes for each seed and class, at most 256 MiB for a split and 16 MiB for a batch");

  predict @5 :Bool = false
    $help("Train nothing: compute logits and predictions of all nodes of the target type with the initial weights, in batches of `batch_size`, into the run folder. On a cluster only; `graphmill submit --predict RUN` sends such a run");

  only @6 :MeasuredSplit = none
    $help("Train nothing: compute all metrics of this split with the initial weights. Sampled neighbours are drawn as after the last of `train.epochs`. On a cluster only; `graphmill submit --evaluate RUN` sends such a run");

  metricDetail @7 :Text
    $length(max = 300);
  # What follows the word of `metric`: "@0.01:fraud", ":fraud", or nothing.

  threshold @8 :Text
    $help("Decision threshold of one class: a seed is predicted to have the class if the class has at least this probability, and otherwise the likeliest of the others. WORD:CLASS tunes it on the validation seeds of the best epoch, as in f1:fraud: f1 maximises the F1 of the class, recall_at_fpr@RATE its recall with a false-positive rate of at most RATE, and precision_at_k@COUNT selects the COUNT seeds with the largest scores. NUMBER:CLASS sets it, as in 0.3:fraud. The run keeps it, and predict and evaluate use it. Collects scores as `scores` does. Empty: the likeliest class, or each label with a probability above 0.5")
    $length(max = 300);

  negatives @9 :UInt32 = 100
    $help("Negatives that validations and tests draw for each edge of a link task, where the split has none given. They are the same in each validation and are no known edges. Ranks are among them; ROC-AUC and average precision take the first one of each edge. From the number of nodes on, and with the word all, ranks are among all nodes but those of known edges")
    $unit("negatives") $range(min = 1, max = 65536)
    $word(name = "all", value = 4294967295);

  visible @10 :VisibleEdges = training
    $help("Edges of a task that carry messages to rows of validations and tests: training, those that no split holds out; past, with `sampler.time: strict`, all that were before the row's time, as when predictions are made day by day. `past` is for tasks that were split by time");
}

enum VisibleEdges {
  unset @0;
  training @1;
  past @2;
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
  mrr @14;
  # This and those below are of links. `metricDetail` has the K of hits.
  hits @15;
  meanRank @16;
  ndcg @17;
  # Normalised discounted cumulative gain. As recall and precision with a K in
  # `metricDetail`, of the links that have the same source.
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
    $help("Daemons that train: they get ranks in this order, round after round, as far as they have slots; default: near the parts. `graphmill train` ignores this")
    $length(max = 1024);

  samplers @1 :List(Text)
    $help("Daemons that sample: they get whole batches in turn; default: beside each trainer. `graphmill train` ignores this")
    $length(max = 1024);

  owners @2 :UInt32 = 1
    $help("Daemons that serve each part, as far as so many offer it: with 2, a run continues when one of them dies, but each maps and reads the part. `graphmill train` ignores this")
    $unit("daemons") $range(min = 1, max = 16);

  daemons @3 :List(Text)
    $help("The only daemons that the run may use; default: all. Runs on different daemons do not wait for each other with `graphmill node --runs-at-once`. `graphmill train` ignores this")
    $length(max = 1024);
}

struct Checkpoint {
  # What a run leaves on its way, so that it can be resumed. It changes no result.

  everySteps @0 :UInt32 = 0
    $help("Also write a checkpoint after every so many training steps, besides those after each epoch; 0 does not")
    $unit("steps") $range(max = 4294967295);

  everyMinutes @1 :UInt32 = 0
    $help("Also write a checkpoint when so many minutes have passed since the last one; 0 does not")
    $unit("minutes") $range(max = 525600);

  keep @2 :UInt32 = 2
    $help("How many of the newest checkpoints the run folder keeps; 0 writes none")
    $unit("checkpoints") $range(max = 1000);
}

struct Recovery {
  # What a run on a cluster does when it loses a daemon. It changes no result.

  wait @0 :UInt32 = 300
    $help("How long a run that has lost a daemon waits for it, or for a replacement, before it ends; 0 ends it at once. On a cluster only")
    $unit("seconds") $range(max = 604800);

  attempts @1 :UInt32 = 5
    $help("End the run after so many attempts in a row that lost a daemon before they trained a step. On a cluster only")
    $unit("attempts") $range(min = 1, max = 1000000);
}
