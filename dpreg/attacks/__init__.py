"""How well an attacker does: the worst pair of records, and what a model tells of a sensitive attribute."""
