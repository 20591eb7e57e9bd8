"""One hypothesis profile for all: repeatable, and no test fails because a machine is slow."""

from hypothesis import settings

settings.register_profile("redask", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("redask")
