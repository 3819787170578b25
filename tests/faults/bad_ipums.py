"""Bad input for the reader of extracts, and for what writes one to test it."""

from lib.data import ipums, ipums_files, ipums_synthetic

NOWHERE = "no-such-folder"
TWICE = {"SEX": [("1", "Male"), ("01", "Female")], "WORD": [("x", "a letter")]}

CASES = {
    "ipums.heads": [
        ("country is 'XX': choose", lambda: ipums.heads(NOWHERE, "XX", ["age"])),
        ("column is 'name': choose", lambda: ipums.heads(NOWHERE, "US", ["age", "name"])),
        (r"US\.xml is missing from no-such-folder/: give", lambda: ipums.heads(NOWHERE, "US", ["age"])),
    ],
    "ipums_files.meanings": [
        (r"SEX of US\.xml labels code 1 both 'Male' and 'Fem", lambda: ipums_files.meanings(TWICE, "SEX", "US.xml")),
        (r"WORD of US\.xml has the code 'x': leave", lambda: ipums_files.meanings(TWICE, "WORD", "US.xml")),
    ],
    "ipums_synthetic.write": [
        ("country is 'us': choose", lambda: ipums_synthetic.write(NOWHERE, "us", 10)),
        ("n is 0: give", lambda: ipums_synthetic.write(NOWHERE, "US", 0)),
        ("unanswered is 2: give", lambda: ipums_synthetic.write(NOWHERE, "US", 10, unanswered=2)),
        ("others is -1: give", lambda: ipums_synthetic.write(NOWHERE, "US", 10, others=-1)),
    ],
}
EXEMPT = {
    "ipums_labels.Reading": "two tables of the library's own",
    "ipums_files.codebook": "ipums.heads calls it; test_ipums breaks its files",
    "ipums_files.data": "ipums.heads calls it; test_ipums takes the file away",
    "ipums_files.records": "ipums.heads calls it; test_ipums breaks its files",
}
