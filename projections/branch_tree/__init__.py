"""The tree of every session, and the index of all sessions, in tables."""
