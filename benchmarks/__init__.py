"""Ratios against what a user would use instead, measured in one run."""
