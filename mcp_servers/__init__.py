"""The six tool servers that an agent may call while it works on a task."""
