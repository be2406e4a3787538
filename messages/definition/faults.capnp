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
    $help("Delay replies of sampling and feature services at random by up to this time, which shuffles them")
    $unit("milliseconds") $range(max = 10000);

  trainerDelayMs @1 :UInt32 = 0
    $help("Delay every training step by this time")
    $unit("milliseconds") $range(max = 60000);

  crashEvery @2 :UInt32 = 0
    $help("End an actor at every so many jobs, in turn at the start and in the middle of the job. Each pool counts its own jobs: batches of samplers, fetchers and batchers, and requests of the sampling and feature services of each part; 0 ends none")
    $unit("jobs") $range(max = 1000000);

  samplingServiceDelayMs @3 :UInt32 = 0
    $help("Delay every job of a sampling service by this time, which blocks its worker")
    $unit("milliseconds") $range(max = 10000);

  samplerDelayMs @4 :UInt32 = 0
    $help("Delay every batch of a sampler by this time")
    $unit("milliseconds") $range(max = 10000);

  featureServiceDelayMs @5 :UInt32 = 0
    $help("Delay every job of a feature service by this time")
    $unit("milliseconds") $range(max = 10000);

  fetcherDelayMs @6 :UInt32 = 0
    $help("Delay every batch of a fetcher by this time")
    $unit("milliseconds") $range(max = 10000);

  batcherDelayMs @7 :UInt32 = 0
    $help("Delay every batch of a batcher by this time")
    $unit("milliseconds") $range(max = 10000);

  exchangeDelayMs @8 :UInt32 = 0
    $help("Delay every exchange of gradients by this time")
    $unit("milliseconds") $range(max = 10000);

  daemons @9 :List(Text)
    $help("Daemons that have these faults; default: all. `graphmill train` ignores this")
    $length(max = 1024);
}
