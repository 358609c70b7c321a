"""Randomness: entropy from the operating system and the exact race. No other package touches
either.
"""
