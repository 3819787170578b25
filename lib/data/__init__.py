"""Data sets with public bounds: the two that are included, generated people, and the user's own extract."""
