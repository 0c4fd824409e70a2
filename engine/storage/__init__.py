"""What of a run is kept, and how it outlives a crash: folder, ledger, log of commits, transcripts."""
