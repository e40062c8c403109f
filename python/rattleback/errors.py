"""Errors of the package, beside those of the library."""

from ._core import Error


class UnknownNameError(Error, KeyError):
    """A name that a study or a result does not have. The message says which names there are."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError puts it into quotes
