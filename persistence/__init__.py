"""The seams to the eventsourcing library: codec, event mapper, recorders and factories."""
