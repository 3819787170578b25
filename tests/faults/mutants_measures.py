"""Faults in dpreg/sweeps/measures.py, lib/papers/attacked_fits.py and lib/papers/fang.py."""

MUTANTS = {
    "measures see other partitions than the sweep": (
        "dpreg.sweeps.measures._partition",
        "splits.draw(*records, protocol, noise.spawn(root, repeat, 0), total)",
        "splits.draw(*records, protocol, noise.spawn(root, repeat, 5), total)",
        "test_measures.py -k 'sweep_scores'",
    ),
    "ROC curve breaks ties in order of the file": (
        "dpreg.sweeps.measures._height",
        "np.flatnonzero(np.diff(score[order]))",
        "np.arange(len(order) - 1)",
        "test_measures.py -k scikit_learn",
    ),
    "people outside taken from the training set": (
        "lib.papers.attacked_fits._people",
        "test[order[:half]], test[order[half:]]",
        "train[order[:half]], test[order[half:]]",
        "test_attacked_fits.py -k 'people_outside'",
    ),
    "marginals for who has none": (
        "lib.papers.attacked_fits.attacked.measure",
        "[known.prior, None]",
        "[known.prior, known.prior]",
        "test_attacked_fits.py -k by_hand",
    ),
    "error model of other records": (
        "lib.papers.attacked_fits.attacked.measure",
        "inversion.gaussian_error(rss[k], len(y), theta.shape[-1])",
        "inversion.gaussian_error(rss[k] / 9, len(y), theta.shape[-1])",
        "test_attacked_fits.py -k by_hand",
    ),
    "no ridge": (
        "lib.papers.fang.repaired",
        "repair.trim(repair.ridge(noisy, repair.deviations(law, k)))",
        "repair.trim(noisy)",
        "lib/test_fang.py -k 'lifts or name'",
    ),
    "DPC lifted by its largest noise": (
        "lib.papers.fang.contenders",
        "repair=partial(repaired, k=4 * DPC_RATIO)",
        "repair=partial(repaired, k=4)",
        "lib/test_fang.py -k they_name",
    ),
    "PrivR with the relevances of another budget": (
        "lib.papers.fang.privr.fit",
        "float(epsilons[column])",
        "float(epsilons[0])",
        "lib/test_fang.py -k anew",
    ),
}
