"""Where data live. An engine answers a few counting questions and knows nothing of privacy."""
