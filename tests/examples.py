"""How many examples Hypothesis tries of each property."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_FULL_EXAMPLES = 100
_QUICK_EXAMPLES = 20


def load_profile(*, is_quick: bool) -> None:
    """Set what holds for every property; AJ_EXAMPLES names another number of examples.

    These machines are shared: how long an example takes says nothing. What is checked of a change is the same
    every time; by hand, each run tries other examples.
    """
    settings.register_profile(
        "journal",
        deadline=None,
        max_examples=int(os.environ.get("AJ_EXAMPLES", _QUICK_EXAMPLES if is_quick else _FULL_EXAMPLES)),
        derandomize=bool(os.environ.get("CI")),
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("journal")


def examples(full: int) -> int:
    """Return how many examples this run tries of a property that needs so many instead of 100."""
    return max(1, full * settings().max_examples // _FULL_EXAMPLES)
