"""Experiments over splits, methods and budgets, from fold moments."""
