"""Faults in lib/panels.py that the fast tests must notice."""

MUTANTS = {
    "dollars, not 001's unit": (
        "panels.py",
        'box.half_width**2 if metric == "mse" else 1.0',
        "1.0",
        "test_zhang.py -k unit",
    ),
    "no noise, but no ridge either": (
        "panels.py",
        "minimise(recipe.repaired(train, one))",
        "minimise(train)",
        "test_zhang.py -k no_noise",
    ),
    "never centred": (
        "panels.py",
        "data.box(corner=recipe.corner, intercept=recipe.intercept)",
        "data.box(corner=True, intercept=recipe.intercept)",
        "test_zhang.py -k scaling",
    ),
    "yes, not no": ("panels.py", "return np.zeros((len", "return np.ones((len", "test_zhang.py -k always_no"),
    "other partitions on the other box": (
        "panels.py",
        "random_state=root",
        "random_state=np.random.SeedSequence()",
        "test_zhang.py -k same_partitions",
    ),
}
