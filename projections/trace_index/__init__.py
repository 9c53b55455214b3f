"""What was sent to the models and done by tools, and a search over all that was said."""
