"""What the papers' own experiments need: their panels, protocols and measures."""
