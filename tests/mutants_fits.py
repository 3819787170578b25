"""Faults in lib/fits.py, lib/exposure.py and lib/contenders.py."""

MUTANTS = {
    "measures see other partitions than the sweep": (
        "fits.py",
        "splits.draw(*records, protocol, noise.spawn(root, repeat, 0), total)",
        "splits.draw(*records, protocol, noise.spawn(root, repeat, 5), total)",
        "test_fits.py -k 'sweep_scores'",
    ),
    "ROC curve breaks ties in order of the file": (
        "fits.py",
        "np.flatnonzero(np.diff(score[order]))",
        "np.arange(len(order) - 1)",
        "test_fits.py -k scikit_learn",
    ),
    "people outside taken from the training set": (
        "exposure.py",
        "test[order[:half]], test[order[half:]]",
        "train[order[:half]], test[order[half:]]",
        "test_fits.py -k 'people_outside'",
    ),
    "marginals for who has none": (
        "exposure.py",
        "[known.prior, None]",
        "[known.prior, known.prior]",
        "test_fits.py -k by_hand",
    ),
    "error model of other records": (
        "exposure.py",
        "inversion.gaussian_error(rss[k], len(y), theta.shape[-1])",
        "inversion.gaussian_error(rss[k] / 9, len(y), theta.shape[-1])",
        "test_fits.py -k by_hand",
    ),
    "no ridge": (
        "contenders.py",
        "repair.trim(repair.ridge(noisy, repair.deviations(law, k)))",
        "repair.trim(noisy)",
        "test_fits.py -k 'lifts or name'",
    ),
    "DPC lifted by its largest noise": (
        "contenders.py",
        "mend=partial(repaired, k=4 * DPC_RATIO)",
        "mend=partial(repaired, k=4)",
        "test_fits.py -k they_name",
    ),
    "PrivR with the relevances of another budget": (
        "contenders.py",
        "float(epsilons[column])",
        "float(epsilons[0])",
        "test_fits.py -k anew",
    ),
}
