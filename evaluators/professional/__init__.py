"""Professional work with checkable deliverables: a table and a memo, marked in four dimensions."""
