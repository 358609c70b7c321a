"""Why no interval can be promised for some statistics, and what to ask for instead."""

CLIPPED = (
    "what a clipped mean leaves out, and how far away a candidate at some distance lies, depends "
    'on the data. Pass mechanism="best"'
)
TRIMMED = (
    "how far apart records lie where they are cut off is private. Ask for a mean or a median, "
    "which have one"
)
SPREAD = (
    "how much lies outside of the private interval to which records are clamped is private. Ask "
    "for the interquartile range, which has one"
)
ORDER = (
    "nothing lies between two values without an order. Ask for a histogram, whose numbers have "
    "one; distance_bound() of a mode says how many records would make it the exact one"
)
SLOPE = (
    "one row is in many pairs, and how their slopes lie around the median is private. Ask for "
    "quantiles of either column"
)
BAND = "a distribution has a band around all of it. Pass confidence, how often that holds"
