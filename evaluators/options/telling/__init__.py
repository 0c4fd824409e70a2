"""How a drawn task is told: its text, and its inputs by difficulty instead of labelled data."""
