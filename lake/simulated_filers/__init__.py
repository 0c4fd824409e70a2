"""Simulated companies that file with a simulated SEC: statements that tie out, filings with texts, and estimates."""
