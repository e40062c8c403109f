"""A result in memory in the form of an open HDF5 file, as far as figures need it."""


class Dataset:
    def __init__(self, stored, path, shape):
        self._stored, self._path = stored, path
        self.name, self.shape, self.ndim = path, shape, len(shape)

    @property
    def attrs(self):
        return self._stored.attributes(self._path)

    def __getitem__(self, rows):
        return self._stored.array(self._path)[rows]

    def __len__(self):
        return self.shape[0]


class Group(dict):
    def __init__(self, name):
        super().__init__()
        self.name = name

    def add(self, parts, entry):
        if len(parts) == 1:
            self[parts[0]] = entry
        else:
            self.setdefault(parts[0], Group(f"{self.name.rstrip('/')}/{parts[0]}")).add(parts[1:], entry)


class File(Group):
    """The datasets of a result of the package."""

    def __init__(self, result):
        super().__init__("/")
        self.attrs = result.attributes
        for path, shape in result._stored.shapes().items():
            self.add(path.strip("/").split("/"), Dataset(result._stored, path, shape))
