"""How well an attacker does: what a model tells of a sensitive attribute."""
