"""Settings of all tests."""

from hypothesis import settings

# A deadline would make the outcome depend on how busy the machine is.
settings.register_profile("funcgrad", deadline=None)
settings.load_profile("funcgrad")
