"""Faults in the auditor itself, each of which a test must notice."""

MUTANTS = {
    "audit: what differs passes": (
        "dpreg.audit.budget_algebra._sums",
        "claimed if same else math.inf",
        "claimed",
        "test_budget_algebra.py -k wrong",
    ),
    "audit: shapes alone are compared": (
        "dpreg.audit.metamorphic._same",
        "one.shape == other.shape and",
        "one.shape == other.shape or",
        "test_metamorphic.py -k broken",
    ),
    "audit: the best pair is missed": (
        "dpreg.audit.sensitivity_search.worst",
        "divmod(int(losses.argmax())",
        "divmod(int(losses.argmin())",
        "test_sensitivity_search.py -k 'proved or words'",
    ),
    "audit: the largest correlation is not looked at": (
        "dpreg.audit.noise_law._correlated",
        "all_of_them.max()",
        "all_of_them.min()",
        "test_noise_law.py -k shared",
    ),
    "audit: the derivative forgotten in a change of variables": (
        "dpreg.audit.privacy_loss.quadratic_density",
        "log_v - size",
        "log_v",
        "test_privacy_loss.py -k that_of_its_releases",
    ),
    "audit: half a degree of freedom more": (
        "dpreg.audit.residuals.ChiSquareDifference._upper",
        "a = (self.freedom - 1) / 2",
        "a = self.freedom / 2",
        "test_residuals.py -k difference",
    ),
}
