"""Faults in dpreg/attacks/inversion.py."""

MUTANTS = {
    "all attackers have one prior": (
        "dpreg.attacks.inversion.accuracies",
        "likely + _log(who.prior), who",
        "likely + _log(sensitive.prior), who",
        "test_attacked_fits.py -k by_hand",
    ),
    "attack without its prior": (
        "dpreg.attacks.inversion.scores",
        "np.swapaxes(likely, -1, -2) + _log(sensitive.prior)",
        "np.swapaxes(likely, -1, -2) + 0 * _log(sensitive.prior)",
        "test_inversion.py -k 'by_hand or definition'",
    ),
    "unknown attributes not weighted": (
        "dpreg.attacks.inversion._likelihoods",
        "weight += _log(other.prior)[code]",
        "weight += 0.0",
        "test_inversion.py -k 'definition or known'",
    ),
    "confusion table normalised along the wrong side": (
        "dpreg.attacks.inversion.confusion_error",
        "table.sum(axis=-2, keepdims=True)",
        "table.sum(axis=-1, keepdims=True)",
        "test_inversion.py -k confusion",
    ),
    "variance without degrees of freedom": (
        "dpreg.attacks.inversion.gaussian_error",
        "dtype=np.float64) / (n - p)",
        "dtype=np.float64) / n",
        "test_inversion.py -k 'by_hand or stack'",
    ),
    "ties to the smaller prior": (
        "dpreg.attacks.attribute.Attribute.order",
        'np.argsort(-np.asarray(self.prior), kind="stable")',
        'np.argsort(np.asarray(self.prior), kind="stable")',
        "test_inversion.py -k ties_go",
    ),
    "rounding decides ties": (
        "dpreg.attacks.inversion._best",
        "values.max(axis=0) - TIE",
        "values.max(axis=0)",
        "test_inversion.py -k ties",
    ),
    "classifier reads the answer": (
        "dpreg.attacks.inversion.guess_without_model",
        "np.delete(A, sensitive.columns, axis=1)",
        "np.delete(A, [], axis=1)",
        "test_inversion.py -k 'without_a_model or never_reads'",
    ),
    "bound for two values only": (
        "dpreg.attacks.inversion.accuracy_bound",
        "/ (1 + others)).max(axis=-1)",
        "/ (1 + others))[..., :2].max(axis=-1)",
        "test_inversion.py -k bound",
    ),
    "sums for products within the attribute": (
        "dpreg.attacks.inversion.attribute_epsilon",
        "products = z[:, :, None] * z[:, None, :]",
        "products = z[:, :, None] + z[:, None, :] - 1",
        "test_inversion.py -k 'worst_pair'",
    ),
    "strongest attack blind to the linear part": (
        "dpreg.attacks.inversion.strongest_attack",
        "noised = scale > 0",
        "noised = (scale > 0) & (np.arange(scale.size) < scale.size - scales.p - 1)",
        "test_inversion.py -k strongest",
    ),
    "strongest attack blind to the constant": (
        "dpreg.attacks.inversion.strongest_attack",
        "np.asarray(f.c)[..., None]]",
        "0 * np.asarray(f.c)[..., None]]",
        "test_inversion.py -k every_number",
    ),
}
