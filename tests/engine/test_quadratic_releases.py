"""What mechanisms state that are a law of noise."""

from dpreg.audit.quadratic_releases import ALL


def test_names_are_unique():
    assert len({declared.name for declared in ALL}) == len(ALL)
