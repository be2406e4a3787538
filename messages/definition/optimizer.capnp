@0x95067bf0449c6667;
# The section `optimizer` of a definition: what definition.capnp says of sections
# and enumerations holds here, too.

using Cxx = import "/capnp/c++.capnp";
using Notes = import "/messages/definition/notes.capnp";
using help = Notes.help; using unit = Notes.unit; using range = Notes.range;
$Cxx.namespace("graphmill::schema");

struct Optimizer {
  kind @0 :OptimizerKind = adam
    $help("Rule that applies gradients");

  learningRate @1 :Float64 = 0.01
    $help("Step size")
    $range(min = 1e-9, max = 1000);

  weightDecay @2 :Float64 = 0
    $help("Decay of the weights; decoupled from the gradient in adamw. Learnt vectors of nodes have `embedding_decay` instead")
    $range(min = 0, max = 100);

  momentum @3 :Float64 = 0
    $help("Momentum of sgd")
    $range(min = 0, max = 0.9999);

  schedule @4 :ScheduleKind = constant
    $help("How the learning rate changes over the epochs");

  warmupEpochs @5 :UInt32 = 0
    $help("Epochs in which the learning rate rises to its full value")
    $unit("epochs") $range(max = 1000000);

  stepEpochs @6 :UInt32 = 10
    $help("Epochs between two decays of the schedule `step`")
    $unit("epochs") $range(min = 1, max = 1000000);

  stepFactor @7 :Float64 = 0.5
    $help("Factor by which the schedule `step` multiplies the learning rate")
    $range(min = 0, max = 1);

  decayLayers @8 :DecayedLayers = all
    $help("Layers to which `weight_decay` applies: all, or the first one");

  decayBiases @9 :Bool = true
    $help("Whether `weight_decay` also applies to biases and norms of these layers");

  embeddingDecay @10 :Float64 = 0
    $help("Decay of the learnt vectors of nodes: each step multiplies all of them, also those of other nodes than its own, by 1 - learning rate * embedding_decay")
    $range(min = 0, max = 1e9);

  clipNorm @11 :Float64 = 0
    $help("Largest length of the gradient of a step, over all parameters together; longer ones are scaled down. 0 sets no limit")
    $range(min = 0, max = 1e9);
}

enum DecayedLayers {
  unset @0;
  all @1;
  first @2;
}

enum OptimizerKind {
  unset @0;
  adam @1;
  # Weight decay is added to the gradient.
  adamw @2;
  # Weight decay shrinks the weights directly.
  sgd @3;
}

enum ScheduleKind {
  unset @0;
  constant @1;
  cosine @2;
  # From the full rate to nearly 0 at the last epoch, along half a cosine.
  step @3;
}
