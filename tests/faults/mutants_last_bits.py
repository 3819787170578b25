"""Faults in the attack on floating-point noise, each of which a test must notice."""

MUTANTS = {
    "last bits: the upper half drawn without its rounding": (
        "dpreg.attacks.last_bits.reachable",
        "_log((2.0 - upper) - upper)",
        "_log(lower + lower)",
        "test_last_bits.py -k 'truth or formula'",
    ),
    "last bits: too few draws tried": (
        "dpreg.attacks.last_bits.reachable",
        "+ 1\n    near",
        "// 4\n    near",
        "test_last_bits.py -k 'truth or formula'",
    ),
    "last bits: nothing ruled out": (
        "dpreg.attacks.last_bits.reachable",
        "found, few = reach > WINDOW",
        "found, few = reach > 2",
        "test_last_bits.py -k between",
    ),
    "last bits: numbers without noise not compared": (
        "dpreg.attacks.last_bits.possible",
        "np.asarray(same & reachable",
        "np.asarray(reachable",
        "test_last_bits.py -k without_noise",
    ),
    "last bits: one coefficient is enough": (
        "dpreg.attacks.last_bits.possible",
        "scale[loud]).all(axis=-1)",
        "scale[loud]).any(axis=-1)",
        "test_last_bits.py -k 'betray or counts'",
    ),
}
