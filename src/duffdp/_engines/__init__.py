"""Engines hold records, answer a few counting requests and know nothing of privacy."""
