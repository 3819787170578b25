"""Faults in lib/categories.py and in the boxes of lib/plot.py that the fast tests must notice."""

MUTANTS = {
    "a group's sum in the user's units": (
        "categories.py",
        "constants[0, place] = 1 - domain.shift[group].sum()",
        "constants[0, place] = 1.0",
        "test_categories.py -k silent_directions_are",
    ),
    "the constant column is no constant": (
        "categories.py",
        "np.c_[constants, 1.0]",
        "np.c_[constants, 0.0]",
        "test_categories.py -k silent_directions_are",
    ),
    "the ball around zero": (
        "categories.py",
        "centre[group] = True, 1 / len(group)",
        "centre[group] = True, 0.0",
        "test_categories.py -k smallest",
    ),
    "numbers outside their bounds leave the ball": (
        "categories.py",
        "np.clip((data.X - box.shift) / box.unit, -1.0, 1.0)",
        "(data.X - box.shift) / box.unit",
        "test_categories.py -k clips",
    ),
    "boxes end at the whiskers": (
        "plot.py",
        '"upper quartile": ends[:, 1]',
        '"upper quartile": caps[:, 1]',
        "test_plot.py -k boxes",
    ),
    "outliers are not drawn": (
        "plot.py",
        "        manage_ticks=False,\n",
        "        manage_ticks=False,\n        showfliers=False,\n",
        "test_plot.py -k boxes",
    ),
}
