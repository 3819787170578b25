"""Timings as ratios to a peer or a limit, measured side by side in one run."""
