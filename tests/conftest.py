"""Settings of the whole test suite: how hard the properties look for counterexamples."""

from hypothesis import HealthCheck, settings

# No deadline: a slow machine is not a fault, and no test of ours asserts a time.
settings.register_profile(
    "quick",
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("thorough", settings.get_profile("quick"), max_examples=400)
settings.load_profile("quick")
