"""Faults in lib/papers/zhang.py that the fast tests must notice."""

MUTANTS = {
    "dollars, not 001's unit": (
        "lib.papers.zhang.run",
        'box.half_width**2 if panel.metric == "mse" else 1.0',
        "1.0",
        "lib/test_zhang.py -k unit",
    ),
    "no noise, but no ridge either": (
        "lib.papers.zhang._no_noise",
        "minimise(recipe.repaired(train, one))",
        "minimise(train)",
        "lib/test_zhang.py -k no_noise",
    ),
    "never centred": (
        "lib.papers.zhang.published",
        "data.box(corner=recipe.corner, intercept=recipe.intercept)",
        "data.box(corner=True, intercept=recipe.intercept)",
        "lib/test_zhang.py -k scaling",
    ),
    "yes, not no": ("lib.papers.zhang._zero", "np.zeros((*train", "np.ones((*train", "lib/test_zhang.py -k always_no"),
    "columns of another panel": (
        "lib.papers.zhang._columns",
        "whole.names.index(name) for name in part.names",
        "whole.names.index(name) for name in sorted(part.names)",
        "lib/test_zhang.py -k panels",
    ),
    "margins forgotten": (
        "lib.papers.zhang.wins",
        "private.loc[method] + margins[kind] < private",
        "private.loc[method] < private",
        "lib/test_zhang.py -k points_won",
    ),
}
