"""PRBench finance tasks with signed expert rubrics, read from the user's own files."""
