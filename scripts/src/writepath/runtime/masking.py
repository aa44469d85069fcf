"""Which settings must not be written down? Passwords and the like, by their names."""

import re
from collections.abc import Mapping

MASK = "***"
_SECRET = re.compile(r"PASS(WORD|WD)?$|PASS(WORD)?_|SECRET|TOKEN|COOKIE|CREDENTIAL|API_?KEY", re.IGNORECASE)
_IN_ADDRESS = re.compile(r"(?<=://)([^:/@\s]+):[^@/\s]+(?=@)")


def masked(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings with every secret's value replaced."""
    return {
        key: MASK if _SECRET.search(key) else _IN_ADDRESS.sub(rf"\1:{MASK}", value)
        for key, value in sorted(settings.items())
    }
