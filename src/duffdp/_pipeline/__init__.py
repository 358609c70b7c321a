"""The way of every release: what is asked is checked, charged, read, drawn, and comes out with
its facts.
"""
