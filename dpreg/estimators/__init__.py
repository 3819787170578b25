"""Private regressions with the interface of scikit-learn, and their non-private twins."""
