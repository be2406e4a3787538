"""Stand-ins with the attributes of other libraries' graphs, filled with arrays
of NumPy, for tests where these libraries are not installed."""

from support import np


class Tensor:
    """An array that is one only after detach, cpu and numpy, as in torch; it
    counts the elements that were taken at once."""

    most = 0

    def __init__(self, array):
        self.array = array
        self.shape, self.dtype = array.shape, array.dtype

    def __getitem__(self, at):
        return Tensor(self.array[at])

    def reshape(self, *shape):
        return Tensor(self.array.reshape(*shape))

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        Tensor.most = max(Tensor.most, self.array.size)
        return self.array


class Store(dict):
    """PyG's Data, or a store of HeteroData: keys are attributes, too."""

    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(name)


class HeteroData:
    """PyG's, by node_types, edge_types, stores and data[type]."""

    def __init__(self, nodes, edges, other=()):
        self.parts = {**nodes, **edges}
        self.node_types, self.edge_types = list(nodes), list(edges)
        for key, store in self.parts.items():
            object.__setattr__(store, "_key", key)
        self.stores = [Store(other), *self.parts.values()]

    def __getitem__(self, key):
        return self.parts[key]


class SparseTensor:
    """torch_sparse's: rows are destinations in PyG's adj_t."""

    def __init__(self, indptr, indices, values, sizes):
        self.parts, self.sizes = (indptr, indices, values), sizes

    def csr(self):
        return self.parts

    def sparse_sizes(self):
        return self.sizes


class Matrix:
    """A sparse matrix of SciPy."""

    def __init__(self, form, shape, **arrays):
        self.format, self.shape = form, shape
        self.__dict__.update(arrays)
        self.nnz = len(self.data)

    def tocoo(self):
        if self.format == "coo":
            return self
        rows = np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))
        return Matrix("coo", self.shape, row=rows, col=self.indices,
                      data=self.data)

    def tocsr(self):
        assert self.format == "csr"
        return self


class View:
    """DGL's views of nodes and edges."""

    def __init__(self, data, ends=None):
        self.frames, self.ends = data, ends

    def __getitem__(self, key):
        frame = View({})
        frame.data = self.frames[key]
        return frame

    def __call__(self, etype, form, order):
        assert (form, order) == ("uv", "eid")
        return self.ends[etype]


class DglGraph:
    """A DGLGraph. `edges`: {canonical type: (sources, destinations)}."""

    def __init__(self, counts, edges, nodes, edge_data=None):
        self.counts = counts
        self.ntypes, self.canonical_etypes = list(counts), list(edges)
        self.nodes = View({name: nodes.get(name, {}) for name in counts})
        self.edges = View({key: (edge_data or {}).get(key, {})
                           for key in edges}, edges)

    def num_nodes(self, name):
        return self.counts[name]


class ArrowTable:
    """A table of pyarrow, and a batch of one."""

    def __init__(self, columns):
        self.columns_of = columns
        self.column_names = list(columns)
        self.num_rows = len(next(iter(columns.values())))

    def slice(self, first, count):
        return ArrowTable({name: values[first:first + count]
                           for name, values in self.columns_of.items()})

    def to_batches(self):
        return [ArrowBatch(self.columns_of)] if self.num_rows else []


class ArrowBatch:
    def __init__(self, columns):
        self.columns_of = columns
        self.schema = Store(names=list(columns))

    def column(self, at):
        values = list(self.columns_of.values())[at]
        return (ArrowDictionary if isinstance(values, Categories)
                else ArrowColumn)(values)


class ArrowColumn:
    """Integers with nulls become floats, texts objects, as in pyarrow."""

    def __init__(self, values):
        self.values = values

    def to_numpy(self, zero_copy_only=True):
        assert not zero_copy_only
        if any(isinstance(value, str) for value in self.values):
            return np.array(self.values, object)
        return np.array([np.nan if value is None else value
                         for value in self.values])


class Categories(list):
    """Texts of a column that pyarrow has as a dictionary and indices."""

    def __getitem__(self, at):
        part = super().__getitem__(at)
        return Categories(part) if isinstance(at, slice) else part


class ArrowDictionary:
    """As pyarrow, whose to_numpy takes missing values for the last one."""

    def __init__(self, values):
        self.values = values

    def dictionary_decode(self):
        return ArrowColumn(self.values)

    def to_numpy(self, zero_copy_only=True):
        assert not zero_copy_only
        known = sorted(set(self.values) - {None})
        return np.take(known, [-1 if value is None else known.index(value)
                               for value in self.values])


class ParquetFile:
    """pyarrow's, which is read in batches, each time from its beginning."""

    def __init__(self, columns):
        self.columns_read = set()
        self.table = ArrowTable(columns)
        self.schema_arrow = Store(names=list(columns))
        self.metadata = Store(num_rows=self.table.num_rows)

    def iter_batches(self, batch_size, columns):
        self.columns_read.update(columns)
        for first in range(0, self.table.num_rows, batch_size):
            part = self.table.slice(first, batch_size).columns_of
            yield ArrowBatch({name: part[name] for name in columns})


class OgbNodes:
    """A dataset of OGB: one graph with labels, and a split of nodes."""

    def __init__(self, item, split):
        self.item, self.split = item, split

    def __len__(self):
        return 1

    def __getitem__(self, at):
        assert at == 0
        return self.item

    def get_idx_split(self):
        return self.split


class OgbLinks:
    """A dataset of OGB: one graph, and a split of edges."""

    def __init__(self, graph, split):
        self.graph, self.split = graph, split

    def __len__(self):
        return 1

    def __getitem__(self, at):
        assert at == 0
        return self.graph

    def get_edge_split(self):
        return self.split
