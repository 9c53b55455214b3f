"""Benchmarks: ratios of two things measured in one run. See docs/benchmarks.md."""
