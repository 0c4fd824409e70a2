"""GDPval tasks, read from the user's own files: four dimensions of 25 points."""
