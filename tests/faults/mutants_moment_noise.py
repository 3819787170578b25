"""Faults in what laws on all moments share, each of which a test must notice."""

MUTANTS = {
    "moment noise: the count public to everybody": (
        "dpreg.mechanisms.moment_noise.MomentNoise._priced",
        'return not self.public_count or (domain.intercept and neighbours == "replace")',
        "return True",
        "test_moment_noise.py -k public",
    ),
    "moment noise: any weights": (
        "dpreg.mechanisms.moment_noise.in_range",
        "((w > 1e-50) & (w < 1e50)).all()",
        "(weights > 0).all()",
        "test_moment_noise.py -k extreme",
    ),
    "moment noise: a multiple forgets what is public": (
        "dpreg.mechanisms.moment_noise.MomentNoise.times",
        "spread=self.spread * f)",
        "spread=self.spread * f, public_count=False)",
        "test_moment_noise.py -k multiple",
    ),
    "moment noise: the sum of squares goes out as it is": (
        "dpreg.mechanisms.moment_noise.MomentNoise.perturb",
        "objective.c + self.loss.constant * change[..., 0, 0]",
        "np.broadcast_to(objective.c, batch)",
        "test_moment_noise.py -k go_out",
    ),
    "moment noise: labels' squares go out": (
        "dpreg.mechanisms.moment_noise.MomentNoise.perturb",
        "np.zeros(batch) if self.loss.labels",
        "np.zeros(batch) if False",
        "test_moment_noise.py -k go_out",
    ),
}
