"""Files, read by DuckDB: one module per format, `paths` opens them."""
