"""Differentially private regression: the library behind the book.

records -> domain -> objective -> release -> repair -> solve -> coefficients in the user's units
"""
