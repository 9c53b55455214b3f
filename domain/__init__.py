"""The pure domain: events, content, the kernel, the Session aggregate, view and context."""
