"""The experiments of the paper and the ones it leaves out. `python -m experiments` runs them all and writes `docs/paper.md`."""
