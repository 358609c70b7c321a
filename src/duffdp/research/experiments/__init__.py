"""The experiments of the paper and some that it leaves out; `duffdp paper` runs them all."""

from duffdp import Grid

SET_RECORDS = 1000  # records of one data set, as in the paper
PLOTTED = (0.1, 0.2, 0.5, 1.0, 1.5, 2.0)  # the paper's range
WIDE_GRID = Grid(-10.0, 10.0)  # ten standard deviations to either side of N(0, 1)
