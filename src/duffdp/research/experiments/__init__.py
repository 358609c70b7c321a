"""The experiments of the paper and the ones it leaves out: `duffdp paper` runs them all."""
