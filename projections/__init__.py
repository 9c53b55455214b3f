"""Read models of the tapes: three projections, their processes, and rebuilds that are verified."""
