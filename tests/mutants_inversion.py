"""Faults in lib/inversion.py."""

MUTANTS = {
    "all attackers have one prior": (
        "inversion.py",
        "likely + _log(who.prior), who",
        "likely + _log(sensitive.prior), who",
        "test_fits.py -k by_hand",
    ),
    "attack without its prior": (
        "inversion.py",
        "np.swapaxes(likely, -1, -2) + _log(sensitive.prior)",
        "np.swapaxes(likely, -1, -2) + 0 * _log(sensitive.prior)",
        "test_inversion.py -k 'by_hand or definition'",
    ),
    "unknown attributes not weighted": (
        "inversion.py",
        "weight += _log(other.prior)[code]",
        "weight += 0.0",
        "test_inversion.py -k 'definition or known'",
    ),
    "confusion table normalised along the wrong side": (
        "inversion.py",
        "table.sum(axis=-2, keepdims=True)",
        "table.sum(axis=-1, keepdims=True)",
        "test_inversion.py -k confusion",
    ),
    "variance without degrees of freedom": (
        "inversion.py",
        "dtype=np.float64) / (n - p)",
        "dtype=np.float64) / n",
        "test_inversion.py -k 'by_hand or stack'",
    ),
    "ties to the smaller prior": (
        "attribute.py",
        'np.argsort(-np.asarray(self.prior), kind="stable")',
        'np.argsort(np.asarray(self.prior), kind="stable")',
        "test_inversion.py -k ties_go",
    ),
    "rounding decides ties": (
        "inversion.py",
        "values.max(axis=0) - TIE",
        "values.max(axis=0)",
        "test_inversion.py -k ties",
    ),
    "classifier reads the answer": (
        "inversion.py",
        "np.delete(A, sensitive.columns, axis=1)",
        "np.delete(A, [], axis=1)",
        "test_inversion.py -k 'without_a_model or never_reads'",
    ),
    "bound for two values only": (
        "inversion.py",
        "/ (1 + others)).max(axis=-1)",
        "/ (1 + others))[..., :2].max(axis=-1)",
        "test_inversion.py -k bound",
    ),
    "sums for products within the attribute": (
        "inversion.py",
        "products = z[:, :, None] * z[:, None, :]",
        "products = z[:, :, None] + z[:, None, :] - 1",
        "test_inversion.py -k 'worst_pair'",
    ),
    "strongest attack blind to the linear part": (
        "inversion.py",
        "noised = scale > 0",
        "noised = (scale > 0) & (np.arange(scale.size) < scale.size - scales.p - 1)",
        "test_inversion.py -k strongest",
    ),
    "strongest attack blind to the constant": (
        "inversion.py",
        "np.asarray(f.c)[..., None]]",
        "0 * np.asarray(f.c)[..., None]]",
        "test_inversion.py -k every_number",
    ),
}
