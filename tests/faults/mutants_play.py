"""Faults in lib/pages/play.py that the fast tests must notice."""

MUTANTS = {
    "a picture with all digits": (
        "lib.pages.play._rounded",
        'float(f"{float(text):.{DIGITS}g}")',
        "float(text)",
        "test_play.py -k 'rounded or last_bits'",
    ),
    "controls that choose apart": (
        "lib.pages.play.chosen",
        '" && ".join',
        '" || ".join',
        "test_play.py -k together",
    ),
    "a table of other rows": (
        "lib.pages.play.numbers",
        "frame[column] == value",
        "frame[column] >= value",
        "test_play.py -k numbers_are_those",
    ),
    "a checksum of nothing": (
        "lib.pages.play.Picture.__repr__",
        'json.dumps(list(self.spec["datasets"].values()))',
        'json.dumps(list(self.spec["datasets"]))',
        "test_play.py -k stands_for",
    ),
    "a still that only a light page shows": (
        "lib.pages.play.Picture.still",
        '"background": "white"',
        '"background": "transparent"',
        "test_play.py -k on_white",
    ),
    "a slider that starts at its end": (
        "lib.pages.play.slider",
        "low if start is None else start",
        "high if start is None else start",
        "test_play.py -k told",
    ),
}
