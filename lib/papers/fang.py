"""The methods that 004 compares, all with the repairs of 001, beside the best release of this library."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from dpreg import checks
from dpreg.arguments import checked
from dpreg.checks import FloatArray
from dpreg.mechanisms import budget_split, wishart
from dpreg.pipeline import repair, solve
from dpreg.pipeline.domain import Ball, Box, Domain
from dpreg.pipeline.laws import Law, functional
from dpreg.pipeline.objective import SQUARED, Loss, Quadratic
from dpreg.pipeline.release import perturb
from dpreg.sweeps.experiment import mechanism
from dpreg.sweeps.methods import Method

DPC_RATIO = 0.01  # epsilon_s / epsilon_n in the program of DPC's authors
RULES: tuple[budget_split.Split, ...] = ("printed", "proportional", "variance", "l1")


@checked
def repaired(noisy: Quadratic, law: Law, k: float = 4.0) -> Quadratic:
    """Return the noisy objective with 001's repairs: a ridge of k standard deviations of its noise, and a trim at zero.

    Examples
    --------
    >>> from dpreg.pipeline.laws import unit_scales
    >>> repaired(Quadratic(np.diag([5.0, -9.0]), np.zeros(2), np.array(0.0)), unit_scales("triangle", 2)).M.round(2)
    array([[10.66,  0.  ],
           [ 0.  ,  0.  ]])
    """
    return repair.trim(repair.ridge(noisy, repair.deviations(law, k)))


@checked
def privr(name: str = "PrivR, reconstructed", *, loss: Loss = SQUARED) -> Method:
    """Return PrivR as far as 004 describes it: relevances are released anew from each training set and budget.

    The sensitivities are those that 004 prints, as for the others; see `budget_split.privr`.

    Examples
    --------
    >>> privr().private
    True
    """

    def fit(train: Quadratic, epsilons: FloatArray, rng: np.random.Generator) -> FloatArray:
        theta = np.empty((len(train.v), len(epsilons), train.p))
        for (split, column), _ in np.ndenumerate(theta[..., 0]):
            f = train[split, 0]
            first = budget_split.privr(f, float(epsilons[column]), sensitivity="printed", random_state=rng)
            theta[split, column] = solve.minimise(repaired(perturb(f, first.scales, rng), first.scales))
        return theta

    return Method(name, fit, loss=loss)


@checked
def contenders(domain: Domain, sensitive: Sequence[int], *, loss: Loss = SQUARED) -> list[Method]:
    """Return FM, DPC, PrivR and DPBA with printed sensitivities, DPBA with the best split, and the Wishart difference.

    The ridge of DPC is set by the noise on the predictors that are not sensitive; by the other noise, it would be a
    hundred times as large. The best split is the one with the least variance, a function of d alone.

    Parameters
    ----------
    domain : Box or Ball
        Centred.
    sensitive : sequence of int
        Predictors that DPC protects.
    loss : Loss

    Examples
    --------
    >>> from lib.data.census import census
    >>> [method.name for method in contenders(census("US", 100).box(), [2, 3])]
    ['FM', 'DPC', 'PrivR, reconstructed', 'DPBA, printed', 'DPBA, best split', 'Wishart difference']
    """
    checks.instance(domain, (Box, Ball), "domain")
    add = partial(mechanism, domain=domain, loss=loss)
    fm = functional(domain, 1.0, sensitivity="printed", convention="monomial", loss=loss)
    dpc = budget_split.dpc(domain, 1.0, sensitive, ratio=DPC_RATIO, loss=loss)
    return [
        add("FM", law=fm, repair=repaired),
        add("DPC", law=dpc, repair=partial(repaired, k=4 * DPC_RATIO)),
        privr(loss=loss),
        add("DPBA, printed", law=budget_split.dpba(domain, 1.0, loss=loss), repair=repaired),
        add("DPBA, best split", law=budget_split.dpba(domain, 1.0, split="variance", loss=loss), repair=repaired),
        add("Wishart difference", law=wishart.difference(domain, 1.0, loss=loss)),
    ]


@checked
def every_split(domain: Domain, grid: Sequence[float], *, loss: Loss = SQUARED) -> list[Method]:
    """Return DPBA with each share of `grid` for the quadratic part, and with those of all rules, named by their share.

    Parameters
    ----------
    domain : Box or Ball
    grid : sequence of float, between 0 and 1
    loss : Loss

    Examples
    --------
    >>> from lib.data.census import census
    >>> [method.name for method in every_split(census("US", 100).box(), [0.5])]
    ['0.500000', '0.866667', '0.869495', '0.870891', '0.999545']
    """
    checks.instance(domain, (Box, Ball), "domain")
    tried = {*grid, *(budget_split.share(domain.p, rule, loss=loss) for rule in RULES)}
    laws = {share: budget_split.dpba(domain, 1.0, split=share, loss=loss) for share in sorted(tried)}
    return [mechanism(f"{share:.6f}", domain, law, repair=repaired, loss=loss) for share, law in laws.items()]
