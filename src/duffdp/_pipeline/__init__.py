"""The steps of every release: check, charge, read, draw, and return the result with its facts."""
