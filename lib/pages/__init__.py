"""What pages are made of: the papers' claims, figures and printed numbers."""
