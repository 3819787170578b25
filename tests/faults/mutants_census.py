"""Faults in the census-like generator that its tests must notice."""

MUTANTS = {
    "census: top code not applied": (
        "lib.data.census.census",
        "np.clip(frame[INCOME].to_numpy(dtype=float), 0.0, top)",
        "np.clip(frame[INCOME].to_numpy(dtype=float), 0.0, None)",
        "test_census.py -k 'bounds or top_coded'",
    ),
    "census: labels at the threshold": (
        "lib.data.census.above",
        "(data.y > level).astype(float)",
        "(data.y >= level).astype(float)",
        "test_census.py -k strictly",
    ),
    "census: heads and adults alike": (
        "lib.data.generated_people._households",
        '(heads if population == "heads" else everybody)',
        "everybody",
        "test_generated_people.py -k 'heads_are or moments'",
    ),
    "census: women counted as men": (
        "lib.data.generated_people._households",
        '"f": female == 1,',
        '"f": female == 0,',
        "test_generated_people.py -k 'follow_their_table or moments'",
    ),
    "census: education not cut at its shares": (
        "lib.data.generated_people._education_cuts",
        'grown = _latent_education(p.education, t, rng)[t["age"] >= 25]',
        "grown = _latent_education(p.education, t, rng)",
        "test_generated_people.py -k meets_its_shares",
    ),
    "census: longer at home than alive": (
        "lib.data.generated_people._residence",
        'stay = np.minimum(stay, np.minimum(t["age"], p.most))',
        "stay = np.minimum(stay, p.most)",
        "test_generated_people.py -k agree_with",
    ),
    "census: income without schooling": (
        "lib.data.generated_income._earnings",
        "e.schooling * (schooling - e.years)",
        "0.0 * (schooling - e.years)",
        "test_generated_income.py -k explainable",
    ),
}
