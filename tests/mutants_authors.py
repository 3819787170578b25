"""Faults in the two recipes that their tests must notice."""

MUTANTS = {
    "authors: sensitivity of p columns without the constant": (
        "authors.py",
        "unit.times(self.sensitivity(domain.p, loss) / checks.epsilons(epsilon))",
        "unit.times(self.sensitivity(domain.d, loss) / checks.epsilons(epsilon))",
        "test_authors.py -k 'cost_of or ledger'",
    ),
    "authors: room taken twice": (
        "authors.py",
        "printed_linear(p) - 2.0 + self.room",
        "printed_linear(p) + self.room",
        "test_authors.py -k by_hand",
    ),
    "authors: not averaged but the upper triangle taken": (
        "authors.py",
        "averaged = replace(noisy, M=noisy.symmetric)",
        "averaged = replace(noisy, M=np.triu(noisy.M) + np.swapaxes(np.triu(noisy.M, 1), -1, -2))",
        "test_authors.py -k 'repairs_by_hand'",
    ),
    "authors: ridge of the wrong recipe": (
        "authors.py",
        "repair.deviations(scales, self.deviations)",
        "repair.deviations(scales)",
        "test_authors.py -k 'by_hand'",
    ),
    "authors: floor forgotten": (
        "authors.py",
        ", self.floor)",
        ")",
        "test_authors.py -k floors_by_hand",
    ),
    "authors: constant column not the recipe's": (
        "authors.py",
        "intercept=self.intercept, corner=self.corner",
        "intercept=True, corner=self.corner",
        "test_authors.py -k 'domains_by_hand or keeps'",
    ),
    "authors: changes of one step lost": (
        "authors.py",
        "        current = changed(current, name)",
        "        current = changed(PAPER, name)",
        "test_authors.py -k differ_as_described",
    ),
}
