"""Faults in lib/splits.py, lib/experiment.py, lib/scores.py and lib/rivals.py that the fast tests must notice."""

MUTANTS = {
    "training on the tested fold": (
        "splits.py",
        "            yield self.used & (self.labels != fold)\n",
        "            yield self.labels == self.labels\n",
        "test_rivals.py -k scikit_learns_on_the_same_rows",
    ),
    "the linear term of another loss kept": (
        "splits.py",
        "loss.cross / SQUARED.cross * v",
        "v",
        "test_rivals.py -k quadratic_of_a_loss",
    ),
    "records left out are tested all the same": (
        "splits.py",
        "np.where(order < round(self.rate * n), order % self.folds, UNUSED)",
        "np.where(order < round(self.rate * n), order % self.folds, 0)",
        "test_rivals.py -k subset",
    ),
    "ties count as wins": (
        "scores.py",
        "rankdata(score)",
        'rankdata(score, "max")',
        "test_rivals.py -k ties",
    ),
    "the grid knows all records": (
        "rivals.py",
        "_grid(box.centred, int(kept.sum()), labels, values, c_h)",
        "_grid(box.centred, 20 * len(kept), labels, values, c_h)",
        "test_rivals.py -k dpme_is",
    ),
    "rounding decides about a trim": (
        "rivals.py",
        "if labels or signed:",
        "if True:",
        "test_rivals.py -k singular",
    ),
    "one budget for all": (
        "rivals.py",
        "enumerate(map(float, epsilons))",
        "enumerate([float(epsilons[0])] * len(epsilons))",
        "test_rivals.py -k dpme_is",
    ),
    "slow methods never stop": (
        "methods.py",
        "repeats is None or repeat < repeats",
        "True",
        "test_rivals.py -k takes_part",
    ),
}
