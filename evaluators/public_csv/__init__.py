"""The public questions of the finance-agent benchmark (vals.ai), read from the user's own public.csv."""
