"""Settings of all tests."""

from hypothesis import settings

import funcgrad.rules.fft
import funcgrad.rules.late  # noqa: F401  (else they would come with the first test that needs them, in the middle of others)

# A deadline would make the outcome depend on how busy the machine is.
settings.register_profile("funcgrad", deadline=None)
settings.load_profile("funcgrad")
