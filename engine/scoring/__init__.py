"""From the values of tasks to scores with their uncertainty."""
