"""Bad input for dpreg.sweeps.tukey."""

from dpreg.sweeps import tukey

CASES = {
    "tukey.tukey_em": [
        ("delta is 0: give", lambda: tukey.tukey_em("t", 0.0)),
        ("size is 0: give", lambda: tukey.tukey_em("t", 1e-6, size=0)),
        ("repeats is 0: give", lambda: tukey.tukey_em("t", 1e-6, repeats=0)),
    ],
    "tukey.budgets": [
        ("epsilon is 0: give", lambda: tukey.budgets(0.0, 1e-6)),
        ("delta is 0.6: give at most .5", lambda: tukey.budgets(1.0, 0.6)),
        ("give .* less than 5e-07 at an epsilon of 1e-06", lambda: tukey.budgets(1e-6, 1e-6)),
    ],
}
EXEMPT = {
    f"tukey.{name}": "inner step of tukey_em"
    for name in ("models", "log_volumes", "log_weights", "distance", "failure", "deep_points")
}
