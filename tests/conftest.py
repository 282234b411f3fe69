"""Settings of all tests."""

from hypothesis import settings

import funcgrad.rules.fft  # noqa: F401  (else it would come with the first test that needs it, in the middle of others)

# A deadline would make the outcome depend on how busy the machine is.
settings.register_profile("funcgrad", deadline=None)
settings.load_profile("funcgrad")
