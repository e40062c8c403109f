"""Arrays for xarray that read their numbers from a result file when they are used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from xarray.backends import BackendArray
from xarray.core import indexing

from . import _core


class Numbers(BackendArray):
    """A dataset of a result file. Of an index it reads the block between the smallest and the largest place. Pickled, it is the dataset of
    the file that then has the name."""

    def __init__(self, stored: "_core.Stored", path: str) -> None:
        self._stored, self._path = stored, path
        self.shape = stored.shapes()[path]
        nothing = [0] * len(self.shape)
        self.dtype = stored.block(path, nothing, nothing).dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.BASIC, self._read)

    def _read(self, key: tuple[Any, ...]) -> np.ndarray:
        offset, count, within = [], [], []
        for extent, one in zip(self.shape, key, strict=True):
            places = range(extent)[one if isinstance(one, slice) else slice(int(one), int(one) + 1)]
            first, last = (min(places[0], places[-1]), max(places[0], places[-1])) if places else (0, -1)
            offset.append(first)
            count.append(last - first + 1)
            within.append(slice(None, None, places.step) if isinstance(one, slice) else 0)
        return np.asarray(self._stored.block(self._path, offset, count))[tuple(within)]

    def __reduce__(self) -> Any:
        return _of_file, (self._stored.file, self._path)


def _of_file(file: str, path: str) -> Numbers:
    return Numbers(_core.open(Path(file)), path)


def numbers_of(stored: "_core.Stored", path: str) -> Any:
    """Returns a dataset of a file for a variable of xarray. What is read once as a whole is kept."""
    layers: Any = indexing  # of which some have no types
    return layers.MemoryCachedArray(layers.CopyOnWriteArray(layers.LazilyIndexedArray(Numbers(stored, path))))
