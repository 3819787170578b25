"""Faults in the two recipes that their tests must notice."""

MUTANTS = {
    "authors: sensitivity of p columns without the constant": (
        "dpreg.mechanisms.fm_recipes.Recipe.scales",
        "unit.times(self.sensitivity(domain.p, loss) / checks.epsilons(epsilon))",
        "unit.times(self.sensitivity(domain.d, loss) / checks.epsilons(epsilon))",
        "test_fm_recipes.py -k 'cost_of or ledger'",
    ),
    "authors: room taken twice": (
        "dpreg.mechanisms.fm_recipes.Recipe.sensitivity",
        "printed_linear(p) - 2.0 + self.room",
        "printed_linear(p) + self.room",
        "test_fm_recipes.py -k by_hand",
    ),
    "authors: not averaged but the upper triangle taken": (
        "dpreg.mechanisms.fm_recipes.Recipe.repaired",
        "averaged = replace(noisy, M=noisy.symmetric)",
        "averaged = replace(noisy, M=np.triu(noisy.M) + np.swapaxes(np.triu(noisy.M, 1), -1, -2))",
        "test_fm_recipes.py -k 'repairs_by_hand'",
    ),
    "authors: ridge of the wrong recipe": (
        "dpreg.mechanisms.fm_recipes.Recipe.repaired",
        "repair.deviations(scales, self.deviations)",
        "repair.deviations(scales)",
        "test_fm_recipes.py -k 'by_hand'",
    ),
    "authors: floor forgotten": (
        "dpreg.mechanisms.fm_recipes.Recipe.repaired",
        ", self.floor)",
        ")",
        "test_fm_recipes.py -k floors_by_hand",
    ),
    "authors: constant column not the recipe's": (
        "dpreg.mechanisms.fm_recipes.Recipe.domain",
        "intercept=self.intercept, corner=self.corner",
        "intercept=True, corner=self.corner",
        "test_fm_recipes.py -k 'domains_by_hand or keeps'",
    ),
    "authors: changes of one step lost": (
        "dpreg.mechanisms.fm_recipes.path",
        "        current = changed(current, name)",
        "        current = changed(PAPER, name)",
        "test_fm_recipes.py -k differ_as_described",
    ),
}
