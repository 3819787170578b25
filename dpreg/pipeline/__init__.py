"""From records to coefficients: domain, objective, laws of noise, release, repair, solve."""
