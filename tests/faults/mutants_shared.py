"""Faults in dpreg/sweeps/shared.py that the fast tests must notice."""

MUTANTS = {
    "pickled with each task": (
        "dpreg.sweeps.shared.Shared",
        "@cached_property",
        "@property",
        "test_shared.py -k pickled_once",
    ),
    "read with each task": (
        "dpreg.sweeps.shared",
        "@lru_cache(maxsize=4)",
        "@lru_cache(maxsize=0)",
        "test_shared.py -k read_once",
    ),
}
