"""Cases in the seven categories of FAB++ that need reading, weighing or revising: truth by computation, many texts."""
