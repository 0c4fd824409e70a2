"""Dynamic questions on companies and shares; the facts have to be fetched through the tools."""
