"""Filings with the SEC: their list, texts by section, figures with derived quarters, ratios, and the puller of all."""
