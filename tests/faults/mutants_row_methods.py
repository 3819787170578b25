"""Faults in splits, experiment, scores and row_methods that the fast tests must notice."""

MUTANTS = {
    "training on the tested fold": (
        "dpreg.sweeps.splits.Partition.training",
        "            yield self.used & (self.labels != fold)\n",
        "            yield self.labels == self.labels\n",
        "test_scores.py -k scikit_learns_on_the_same_rows",
    ),
    "the linear term of another loss kept": (
        "dpreg.sweeps.splits.Partition.train",
        "loss.cross / SQUARED.cross * v",
        "v",
        "test_experiment.py -k quadratic_of_a_loss",
    ),
    "records left out are tested all the same": (
        "dpreg.sweeps.splits.CrossValidation.labels",
        "np.where(order < round(self.rate * n), order % self.folds, UNUSED)",
        "np.where(order < round(self.rate * n), order % self.folds, 0)",
        "test_splits.py -k subset",
    ),
    "ties count as wins": (
        "dpreg.sweeps.scores._above",
        '("left", "right")',
        '("right", "right")',
        "test_scores.py -k ties",
    ),
    "the grid knows all records": (
        "dpreg.sweeps.row_methods._on_cells.fit",
        "_grid(box.centred, n or int(kept.sum()), labels, values, c_h)",
        "_grid(box.centred, 20 * len(kept), labels, values, c_h)",
        "test_row_methods.py -k dpme_is",
    ),
    "rounding decides about a trim": (
        "dpreg.sweeps.row_methods._on_cells.fit",
        "if labels or signed:",
        "if True:",
        "test_row_methods.py -k singular",
    ),
    "one budget for all": (
        "dpreg.sweeps.row_methods._on_cells.fit",
        "enumerate(map(float, epsilons))",
        "enumerate([float(epsilons[0])] * len(epsilons))",
        "test_row_methods.py -k dpme_is",
    ),
    "slow methods never stop": (
        "dpreg.sweeps.methods._among",
        "repeats is None or repeat < repeats",
        "True",
        "test_methods.py -k takes_part",
    ),
}
