"""Generated extracts, and what a reader should find in them."""

from lib.data import census, ipums_synthetic

COUNTRIES = ("US", "BR")
ALL = [*census.FOURTEEN, "race", "marital", "employment", "annual_income"]
N = 4_000


def extract(folder, country, n=N, **options):
    """Write an extract, and what the user has to say about it; return the people in it."""
    frame = ipums_synthetic.write(folder, country, n, **options)
    if country == "BR":
        (folder / "BR.yml").write_text("income_factor: 12")
    return frame


def meant(frame, country, columns):
    """What the reader should find: heads with every answer, as the codes of IPUMS tell them apart."""
    asked = set(columns) | {"age"} | ({"marital"} if {"is_single", "is_married"} & set(columns) else set())
    kept = frame[(frame["head"] == 1) & ~frame["unanswered"].isin(asked)]
    education = {3: 3.5, 4: 3.5, 10: 10.5, 11: 10.5} if country == "US" else {}
    return kept.assign(education=kept["education"].replace(education))[list(columns)].astype(float)


def edit(file, old, new, count=1):
    text = file.read_text(encoding="utf-8")
    assert text.count(old) >= 1, old
    file.write_text(text.replace(old, new, count), encoding="utf-8")


def category(code, label):
    return f"<catgry><catValu>{code}</catValu><labl>{label}</labl></catgry>"
