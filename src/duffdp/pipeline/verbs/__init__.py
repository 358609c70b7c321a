"""The functions that people call, one for each statistic: a docstring and one run of the
pipeline.
"""
