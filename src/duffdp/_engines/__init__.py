"""Engines that hold records and answer counting requests; they contain no privacy code."""
