@0xb8d2f64a17c3e95b;
# The kinds of models that a definition may name: what its schema says of
# enumerations holds here, too.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("graphmill::schema");

enum ModelKind {
  unset @0;
  sage @1;
  # GraphSAGE with the mean of the neighbours. One node type.
  gcn @2;
  # Graph convolution, normalised by full-graph degrees. One node type.
  gat @3;
  # Graph attention. One node type.
  rgcn @4;
  # Relational: weights of its own for every edge type. Any node types.
  gin @5;
  # Graph isomorphism network: the sum of the sampled neighbours and of the node
  # itself, through a perceptron of two layers. One node type.
  sageSum @6;
  # GraphSAGE with the sum of the sampled neighbours. One node type.
  sageMax @7;
  # GraphSAGE with the largest of the neighbours' values. One node type.
  sagePool @8;
  # The same of neighbours that go through a layer of their own. One node type.
  mlp @9;
  # A perceptron of the nodes' own rows, which hears no neighbours: what the
  # edges are worth shows beside it. Any node types.
  heteroSage @10;
  # GraphSAGE for every edge type, with weights of its own; `model.relations`
  # says whether what they bring is added up, as in rgcn, or averaged. Any node
  # types.
  rgat @11;
  # Relational graph attention: attends within every edge type, with weights of
  # its own. Any node types.
  gatv2 @12;
  # Graph attention whose scores rank sources in another order for every node
  # (Brody et al., ICLR'22). One node type.
  hgt @13;
  # Heterogeneous graph transformer: attends over all edge types at once, by
  # weights of every node type and edge type. Any node types.
  lookup @14;
  # A learnt vector of each node, and no layers: `sampler.fanouts` has no
  # effect. For tasks of edges, with node types without features.
  lightgcn @15;
  # LightGCN: a learnt vector of each node, and layers without weights, which
  # sum neighbours by degrees; outputs are means over all layers. For tasks of
  # edges, with node types without features.
}
