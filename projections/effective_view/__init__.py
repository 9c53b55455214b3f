"""The effective view of every session, in tables: enough for a chat page without the tape."""
