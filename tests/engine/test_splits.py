"""Partitions of the records: how they are drawn, and what they train and test on."""

import math

import numpy as np
import pytest

from dpreg.checks import InputError
from dpreg.pipeline.domain import BLOCK, Ball
from dpreg.pipeline.objective import linear
from dpreg.pipeline.solve import Penalty
from dpreg.sweeps import splits
from dpreg.sweeps.experiment import CrossValidation, Holdout, no_privacy, sweep
from dpreg.sweeps.methods import Method
from dpreg.sweeps.splits import fold_moments
from tests.engine import binary
from tests.engine.sweeps import BOX, X, Y, data, split


@pytest.mark.parametrize("n", [2, 7, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 11])
@pytest.mark.parametrize("domain", [BOX, Ball([0, 0, 0], 2, (-10, 20))], ids=["box", "ball"])
def test_fold_moments_are_those_of_the_rows_of_the_fold(n, domain):
    X, y = data(n)
    folds = 3
    labels = np.random.default_rng(1).integers(0, folds, n).astype(np.int16)
    found = fold_moments(domain.table(X, y), labels, folds, domain)
    Z, t = domain.scale(X, y)
    assert found.batch == (folds,)
    for fold in range(folds):
        rows, target = Z[labels == fold], t[labels == fold]
        np.testing.assert_allclose(found.M[fold], rows.T @ rows, rtol=1e-11, atol=1e-10)
        np.testing.assert_allclose(found.v[fold], -2 * rows.T @ target, rtol=1e-11, atol=1e-10)
        np.testing.assert_allclose(found.c[fold], target @ target, rtol=1e-11, atol=1e-12)
        np.testing.assert_array_equal(found.M[fold], found.M[fold].T)
    np.testing.assert_allclose(found.sum().M, linear(X, y, domain).M, rtol=1e-11)


def test_labels_of_any_integer_type_will_do():
    table = BOX.table(X, Y)
    labels = np.arange(len(Y)) % 4
    expected = fold_moments(table, labels.astype(np.int16), 4, BOX)
    for dtype in (np.int64, np.uint8, np.int32):
        np.testing.assert_array_equal(fold_moments(table, labels.astype(dtype), 4, BOX).M, expected.M)


@pytest.mark.parametrize("n", [10, 11, 14, 1000])
def test_folds_are_balanced_and_holdouts_have_their_share(n):
    rng = np.random.default_rng(0)
    sizes = np.bincount(CrossValidation(1, 5).labels(n, rng), minlength=5)
    assert sizes.sum() == n
    assert np.ptp(sizes) <= 1
    for share in (0.2, 0.5, 0.75):
        labels = Holdout(1, share).labels(n, rng)
        assert (labels == 0).sum() == round(share * n)
        assert set(labels) == {0, 1}
    assert CrossValidation(1, 5).tested == (0, 1, 2, 3, 4)
    assert Holdout().tested == (0,)


def test_every_record_is_as_likely_to_be_tested():
    """Each of 50 records is held out in a fifth of 4,000 splits, to within five standard errors."""
    repeats = 4000
    rng = np.random.default_rng(0)
    tested = np.mean([Holdout(1, 0.2).labels(50, rng) == 0 for _ in range(repeats)], axis=0)
    assert np.abs(tested - 0.2).max() < 5 * math.sqrt(0.2 * 0.8 / repeats)
    fold = np.mean([CrossValidation(1, 5).labels(50, rng) == 3 for _ in range(repeats)], axis=0)
    assert np.abs(fold - 0.2).max() < 5 * math.sqrt(0.2 * 0.8 / repeats)


def test_training_moments_are_those_of_the_rows_not_tested():
    seen = []

    def spy(train, epsilons, rng):
        seen.append(train)
        return np.zeros((*train.batch[:1], len(epsilons), train.p))

    protocol = CrossValidation(2, 4)
    frame = sweep(X, Y, BOX, [Method("spy", spy)], [0.5, 2.0, 8.0], protocol, random_state=3)
    Z, t = BOX.scale(X, Y)
    for repeat, train in enumerate(seen):
        assert train.batch == (4, 1)
        assert train.domain == BOX
        labels = split(protocol, len(Y), 3, repeat)
        for fold in range(4):
            rows = labels != fold
            np.testing.assert_allclose(train.M[fold, 0], Z[rows].T @ Z[rows], rtol=1e-10, atol=1e-10)
            np.testing.assert_allclose(train.v[fold, 0], -2 * Z[rows].T @ t[rows], rtol=1e-10, atol=1e-9)
            # With theta = 0 the prediction is the centre of the response.
            error = math.sqrt(np.mean(t[labels == fold] ** 2)) * BOX.half_width
            part = frame[(frame["repeat"] == repeat) & (frame["fold"] == fold)]
            np.testing.assert_allclose(part["value"], error, rtol=1e-10)
            assert part["epsilon"].tolist() == [0.5, 2.0, 8.0]


def test_too_few_records_for_the_protocol_are_refused():
    """Otherwise the error of an empty test set would be NaN, and a model trained on nothing would be reported."""
    for n, protocol in ((2, Holdout(1, 0.2)), (2, Holdout(1, 0.9)), (3, CrossValidation(1, 5))):
        with pytest.raises(InputError, match="use more records"):
            sweep(X[:n], Y[:n], BOX, [no_privacy("m")], [1.0], protocol)
    sweep(X[:5], Y[:5], BOX, [no_privacy("m", Penalty(1.0))], [1.0], CrossValidation(1, 5))  # leave one out


def test_labels_that_drop_records_are_refused():
    table = BOX.table(X, Y)
    for labels in (np.zeros(5, int), np.full(len(Y), 7), np.full(len(Y), -2)):
        with pytest.raises(InputError, match="labels"):
            fold_moments(table, labels, 5, BOX)


def test_subsets_have_their_rate_and_change_with_the_partition():
    protocol = CrossValidation(1, 5, rate=0.3)
    rng = np.random.default_rng(0)
    drawn = np.array([protocol.labels(200, rng) for _ in range(2000)])
    assert ((drawn >= 0).sum(axis=1) == 60).all()
    assert (np.array([(drawn == fold).sum(axis=1) for fold in range(5)]) == 12).all()
    share = (drawn >= 0).mean(axis=0)  # of each record: five standard errors
    assert np.abs(share - 0.3).max() < 5 * math.sqrt(0.3 * 0.7 / 2000)
    whole, full = CrossValidation(1, 5).labels(200, np.random.default_rng(3)), CrossValidation(1, 5, 1.0)
    np.testing.assert_array_equal(whole, full.labels(200, np.random.default_rng(3)))


def test_a_subset_is_trained_and_tested_on_alone():
    protocol = CrossValidation(2, 3, rate=0.5)
    frame = binary.run([no_privacy("m")], protocol, metrics=("mse",))
    Z, t = binary.BOX.scale(binary.X, binary.Y)
    for repeat, fold, train, test in binary.each_split(protocol):
        assert train.sum() + test.sum() == 200
        theta = np.linalg.lstsq(Z[train], t[train])[0]
        assert binary.of(frame, repeat, fold, "mse") == pytest.approx(
            np.mean((Z[test] @ theta - t[test]) ** 2) / 4, rel=1e-9
        )


def test_partition_gives_each_record_to_one_side():
    table, labels = (
        binary.BOX.table(binary.X, binary.Y),
        CrossValidation(1, 4).labels(len(binary.Y), np.random.default_rng(1)),
    )
    partition = splits.Partition(binary.X, binary.Y, table, binary.BOX, labels, (0, 1, 2, 3))
    assert partition.sizes.tolist() == [100] * 4
    tested = [Z for Z, _ in partition.test_rows]
    trained = [rows for rows, _ in partition.training_rows()]
    assert [len(rows) for rows in tested] == [100] * 4
    assert [len(rows) for rows in trained] == [300] * 4
