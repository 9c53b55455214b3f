"""The kit for tests of sessions: given events, when a command, then events."""
