"""Faults in the law that releases the mean first, and in the repair it asks for, each of which a test must notice."""

MUTANTS = {
    "mean first: Gaussian noise for all of epsilon": (
        "dpreg.mechanisms.mean_first.mean_first",
        "for_delta(domain, epsilon, chance, **more)",
        "for_delta(domain, budgets, chance, **more)",
        "test_mean_first.py -k with_a_delta",
    ),
    "mean first: a sum that moves by one": (
        "dpreg.mechanisms.mean_first.mean_first",
        "MeanFirst(rest, REPLACED / first)",
        "MeanFirst(rest, 1.0 / first)",
        "test_mean_first.py -k 'no_pair or ledger'",
    ),
    "mean first: the rest gets all of epsilon": (
        "dpreg.mechanisms.mean_first.mean_first",
        "budgets - first * domain.intercept",
        "budgets",
        "test_mean_first.py -k no_pair",
    ),
    "mean first: the sum is free": (
        "dpreg.mechanisms.mean_first.MeanFirst.certify",
        " + REPLACED / float(self.scale_of_sum)",
        "",
        "test_mean_first.py -k no_pair",
    ),
    "mean first: the sum is not on the ledger": (
        "dpreg.mechanisms.mean_first.MeanFirst.spends",
        "return (first, *self.rest.spends(domain, neighbours, loss))",
        "return self.rest.spends(domain, neighbours, loss)",
        "test_mean_first.py -k ledger",
    ),
    "mean first: the discrete twin of the sum is half as noisy": (
        "dpreg.mechanisms.mean_first.MeanFirst.discrete",
        "float(self.scale_of_sum))",
        "float(self.scale_of_sum) / 4)",
        "test_mean_first.py -k twin_has",
    ),
    "mean first: the discrete twin leaves the first look at the sum out": (
        "dpreg.mechanisms.mean_first.MeanFirst.discrete",
        "self._merged(moments(), sums().v[0])",
        "moments()",
        "test_mean_first.py -k twin_has",
    ),
    "mean first: half the noise on the sum": (
        "dpreg.mechanisms.mean_first.MeanFirst.perturb",
        "noise.laplace(self.scale_of_sum,",
        "noise.laplace(self.scale_of_sum / 2,",
        "test_mean_first.py -k variance",
    ),
    "mean first: the second look at the sum forgotten": (
        "dpreg.mechanisms.mean_first.MeanFirst._merged",
        "v[..., 0] += self.share *",
        "v[..., 0] += 1.0 *",
        "test_mean_first.py -k variance",
    ),
    "mean first: weighted by deviations, not variances": (
        "dpreg.mechanisms.mean_first.MeanFirst.share",
        "2 * self.scale_of_sum**2",
        "2 * self.scale_of_sum",
        "test_mean_first.py -k variance",
    ),
    "mean first: n from the records where it is a secret": (
        "dpreg.mechanisms.mean_first.mean_first",
        'if checks.neighbours(neighbours) == "add_remove":',
        "if False:",
        "test_mean_first.py -k secret",
    ),
    "mean first: the estimator gives n where it is a secret": (
        "dpreg.estimators.words.law_for",
        'domain.intercept and neighbours == "replace"',
        "domain.intercept",
        "test_mean_first.py -k 'estimator_takes'",
    ),
    "mean first: a constant beyond the response": (
        "dpreg.mechanisms.mean_first.MeanFirst.constant",
        "np.clip(best, -reach, reach)",
        "best",
        "test_mean_first.py -k stays",
    ),
    "mean first: the noise of the products only": (
        "dpreg.mechanisms.mean_first.MeanFirst.constant",
        " + (2 * loss.square * best / w[1]) ** 2",
        "",
        "test_mean_first.py -k gradient",
    ),
    "lift: no shrinking towards the constant": (
        "dpreg.pipeline.repair._from_constant",
        "w[1:], f, variance)",
        "w[1:], f)",
        "test_mean_first.py -k 'hand or without_signal'",
    ),
    "lift: past zero": (
        "dpreg.pipeline.repair._lifted",
        "np.maximum(found - variance * above.sum(axis=-1), 0.0)",
        "found - variance * above.sum(axis=-1)",
        "test_mean_first.py -k hand",
    ),
    "lift: predictors not centred": (
        "dpreg.pipeline.repair._from_constant",
        "M[..., 1:, 1:] - row[..., :, None] * mean[..., None, :]",
        "M[..., 1:, 1:]",
        "test_mean_first.py -k hand",
    ),
    "lift: means that noise threw out of the domain": (
        "dpreg.pipeline.repair._from_constant",
        "np.clip(mean, -1.0, 1.0)",
        "mean",
        "test_mean_first.py -k hand",
    ),
    "a law's own entries dropped for one": (
        "dpreg.pipeline.release.price",
        "law.spends(domain, neighbours, objective.loss)",
        "law.spends(domain, neighbours, objective.loss)[:1]",
        "test_mean_first.py -k ledger",
    ),
}
