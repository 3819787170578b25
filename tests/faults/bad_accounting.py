"""Bad input for dpreg.accounting."""

import math

from dpreg import accounting
from dpreg.accounting import MeanCDP

NAN, INF = math.nan, math.inf
COST = MeanCDP(0.1, 0.2)

CASES = {
    "accounting.advanced": [
        ("exceeds every float", lambda: accounting.advanced(1e301, 2, 0.1)),
        ("epsilon is -1: give", lambda: accounting.advanced(-1.0, 2, 0.1)),
        ("epsilon is inf: give", lambda: accounting.advanced(INF, 2, 0.1)),
        ("k is 0: give", lambda: accounting.advanced(1.0, 0, 0.1)),
        ("k is 2.5: give", lambda: accounting.advanced(1.0, 2.5, 0.1)),
        ("delta is 0: give", lambda: accounting.advanced(1.0, 2, 0.0)),
        ("delta is 1: give", lambda: accounting.advanced(1.0, 2, 1.0)),
        ("delta is nan", lambda: accounting.advanced(1.0, 2, NAN)),
    ],
    "accounting.advanced_share": [
        ("total is 0: give", lambda: accounting.advanced_share(0.0, 2, 0.1)),
        ("k is -1: give", lambda: accounting.advanced_share(1.0, -1, 0.1)),
        ("delta is -0.1: give", lambda: accounting.advanced_share(1.0, 2, -0.1)),
    ],
    "accounting.optimal": [
        ("numbers of lies are likely", lambda: accounting.optimal(1e-3, 10**15, 0.1)),
        ("epsilon is 'a': give", lambda: accounting.optimal("a", 2, 0.1)),
        ("k is True: give", lambda: accounting.optimal(1.0, True, 0.1)),
        ("delta is 2: give", lambda: accounting.optimal(1.0, 2, 2.0)),
    ],
    "accounting.optimal_share": [
        ("total is 0: give", lambda: accounting.optimal_share(0.0, 2, 0.1)),
        ("k is 0: give", lambda: accounting.optimal_share(1.0, 0, 0.1)),
    ],
    "accounting.MeanCDP": [
        ("mu is -1: give", lambda: MeanCDP(-1.0, 1.0)),
        ("tau is inf: give", lambda: MeanCDP(1.0, INF)),
    ],
    "accounting.MeanCDP.from_pure": [
        ("epsilon is nan: give", lambda: MeanCDP.from_pure(NAN)),
        ("quoted is 'yes': give", lambda: MeanCDP.from_pure(1.0, quoted="yes")),
        ("epsilon is 800: .* use quoted=False", lambda: MeanCDP.from_pure(800.0, quoted=True)),
    ],
    "accounting.MeanCDP.epsilon": [
        ("delta is 0: give", lambda: COST.epsilon(0.0)),
        ("delta is None: give", lambda: COST.epsilon(None)),
    ],
    "accounting.zcdp_from_pure": [("epsilon is -2: give", lambda: accounting.zcdp_from_pure(-2.0))],
    "accounting.zcdp_from_laplace": [("epsilon is -2: give", lambda: accounting.zcdp_from_laplace(-2.0))],
    "accounting.laplace_for": [
        ("rho is 0: give", lambda: accounting.laplace_for(0.0)),
        ("rho is nan: give", lambda: accounting.laplace_for(NAN)),
    ],
    "accounting.zcdp_to_dp": [
        ("rho is -1: give", lambda: accounting.zcdp_to_dp(-1.0, 0.1)),
        ("delta is 0: give", lambda: accounting.zcdp_to_dp(1.0, 0.0)),
        ("tight is 'no': give", lambda: accounting.zcdp_to_dp(1.0, 0.1, tight="no")),
    ],
    "accounting.rho_for": [
        ("epsilon is 0: give", lambda: accounting.rho_for(0.0, 0.1)),
        ("delta is 1: give", lambda: accounting.rho_for(1.0, 1.0)),
    ],
    "accounting.gdp_delta": [
        ("mu is -1: give", lambda: accounting.gdp_delta(-1.0, 1.0)),
        ("epsilon is -1: give", lambda: accounting.gdp_delta(1.0, -1.0)),
    ],
    "accounting.gdp_epsilon": [
        ("mu is inf: give", lambda: accounting.gdp_epsilon(INF, 0.1)),
        ("delta is 0: give", lambda: accounting.gdp_epsilon(1.0, 0.0)),
    ],
    "accounting.gdp_mu": [
        ("epsilon is -1: give", lambda: accounting.gdp_mu(-1.0, 0.1)),
        ("delta is 1: give", lambda: accounting.gdp_mu(1.0, 1.0)),
    ],
    "accounting.gaussian_deviation": [
        ("sensitivity is 0: give", lambda: accounting.gaussian_deviation(0.0, 1.0, 0.1)),
        ("delta is 0: give", lambda: accounting.gaussian_deviation(1.0, 1.0, 0.0)),
    ],
    "accounting.classical_deviation": [
        ("sensitivity is -1: give", lambda: accounting.classical_deviation(-1.0, 1.0, 0.1)),
        ("epsilon is 0: give", lambda: accounting.classical_deviation(1.0, 0.0, 0.1)),
        ("delta is 1.5: give", lambda: accounting.classical_deviation(1.0, 1.0, 1.5)),
    ],
}
EXEMPT = {}
