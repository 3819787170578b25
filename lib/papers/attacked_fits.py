"""What a model-inversion attack gets out of the fits of a sweep: the attacks of `inversion`, as measures."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np

from dpreg import checks
from dpreg.arguments import checked
from dpreg.attacks import inversion
from dpreg.attacks.attribute import Attribute, Codes
from dpreg.checks import FloatArray, InputError
from dpreg.pipeline.logistic import predicted
from dpreg.pipeline.objective import SQUARED, Loss
from dpreg.sweeps.measures import Measure
from dpreg.sweeps.splits import Partition


@checked
def attacked(sensitive: Attribute, *, loss: Loss = SQUARED, share: float = 0.2) -> Measure:
    """Return the measure that attacks each fit, on members of its training set and on people outside.

    Members are a share of the training records (004: 20 %), people outside are half of the test set; both are drawn
    anew for every partition. The metrics are shares of right guesses, `inside` and `outside`, for an attacker who has
    the marginals of the training records, and with `, no marginals` added for one who has none.

    Parameters
    ----------
    sensitive : Attribute
        In the columns and values of the scaled rows.
    loss : Loss
        With `labels` the attacker is shown labels, and knows how often each is wrong; otherwise it is shown numbers
        with a normal error.
    share : float

    Examples
    --------
    >>> from lib.data.datasets import kdd_heads
    >>> from dpreg.sweeps.experiment import Holdout, no_privacy
    >>> from dpreg.sweeps.measures import measured
    >>> data, marital = kdd_heads("test"), Attribute((3, 4), [[1, -1], [-1, 1], [-1, -1]])
    >>> attack, plain = attacked(marital), no_privacy("plain")
    >>> frame = measured(data.X, data.y, data.box(), [plain], [1.0], Holdout(1), attack)
    >>> frame.metric[2], bool(0.5 < frame.value[2] < 0.6)
    ('outside', True)
    """
    _share(share)

    def measure(partition: Partition, theta: FloatArray, rng: np.random.Generator) -> dict[Hashable, FloatArray]:
        found: dict[Hashable, list[FloatArray]] = {}
        rss = partition.train()(theta)
        for k, (train, inside, outside, _) in enumerate(_people(partition, share, rng)):
            y, Z = _records(train, loss)
            known = sensitive.with_marginal(Z)
            predict = _model(theta[k], loss)
            error = (
                inversion.confusion_error(y, predicted(theta[k], Z))
                if loss.labels
                else inversion.gaussian_error(rss[k], len(y), theta.shape[-1])
            )
            for where, people in (("inside", inside), ("outside", outside)):
                y, Z = _records(people, loss)
                pair = inversion.accuracies(predict, Z, y, known, error, [known.prior, None])
                for name, right in zip((where, f"{where}, no marginals"), pair, strict=True):
                    found.setdefault(name, []).append(right)
        return {name: np.array(values) for name, values in found.items()}

    return measure


@checked
def unaided(sensitive: Attribute, classifier: Any, *, share: float = 0.2) -> Measure:
    """Return the measure of attackers who see no model, on the people that `attacked` takes.

    The metrics are shares of right guesses: `mode, inside` and `mode, outside` of who always says the most common
    value, `classifier, inside` and `classifier, outside` of who has learnt the attribute from response and other inputs
    of the other half of the test set. They do not depend on the fit: one method is enough.

    Parameters
    ----------
    sensitive : Attribute
    classifier : scikit-learn classifier
    share : float

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from lib.data.datasets import kdd_heads
    >>> from dpreg.sweeps.experiment import Holdout, no_privacy
    >>> from dpreg.sweeps.measures import measured
    >>> data, marital = kdd_heads("test"), Attribute((3, 4), [[1, -1], [-1, 1], [-1, -1]])
    >>> alone = unaided(marital, DecisionTreeClassifier(max_depth=8, random_state=0))
    >>> frame = measured(data.X, data.y, data.box(), [no_privacy("plain")], [1.0], Holdout(1), alone)
    >>> frame.metric[3], bool(0.65 < frame.value[3] < 0.75)
    ('classifier, outside', True)
    """
    _share(share)
    if not hasattr(classifier, "fit"):
        raise InputError(f"classifier is of type {type(classifier).__name__}: give a scikit-learn classifier")

    def measure(partition: Partition, theta: FloatArray, rng: np.random.Generator) -> dict[Hashable, FloatArray]:
        found: dict[Hashable, list[float]] = {}
        for train, inside, outside, public in _people(partition, share, rng):
            mode = sensitive.with_marginal(train[:, 1:]).mode
            people = np.concatenate([inside, outside])
            seen = (public[:, 1:], public[:, 0], people[:, 1:], people[:, 0])
            learnt: Codes = inversion.guess_without_model(*seen, sensitive, classifier)
            truth = sensitive.codes(people[:, 1:])
            for where, who in (("inside", slice(len(inside))), ("outside", slice(len(inside), None))):
                found.setdefault(f"mode, {where}", []).append(float((truth[who] == mode).mean()))
                found.setdefault(f"classifier, {where}", []).append(float((truth == learnt)[who].mean()))
        return {name: np.tile(np.array(values)[:, None], theta.shape[1]) for name, values in found.items()}

    return measure


def _people(
    partition: Partition, share: float, rng: np.random.Generator
) -> Iterator[tuple[FloatArray, FloatArray, FloatArray, FloatArray]]:
    """Yield records (t, Z) of each split: the training set, members of it, people outside, and public others."""
    for kept, test in zip(partition.training(), partition.tests, strict=True):
        train = partition.table.take(np.flatnonzero(kept), axis=0, mode="clip")  # a mask takes three times as long
        members = rng.permutation(len(train))[: round(share * len(train))]
        order = rng.permutation(len(test))
        half = len(test) // 2
        if not len(members) or not half:
            raise InputError(f"{len(train)} training and {len(test)} test records are too few: use more records")
        yield train, train[members], test[order[:half]], test[order[half:]]


def _records(table: FloatArray, loss: Loss) -> tuple[FloatArray, FloatArray]:
    """Return the responses as the attacker knows them, and the scaled rows."""
    return (table[:, 0] > 0).astype(np.float64) if loss.labels else table[:, 0], table[:, 1:]


def _model(theta: FloatArray, loss: Loss) -> inversion.Predict:
    return lambda rows: predicted(theta, rows).astype(np.float64) if loss.labels else theta @ rows.T


def _share(share: float) -> None:
    if not 0 < checks.finite(share, "share") <= 1:
        raise InputError(f"share is {share:g}: give the share of the training records to attack, above 0 and at most 1")
