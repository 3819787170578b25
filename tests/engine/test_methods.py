"""Methods of a sweep: their noise, their share of the work, and the shape of what they return."""

import numpy as np
import pandas as pd
import pytest

from dpreg import noise
from dpreg.checks import InputError
from dpreg.pipeline.objective import TAYLOR
from dpreg.sweeps import row_methods
from dpreg.sweeps.experiment import CrossValidation, functional_mechanism, no_privacy
from dpreg.sweeps.methods import RowMethod, method_generator, plan
from tests.engine import binary
from tests.engine.sweeps import BOX, rows_of, run


def test_methods_and_partitions_draw_independent_noise():
    one, twin = functional_mechanism("one", BOX), functional_mechanism("two", BOX)
    frame = run([one, twin], metrics=("mse",))
    assert (rows_of(frame, "one")["value"] != rows_of(frame, "two")["value"]).all()
    root = noise.seed_sequence(0)
    draws = {method_generator(root, repeat, method).random() for repeat in range(5) for method in (one, twin)}
    assert len(draws) == 10
    assert noise.spawn(root, 0, 0).random() not in draws  # nor is the split the noise


def test_a_slow_method_takes_part_in_its_partitions_only():
    slow = row_methods.objective_perturbation("op", repeats=1)
    frame = binary.run([no_privacy("m", loss=TAYLOR), slow], CrossValidation(4, 3), metrics=("misclassified",))
    assert frame[frame["method"] == "op"]["repeat"].unique().tolist() == [0]
    assert frame[frame["method"] == "m"]["repeat"].nunique() == 4
    whole = binary.run([row_methods.objective_perturbation("op")], CrossValidation(4, 3), metrics=("misclassified",))
    part = whole[whole["repeat"] == 0].reset_index(drop=True)
    pd.testing.assert_frame_equal(frame[frame["method"] == "op"].reset_index(drop=True), part, check_exact=True)


def test_partitions_without_a_method_are_left_out():
    frame = binary.run(
        [row_methods.objective_perturbation("op", repeats=2)], CrossValidation(4, 3), metrics=("misclassified",)
    )
    assert frame["repeat"].unique().tolist() == [0, 1]


def test_coefficients_of_another_shape_are_refused():
    method = RowMethod("odd", lambda partition, epsilons, rng: np.zeros((1, len(epsilons), 9)))
    with pytest.raises(InputError, match="'odd' returned coefficients of shape"):
        binary.run([method])


def test_tasks_hold_every_method_of_every_partition_once():
    by_rows = [RowMethod(name, print, repeats=k) for name, k in (("a", 3), ("b", 1), ("c", None))]
    some = [no_privacy("x"), *by_rows, no_privacy("y")]
    for jobs, alike in ((1, None), (2, None), (2, [0, "same", 1, "same", 2])):
        tasks = plan(some, 5, jobs, alike)
        pairs = sorted((repeat, k) for repeat, chosen in tasks for k in chosen)
        assert pairs == [(repeat, k) for repeat in range(5) for k, one in enumerate(some) if one.takes_part(repeat)]
    assert plan(some, 5, 2)[0] == (0, [2]), "the method with the fewest partitions is not first"
    assert [0, 1] not in [chosen for _, chosen in plan(some, 5, 2)], "a method that reads rows shares a task"
    assert (0, [1, 3]) in plan(some, 5, 2, [0, "same", 1, "same", 2])


def test_methods_share_a_task_where_partitions_keep_all_workers_busy():
    some = [no_privacy("x"), RowMethod("a", print), RowMethod("b", print, repeats=7), RowMethod("c", print, repeats=8)]
    assert plan(some, 8, 2) == [*((k, [2]) for k in range(7)), *((k, [0, 1, 3]) for k in range(8))]
    assert plan(some[:2], 7, 2) == [*((k, [1]) for k in range(7)), *((k, [0]) for k in range(7))]
