"""What every task of a sweep needs, made ready for the workers once and not once for each task."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Generic, TypeVar

import cloudpickle

T = TypeVar("T")


class Shared(Generic[T]):
    """A value for the tasks of joblib that is pickled once; a worker reads it once as well.

    Methods hold functions that are defined where they are used. These are pickled by value, with their
    code and all they hold. Large arrays are not for here: joblib gives those to its workers in memory they share.

    Parameters
    ----------
    value : anything that cloudpickle takes

    Examples
    --------
    >>> import pickle
    >>> shared = Shared([lambda x: 2 * x])
    >>> shared.value[0](3), pickle.loads(pickle.dumps(shared)).value[0](3)
    (6, 6)
    """

    def __init__(self, value: T) -> None:
        self.value = value

    @cached_property
    def _pickled(self) -> bytes:
        return bytes(cloudpickle.dumps(self.value))

    def __reduce__(self) -> tuple[object, tuple[bytes]]:
        return _read, (self._pickled,)


@lru_cache(maxsize=4)  # of a worker, for the sweeps that are under way
def _read(pickled: bytes) -> Shared[object]:
    return Shared(cloudpickle.loads(pickled))
