"""The decisions of a session, by topic. Each is a mixin of the aggregate."""
