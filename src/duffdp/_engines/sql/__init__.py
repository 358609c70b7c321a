"""SQL over data: parsed, checked, and rewritten so that no single row can make the query fail."""
