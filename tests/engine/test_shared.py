"""A shared value is pickled once, and read once."""

import os
import pickle

import cloudpickle
from joblib import Parallel, delayed

from dpreg.sweeps.shared import Shared


class Counted:
    """Counts how often it is pickled."""

    def __init__(self):
        self.times = 0

    def __reduce__(self):
        self.times += 1
        return list, ((1, 2),)


def test_it_is_pickled_once_for_all_tasks():
    counted = Counted()
    shared = Shared(counted)
    copies = [pickle.dumps(shared) for _ in range(3)]
    assert counted.times == 1
    assert len(set(copies)) == 1


def test_it_is_read_once_by_a_worker():
    one, other = (pickle.loads(pickle.dumps(shared)) for shared in [Shared([1, 2])] * 2)
    assert one is other
    assert pickle.loads(pickle.dumps(Shared([1, 3]))).value == [1, 3]


def test_a_worker_passes_it_on():
    shared = Shared({"double": lambda x: 2 * x})
    again = pickle.loads(pickle.dumps(pickle.loads(cloudpickle.dumps(shared))))
    assert again.value["double"](2) == 4


def test_without_workers_nothing_is_pickled():
    counted = Counted()
    (found,) = Parallel(n_jobs=1)([delayed(getattr)(Shared(counted), "value")])
    assert found is counted
    assert counted.times == 0


def _seen(shared, x):
    return os.getpid(), id(shared.value), shared.value(x)


def test_workers_use_it():
    shared = Shared(lambda x: x + 1)
    found = Parallel(n_jobs=2, batch_size=1)(delayed(_seen)(shared, x) for x in range(6))
    assert [value for *_, value in found] == [1, 2, 3, 4, 5, 6]
    assert len({(pid, place) for pid, place, _ in found}) == len({pid for pid, *_ in found})  # one copy in each
