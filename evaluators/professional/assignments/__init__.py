"""The kinds of assignment, one file each: brief, columns, drawn inputs, solution, memo."""
