"""Playing a plan: servers and agent brought up, one conversation a task, retries, limits, and the end of a run."""
