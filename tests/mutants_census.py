"""Faults in the census-like generator that its tests must notice."""

MUTANTS = {
    "census: top code not applied": (
        "census.py",
        "np.clip(frame[INCOME].to_numpy(dtype=float), 0.0, top)",
        "np.clip(frame[INCOME].to_numpy(dtype=float), 0.0, None)",
        "test_census.py -k 'bounds or top_coded'",
    ),
    "census: labels at the threshold": (
        "census.py",
        "(data.y > level).astype(float)",
        "(data.y >= level).astype(float)",
        "test_census.py -k strictly",
    ),
    "census: heads and adults alike": (
        "census_people.py",
        '(heads if population == "heads" else everybody)',
        "everybody",
        "test_census.py -k 'heads_are or moments'",
    ),
    "census: women counted as men": (
        "census_people.py",
        '"f": female == 1,',
        '"f": female == 0,',
        "test_census.py -k 'follow_their_table or moments'",
    ),
    "census: education not cut at its shares": (
        "census_people.py",
        'grown = _latent_education(p.education, t, rng)[t["age"] >= 25]',
        "grown = _latent_education(p.education, t, rng)",
        "test_census.py -k meets_its_shares",
    ),
    "census: longer at home than alive": (
        "census_people.py",
        'stay = np.minimum(stay, np.minimum(t["age"], p.most))',
        "stay = np.minimum(stay, p.most)",
        "test_census.py -k agree_with",
    ),
    "census: income without schooling": (
        "census_income.py",
        "e.schooling * (schooling - e.years)",
        "0.0 * (schooling - e.years)",
        "test_census.py -k explainable",
    ),
}
