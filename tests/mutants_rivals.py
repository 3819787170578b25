"""Faults in lib/splits.py, lib/experiment.py, lib/scores.py and lib/rivals.py that the fast tests must notice."""

MUTANTS = {
    "training on the tested fold": (
        "splits.py",
        "            rows = self.labels != fold\n",
        "            rows = self.labels == self.labels\n",
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
        "cells = _grid(partition, len(y), labels, values, c_h)",
        "cells = _grid(partition, 20 * len(partition.y), labels, values, c_h)",
        "test_rivals.py -k dpme_is",
    ),
    "rounding decides about a trim": (
        "rivals.py",
        "if signed and isinstance",
        "if isinstance",
        "test_rivals.py -k singular",
    ),
    "one budget for all": (
        "rivals.py",
        "_solved(publish(counts, float(epsilon), rng), labels, signed) for epsilon in epsilons",
        "_solved(publish(counts, float(epsilons[0]), rng), labels, signed) for epsilon in epsilons",
        "test_rivals.py -k dpme_is",
    ),
    "slow methods never stop": (
        "experiment.py",
        "self.repeats is None or repeat < self.repeats",
        "True",
        "test_rivals.py -k takes_part",
    ),
}
