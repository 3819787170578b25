"""The model-inversion attack: guess a sensitive input of a person from a released model and the rest of the record.

Everything here is on the attacker's side. What the attacker is given besides the model (the error model pi, the
marginals) is side knowledge: computed from records, charged to nobody, and to be stated with every result.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from dpreg import checks, limits
from dpreg.arguments import checked
from dpreg.attacks.attribute import Attribute, Codes, distribution, rows_of
from dpreg.checks import FloatArray, InputError
from dpreg.pipeline.laws import Scales
from dpreg.pipeline.objective import SQUARED, Loss, Quadratic

Predict = Callable[[FloatArray], FloatArray]
Error = Callable[[FloatArray, FloatArray], FloatArray]

BLOCK = 4096  # targets at a time: what is made of them then stays in the cache of the processor
TIE = 1e-9  # log-scores closer than this are equal: rounding must not decide a guess


@checked
def gaussian_error(rss: ArrayLike, n: int, p: int) -> Error:
    """Return log pi(y, f) of a linear model: normal around f, with variance RSS / (n - p) of the released model.

    Parameters
    ----------
    rss : array of shape (...)
        Residual sum of squares of each released model on its training records; for least squares f(theta).
    n, p : int
        Numbers of training records and of coefficients.

    Returns
    -------
    function of (y, prediction), of shapes (n,) and (..., k, n); a term that does not depend on f is left out

    Examples
    --------
    >>> log_pi = gaussian_error(2.0, n=3, p=1)  # variance 1
    >>> log_pi(np.array([3.0]), np.array([[1.0]])).tolist()
    [[-2.0]]
    """
    if checks.count(n, "n") <= checks.count(p, "p"):
        raise InputError(f"n is {n}, for {p} coefficients: give more records")
    variance = np.asarray(checks.numeric(rss, "rss"), dtype=np.float64) / (n - p)
    if not ((variance > 0) & np.isfinite(variance)).all():
        raise InputError("rss is not finite and above zero, so the error has no law: give that of a model with errors")
    return lambda y, f: -((y - f) ** 2) / (2 * variance[..., None, None])


@checked
def confusion_error(y: ArrayLike, predicted: ArrayLike, smoothing: float = 1.0) -> Error:
    """Return log pi(y, f) of a classifier: the share of label y among the records it gives the label f.

    Parameters
    ----------
    y : array of shape (n,), of labels 0 and 1
    predicted : array of shape (..., n), of labels 0 and 1
    smoothing : float
        Added to each of the four counts, since a noisy model may give one label only.

    Returns
    -------
    function of (y, prediction), of shapes (n,) and (..., k, n)

    Examples
    --------
    >>> log_pi = confusion_error([0, 0, 1, 1], [0, 0, 0, 1])  # label 0 given to 0, 0, 1: shares 3/5 and 2/5
    >>> np.exp(log_pi(np.array([0, 1]), np.array([[0, 0]]))).round(3).tolist()
    [[0.6, 0.4]]
    """
    target, fitted = checks.vector(y, "y"), np.asarray(checks.numeric(predicted, "predicted"))
    if fitted.ndim == 0 or fitted.shape[-1] != len(target):
        raise InputError(f"predicted has shape {fitted.shape} and y {len(target)} entries: give one per record")
    for name, labels in (("y", target), ("predicted", fitted)):
        if labels.dtype != bool and (bad := (labels != 0) & (labels != 1)).any():
            raise InputError(f"{name} holds {labels[bad][0]:g}: give labels 0 and 1 only")
    checks.within_reach(checks.positive(smoothing, "smoothing"), "smoothing")
    said, positives, n = fitted == 1, target.sum(), len(target)
    hit, one = (said & (target == 1)).sum(-1), said.sum(-1)
    counts = np.stack([n - positives - one + hit, one - hit, positives - hit, hit], axis=-1) + smoothing
    table = counts.reshape(*counts.shape[:-1], 2, 2)  # (label, prediction)
    log_pi = np.log(table / table.sum(axis=-2, keepdims=True))

    def error(y: FloatArray, f: FloatArray) -> FloatArray:
        label = np.asarray(y, dtype=np.intp)
        zero, one = (log_pi[..., None, label, prediction] for prediction in (0, 1))
        return np.asarray(np.where(f > 0.5, one, zero))

    return error


@checked
def scores(
    predict: Predict, X: ArrayLike, y: ArrayLike, sensitive: Attribute, error: Error, unknown: Sequence[Attribute] = ()
) -> FloatArray:
    """Return the attack's log-score of every value for every target, of shape (..., n, k).

    Parameters
    ----------
    predict : function of rows (m, d), returning (m,), or (..., m) for a stack of models
        The released model, or models.
    X : array of shape (n, d)
        The targets. In the columns of unknown attributes any finite number will do.
    y : array of shape (n,)
        Their responses, which the attacker knows.
    sensitive : Attribute
        What is to be guessed, with the prior the attacker has.
    error : function of (y, prediction), such as `gaussian_error` and `confusion_error` return
    unknown : sequence of Attribute
        What else the attacker does not know; it is summed out with its prior.

    Examples
    --------
    A model y = x + 2 s and the target (x, s) = (1, ?) with y = 3 and unit variance.

    >>> s = Attribute((1,), [[0.0], [1.0]], prior=[0.5, 0.5])
    >>> out = scores(lambda rows: rows @ [1.0, 2.0], [[1.0, 0.0]], [3.0], s, lambda y, f: -(y - f) ** 2 / 2)
    >>> out.round(3).tolist()  # log(1/2) - 2 and log(1/2)
    [[-2.693, -0.693]]
    """
    likely = _likelihoods(predict, X, y, sensitive, error, unknown)
    return np.asarray(np.swapaxes(likely, -1, -2) + _log(sensitive.prior))


@checked
def map_attack(
    predict: Predict, X: ArrayLike, y: ArrayLike, sensitive: Attribute, error: Error, unknown: Sequence[Attribute] = ()
) -> Codes:
    """Return the code the attack guesses for every target, of shape (..., n): the value with the largest score.

    Ties go to the larger prior, then to the smaller code, so the guess is the same on every machine.

    Parameters
    ----------
    predict, X, y, sensitive, error, unknown
        As in `scores`.

    Examples
    --------
    >>> s = Attribute((1,), [[0.0], [1.0]], prior=[0.5, 0.5])
    >>> map_attack(lambda rows: rows @ [1.0, 2.0], [[1.0, 0.0]], [3.0], s, lambda y, f: -(y - f) ** 2 / 2).tolist()
    [1]
    """
    return _best(scores(predict, X, y, sensitive, error, unknown), sensitive)


@checked
def accuracy(predict: Predict, X: ArrayLike, y: ArrayLike, sensitive: Attribute, error: Error) -> FloatArray:
    """Return the share of targets whose value the attack guesses right, of shape (...); it reads their values.

    Parameters
    ----------
    predict, X, y, sensitive, error
        As in `scores`.

    Examples
    --------
    >>> s = Attribute((1,), [[0.0], [1.0]])
    >>> log_pi = gaussian_error(2.0, n=3, p=1)
    >>> float(accuracy(lambda rows: rows @ [1.0, 2.0], [[1.0, 1.0], [1.0, 1.0]], [3.0, 1.0], s, log_pi))
    0.5
    """
    return accuracies(predict, X, y, sensitive, error, [sensitive.prior])[0]


@checked
def accuracies(
    predict: Predict,
    X: ArrayLike,
    y: ArrayLike,
    sensitive: Attribute,
    error: Error,
    priors: Sequence[FloatArray | None],
) -> list[FloatArray]:
    """Return `accuracy` for attackers who differ in their prior only; the model is asked once for all of them.

    Parameters
    ----------
    predict, X, y, sensitive, error
        As in `scores`.
    priors : sequence of arrays of shape (k,), or None for one without marginals

    Examples
    --------
    >>> s, log_pi = Attribute((1,), [[0.0], [1.0]]), gaussian_error(2.0, n=3, p=1)
    >>> rows = [[1.0, 1.0], [1.0, 1.0]]
    >>> found = accuracies(lambda rows: rows @ [1.0, 2.0], rows, [3.0, 1.0], s, log_pi, [None, [0.01, 0.99]])
    >>> [float(share) for share in found]
    [0.5, 1.0]
    """
    (rows, target), truth = _targets(X, y, sensitive), sensitive.codes(X)
    attackers = [replace(sensitive, prior=prior) for prior in priors]
    right: list[Any] = [0] * len(attackers)
    for start in range(0, len(rows), BLOCK):
        part = slice(start, start + BLOCK)
        likely = np.swapaxes(_likelihoods(predict, rows[part], target[part], sensitive, error, ()), -1, -2)
        for k, who in enumerate(attackers):
            right[k] += (_best(likely + _log(who.prior), who) == truth[part]).sum(axis=-1)
    return [np.asarray(count / len(rows)) for count in right]


@checked
def guess_without_model(
    public_X: ArrayLike, public_y: ArrayLike, X: ArrayLike, y: ArrayLike, sensitive: Attribute, classifier: Any
) -> Codes:
    """Return the guesses of an attacker who has no model, but public records with the sensitive attribute.

    Parameters
    ----------
    public_X, public_y : arrays of shape (m, d) and (m,)
        Records like those of the targets, none of them a target.
    X, y : arrays of shape (n, d) and (n,)
        The targets; the sensitive columns are not read.
    sensitive : Attribute
    classifier : scikit-learn classifier
        It learns the value from the response and the other inputs.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> s = Attribute((0,), [[0.0], [1.0]])
    >>> public = [[0, 5.0], [0, 6.0], [1, 1.0], [1, 2.0]]
    >>> guess_without_model(public, [1] * 4, [[9, 1.5]], [1], s, DecisionTreeClassifier()).tolist()
    [1]
    """
    if not hasattr(classifier, "fit"):
        raise InputError(f"classifier is of type {type(classifier).__name__}: give a scikit-learn classifier")
    known, targets = rows_of(limits.reals(public_X, "public_X"), sensitive), rows_of(X, sensitive)
    for name, rows, responses in (("public_y", known, public_y), ("y", targets, y)):
        if len(checks.vector(responses, name)) != len(rows):
            raise InputError(f"{name} has {len(np.asarray(responses))} entries for {len(rows)} records: give one each")
    if known.shape[1] != targets.shape[1]:
        raise InputError(f"public records have {known.shape[1]} columns and targets {targets.shape[1]}: match them")
    seen = [np.column_stack([np.delete(A, sensitive.columns, axis=1), b]) for A, b in ((known, public_y), (targets, y))]
    return np.asarray(classifier.fit(seen[0], sensitive.codes(known)).predict(seen[1]), dtype=np.intp)


@checked
def accuracy_table(right: dict[str, tuple[ArrayLike, ArrayLike]]) -> pd.DataFrame:
    """Return attack accuracy on people inside and outside the training set, and the difference, with standard errors.

    Parameters
    ----------
    right : dict from attacker to (inside, outside)
        Each an array of shape (r,): the share of right guesses in each of r independent repetitions, at least two.

    Returns
    -------
    DataFrame with columns attacker, inside, outside, difference, and the standard error of each

    Examples
    --------
    >>> accuracy_table({"coin": ([0.5, 0.6], [0.4, 0.5])}).round(3).values.tolist()
    [['coin', 0.55, 0.05, 0.45, 0.05, 0.1, 0.0]]
    """
    rows = []
    for attacker, pair in right.items():
        inside, outside = (checks.vector(shares, f"accuracy of {attacker}") for shares in pair)
        if len(inside) != len(outside) or len(inside) < 2:
            raise InputError(
                f"{attacker!r} has {len(inside)} accuracies inside and {len(outside)} outside: give both, two at least"
            )
        row: dict[str, Any] = {"attacker": attacker}
        for name, value in (("inside", inside), ("outside", outside), ("difference", inside - outside)):
            row |= {name: value.mean(), f"s.e. {name}": value.std(ddof=1) / math.sqrt(len(value))}
        rows.append(row)
    return pd.DataFrame(rows)


@checked
def accuracy_bound(prior: ArrayLike, epsilon: float) -> FloatArray:
    """Return the best accuracy any attacker has against a member of the data behind an epsilon-private release.

    max over m of e^epsilon (p_1 + ... + p_m) / (e^epsilon + m - 1), with the prior sorted downwards: what the attacker
    knows without the release. It is attained, so nothing smaller holds for every release.

    Parameters
    ----------
    prior : array of shape (..., k)
        Of one target, or of several.
    epsilon : float

    Examples
    --------
    >>> accuracy_bound([0.5, 0.5], np.log(3)).round(9).tolist(), accuracy_bound([0.9, 0.1], np.log(3)).tolist()
    (0.75, 0.9)
    """
    p = limits.reals(prior, "prior")
    if not (p.ndim and p.size):
        raise InputError(f"prior has shape {p.shape}: give at least one share")
    total = p.sum(axis=-1, keepdims=True)
    for bad in p[(p < 0).any(axis=-1) | (total <= 0)[..., 0]].reshape(-1, p.shape[-1]):
        distribution(bad, len(bad))  # it says what is wrong
    p = p / total
    others = np.arange(p.shape[-1]) * math.exp(-checks.positive(epsilon, "epsilon"))
    return np.asarray((np.cumsum(-np.sort(-p, axis=-1), axis=-1) / (1 + others)).max(axis=-1))


@checked
def membership_bound(epsilon: float) -> float:
    """Return how far accuracy inside and outside the training set can differ: (e^epsilon - 1) / (e^epsilon + 1).

    Examples
    --------
    >>> round(membership_bound(0.1), 4)
    0.05
    """
    return math.tanh(checks.positive(epsilon, "epsilon") / 2)


@checked
def attribute_epsilon(scales: Scales, sensitive: Attribute, loss: Loss = SQUARED) -> float:
    """Return the largest privacy loss between records that differ in the sensitive attribute only, and lie in [-1, 1].

    There it is attained, and at most the epsilon of `certify` under replace, which also covers records that differ in
    everything. Here is what protects the attribute of a person whose other data are known. On a smaller domain, such as
    a ball or the corner, it is an upper bound.

    Parameters
    ----------
    scales : Scales
    sensitive : Attribute
        In scaled units: columns of the scaled record, values in [-1, 1].
    loss : Loss

    References
    ----------
    * 001: Zhang, Zhang, Xiao, Yang and Winslett, Functional Mechanism, 2012.

    Examples
    --------
    Of 001's d = 1 with noise of scale 8: x from -1 to 1 leaves x^2 alone and moves 2 t x by 4.

    >>> attribute_epsilon(Scales([[8.0]], [8.0]), Attribute((0,), [[-1.0], [1.0]]))
    0.5
    """
    for value, kind, name in ((scales, Scales, "scales"), (sensitive, Attribute, "sensitive"), (loss, Loss, "loss")):
        checks.instance(value, kind, name)
    if max(sensitive.columns) >= scales.p or (np.abs(sensitive.values) > 1).any():
        raise InputError(
            f"the attribute has columns {sensitive.columns} and values up to {np.abs(sensitive.values).max():g}: "
            f"scale it, to columns below {scales.p} and values in [-1, 1]"
        )
    z = np.ones((len(sensitive.values), scales.p + 1))  # where the other entries weigh most; the response is first
    z[:, np.add(sensitive.columns, 1)] = sensitive.values
    products = z[:, :, None] * z[:, None, :]
    change, price = np.abs(products[:, None] - products), scales.cost(loss)
    return float((np.where(change > 0, price, 0.0) * change).sum(axis=(-2, -1)).max())


@checked
def strongest_attack(noisy: Quadratic, candidates: Quadratic, scales: Scales, prior: ArrayLike) -> Codes:
    """Return the guesses of an attacker who knows every record but the sensitive attribute of one, of shape (...).

    It is Bayes' rule with the exact law of the noise, so no attacker with this prior is right more often.

    Parameters
    ----------
    noisy : Quadratic with batch (...)
        Released objectives, one or many.
    candidates : Quadratic with batch (k,)
        The exact objective for each value the attribute may have.
    scales : Scales
    prior : array of shape (k,)

    Examples
    --------
    >>> candidates = Quadratic(np.ones((2, 1, 1)), np.array([[-2.0], [2.0]]), np.zeros(2))
    >>> noisy = Quadratic(np.ones((1, 1)), np.array([1.5]), np.array(0.0))
    >>> int(strongest_attack(noisy, candidates, Scales([[8.0]], [8.0]), [0.5, 0.5]))
    1
    """
    for value, kind in ((noisy, Quadratic), (candidates, Quadratic), (scales, Scales)):
        checks.instance(value, kind, kind.__name__.lower())
    if len(candidates.batch) != 1 or not candidates.p == noisy.p == scales.p:
        raise InputError(
            f"candidates have batch {candidates.batch} and {candidates.p} columns, the release {noisy.p}: "
            "give one objective per value, with the release's columns"
        )
    if scales.batch:
        raise InputError(f"scales are stacked with shape {scales.batch}: give one choice at a time")
    weights = Attribute((0,), np.arange(candidates.batch[0], dtype=float)[:, None], np.asarray(prior))
    drawn = scales.published[1:, 1:]
    mean = candidates if scales.ordered else replace(candidates, M=candidates.symmetric)
    scale, exact, seen = (
        np.concatenate([f.M[..., drawn], f.v, np.asarray(f.c)[..., None]], axis=-1) for f in (scales, mean, noisy)
    )
    noised = scale > 0
    if np.ptp(exact[:, ~noised], axis=0).any():
        raise InputError("a coefficient that the value changes has scale zero, so the release shows it: give it noise")
    away = (np.abs(seen[..., None, :] - exact)[..., noised] / scale[noised]).sum(axis=-1)
    return _best(_log(weights.prior) - away, weights)


def _likelihoods(
    predict: Predict, X: ArrayLike, y: ArrayLike, sensitive: Attribute, error: Error, unknown: Sequence[Attribute]
) -> FloatArray:
    """Return `scores` before the prior of the sensitive attribute is in, of shape (..., k, n)."""
    checks.instance(sensitive, Attribute, "sensitive")
    for other in unknown:
        checks.instance(other, Attribute, "an unknown attribute")
    columns = [column for attribute in (sensitive, *unknown) for column in attribute.columns]
    if len(set(columns)) < len(columns):
        raise InputError(f"the attributes use the columns {columns}: give attributes that share none")
    rows, target = _targets(X, y, sensitive, *unknown)
    filled = np.repeat(rows[None], len(sensitive.values), axis=0)
    filled[:, :, list(sensitive.columns)] = sensitive.values[:, None]
    total: Any = None
    for completion in itertools.product(*(range(len(other.values)) for other in unknown)):
        weight = 0.0
        for other, code in zip(unknown, completion, strict=True):
            filled[:, :, list(other.columns)] = other.values[code]
            weight += _log(other.prior)[code]
        f = np.asarray(predict(filled.reshape(-1, rows.shape[1])))
        if f.shape[-1:] != (len(filled) * len(rows),) or not np.isfinite(f).all():
            raise InputError(f"predict gave shape {f.shape}, or not finite: give one finite number for each row")
        term = weight + error(target, f.reshape(*f.shape[:-1], *filled.shape[:2]))
        total = term if total is None else np.logaddexp(total, term)
    return np.asarray(total)


def _targets(X: ArrayLike, y: ArrayLike, *attributes: Attribute) -> tuple[FloatArray, FloatArray]:
    """Return the people who are attacked, as rows, and their responses."""
    rows, target = rows_of(X, *attributes), checks.vector(y, "y")
    if len(target) != len(rows):
        raise InputError(f"X has {len(rows)} targets and y has {len(target)}: give one response per target")
    return rows, target


def _best(found: FloatArray, attribute: Attribute) -> Codes:
    """Return the code with the largest log-score on the last axis; ties go to the larger prior, then the smaller."""
    values = np.moveaxis(found, -1, 0)
    enough = values.max(axis=0) - TIE
    best = np.empty(enough.shape, dtype=np.intp)
    for code in attribute.order[::-1]:  # the first in order is written last
        np.copyto(best, code, where=values[code] >= enough)
    return best


def _log(prior: FloatArray | None) -> FloatArray:
    assert prior is not None  # Attribute fills it in
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(prior))
