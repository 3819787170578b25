"""Faults in lib/data/categories.py and in the boxes of lib/pages/plot.py that the fast tests must notice."""

MUTANTS = {
    "a group's sum in the user's units": (
        "lib.data.categories.silent",
        "constants[0, place] = 1 - domain.shift[group].sum()",
        "constants[0, place] = 1.0",
        "test_categories.py -k silent_directions_are",
    ),
    "the constant column is no constant": (
        "lib.data.categories.silent",
        "np.c_[constants, 1.0]",
        "np.c_[constants, 0.0]",
        "test_categories.py -k silent_directions_are",
    ),
    "the ball around zero": (
        "lib.data.categories.ball",
        "centre[group] = True, 1 / len(group)",
        "centre[group] = True, 0.0",
        "test_categories.py -k smallest",
    ),
    "numbers outside their bounds leave the ball": (
        "lib.data.categories.ball",
        "np.clip((data.X - box.shift) / box.unit, -1.0, 1.0)",
        "(data.X - box.shift) / box.unit",
        "test_categories.py -k clips",
    ),
    "boxes end at the whiskers": (
        "lib.pages.plot._boxes",
        '"upper quartile": ends[:, 1]',
        '"upper quartile": caps[:, 1]',
        "test_plot.py -k boxes",
    ),
    "outliers are not drawn": (
        "lib.pages.plot.boxes",
        "        manage_ticks=False,\n",
        "        manage_ticks=False,\n        showfliers=False,\n",
        "test_plot.py -k boxes",
    ),
}
