"""Attempts to refute a claimed guarantee: by algebra, by search, by the law of the noise, by counting events."""
