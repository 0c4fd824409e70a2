"""The run: config, tasks, agents, store, score, report, command line."""

__version__ = "0.1.0"
