"""Datasets: what the agent is asked, and how each answer is scored."""
