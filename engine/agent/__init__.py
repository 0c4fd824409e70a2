"""The agent at the other end: its processes, the protocol spoken with it, and what its replies say."""
