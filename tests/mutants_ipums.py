"""Faults in the reader of extracts, in its setting and in the real data that its tests must notice."""

MUTANTS = {
    "ipums: everybody is a head": (
        "ipums.py",
        'chunk = chunk[chunk["RELATE"].isin(first)]',
        "chunk = chunk[chunk.RELATE.notna()]",
        "test_ipums.py -k what_was_written",
    ),
    "ipums: numbers before labels": (
        "ipums.py",
        'label = labels.get(int(code), "").lower()',
        'label = labels.get(int(code), "").lower() if not reading.limits else ""',
        "test_ipums.py -k 'labels_mean or what_was_written'",
    ),
    "ipums: a code without a label stands for itself": (
        "ipums.py",
        "if not label and reading.limits and reading.limits[0] <= code <= reading.limits[1]:",
        "if not label:",
        "test_ipums.py -k 'without_a_label or cannot_be'",
    ),
    "ipums: unknown income is an income": (
        "ipums.py",
        "INCOME_CODES = {9_999_998: NAN, 9_999_999: NAN}",
        "INCOME_CODES = {9_999_999: NAN}",
        "test_ipums.py -k 'special_incomes or what_was_written'",
    ),
    "ipums: a month's income for a year's": (
        "ipums.py",
        'if factor is None and country == "BR":',
        'if factor is None and country == "XX":',
        "test_ipums.py -k waits_for",
    ),
    "ipums: those who never moved have just come": (
        "ipums_labels.py",
        "STAY = Reading(((NOT_ASKED, math.inf), *COUNT))",
        "STAY = Reading(((NOT_ASKED, 0.0), *COUNT))",
        "test_ipums.py -k 'for_life or labels_mean'",
    ),
    "ipums: an absent spouse is a present one": (
        "ipums_labels.py",
        "absent|separated|divorced|widowed",
        "separated|divorced|widowed",
        "test_ipums.py -k labels_mean",
    ),
    "census: an own extract is not clipped": (
        "census.py",
        "frame[name] = frame[name].clip(*limits[name])",
        "frame[name] = frame[name].clip(limits[name][0])",
        "test_ipums.py -k clipped",
    ),
    "census: people drawn twice": (
        "census.py",
        ".choice(len(frame), n, replace=False)",
        ".choice(len(frame), n, replace=True)",
        "test_ipums.py -k drawn_twice",
    ),
    "census: an own extract called generated": (
        "census.py",
        "frame, source = _extract(folder, country, n, names, random_state)",
        'frame, source = _extract(folder, country, n, names, random_state)[0], "generated"',
        "test_ipums.py -k one_setting",
    ),
    "census income: parts exchanged": (
        "datasets.py",
        'frame[frame["test"] == (part == "test")]',
        'frame[frame["test"] == (part == "train")]',
        "test_datasets.py -k repositorys",
    ),
    "one-hot: the next category": (
        "datasets.py",
        "parts.append((values == category).astype(float))",
        "parts.append((values == category + 1).astype(float))",
        "test_datasets.py -k one_hot",
    ),
}
