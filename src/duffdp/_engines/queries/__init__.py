"""Counts of lazy tables, by few queries that the engine of the table runs."""
