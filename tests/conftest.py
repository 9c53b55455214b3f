"""Settings of the whole test suite: how hard the properties look for counterexamples."""

import signal

from hypothesis import HealthCheck, settings

# What a shell starts in the background ignores Ctrl-C, and so would all that the tests start: some
# of them press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No deadline: a slow machine is not a fault, and no test of ours asserts a time.
settings.register_profile(
    "quick",
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("thorough", settings.get_profile("quick"), max_examples=400)
settings.load_profile("quick")
