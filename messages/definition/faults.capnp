@0xb7c0e4f12d9a6835;
# The section `faults` of a definition: what definition.capnp says of sections
# holds here, too.

using Cxx = import "/capnp/c++.capnp";
using Notes = import "/messages/definition/notes.capnp";
using help = Notes.help; using unit = Notes.unit; using range = Notes.range;
using length = Notes.length;
$Cxx.namespace("graphmill::schema");

struct Faults {
  # Faults on purpose, to see for oneself that results do not change.

  replyDelayMs @0 :UInt32 = 0
    $help("Delay replies of sampling and feature services at random by up to this, which shuffles them")
    $unit("milliseconds") $range(max = 10000);

  trainerDelayMs @1 :UInt32 = 0
    $help("Make every training step slower by this")
    $unit("milliseconds") $range(max = 60000);

  crashEvery @2 :UInt32 = 0
    $help("End an actor at every so many jobs, in turn as it takes the job and in the middle of it. Each pool counts its own: samplers, fetch stages and batchers, whose job is a batch, and for each part the sampling and feature services, whose jobs are pieces of one; 0 ends none")
    $unit("jobs") $range(max = 1000000);

  samplingServiceDelayMs @3 :UInt32 = 0
    $help("Make every job of a sampling service slower by this: its worker does nothing else meanwhile")
    $unit("milliseconds") $range(max = 10000);

  samplerDelayMs @4 :UInt32 = 0
    $help("The same of a sampler: of every batch that it samples")
    $unit("milliseconds") $range(max = 10000);

  featureServiceDelayMs @5 :UInt32 = 0
    $help("The same of a feature service")
    $unit("milliseconds") $range(max = 10000);

  fetcherDelayMs @6 :UInt32 = 0
    $help("The same of a fetcher")
    $unit("milliseconds") $range(max = 10000);

  batcherDelayMs @7 :UInt32 = 0
    $help("The same of a batcher")
    $unit("milliseconds") $range(max = 10000);

  exchangeDelayMs @8 :UInt32 = 0
    $help("Make every exchange of gradients slower by this")
    $unit("milliseconds") $range(max = 10000);

  daemons @9 :List(Text)
    $help("Daemons of a cluster that have these faults; none: all. One without a share of the run has nothing to get wrong. `graphmill train` takes no notice")
    $length(max = 1024);
}
