"""What the papers propose, and what works instead: laws, shares of a budget, histograms, reweighted moments."""
