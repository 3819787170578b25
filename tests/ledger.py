"""What the claims of the book say."""

from lib.pages import claims


def values(claim):
    return claims.load()[claim].values


def value(claim, name):
    return values(claim)[name]


def tolerance(claim, name):
    return claims.load()[claim].tolerances.get(name, 0.0)
