"""Faults in lib/pages/verdicts.py that the fast tests must notice."""

MUTANTS = {
    "sections sorted as text": (
        "lib.pages.verdicts.position",
        "int(part) if part.isdigit() else ord(part) - 64",
        "ord(part[0]) - 64",
        "lib/test_verdicts.py -k sort",
    ),
    "errata without what is false": (
        "lib.pages.verdicts.Errata.__init__",
        '("holds with a change", "false")',
        '("holds with a change",)',
        "lib/test_verdicts.py -k errata_are",
    ),
    "a paper without what is not judged": (
        "lib.pages.verdicts.Paper._repr_html_",
        "for line in self.rest]",
        "for line in self.rest[1:]]",
        "lib/test_verdicts.py -k shows_every",
    ),
    "files without the last record": (
        "lib.pages.verdicts.save",
        "for claim in settled(source)]",
        "for claim in settled(source)[:-1]]",
        "lib/test_verdicts.py -k files_have",
    ),
}
