"""NAME=value words, as make has them: each stands for the option of that name, or for a setting."""

import re
from collections.abc import Iterator
from typing import Any

import typer
from typer.core import TyperCommand

from writepath.config import settings
from writepath.config.checked import nearest
from writepath.errors import UsageError

SET = "--set"
_WORD = re.compile(r"([^=\-][^=]*)=(.*)", re.DOTALL)
_ELSEWHERE = {
    "VARIANT": "for one variant: make bench VARIANT=...; for several: VARIANTS=a,b",
    "VARIANTS": "this command takes one variant: VARIANT=...",
    "REPETITIONS": "use REPS=",
}
_FLAG = {"1": "--{}", "0": "--no-{}"}


class WordCommand(TyperCommand):
    """A command whose options may also be given as NAME=value; an empty value is the default."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Puts options in the place of words, then parses as usual."""
        return super().parse_args(ctx, list(self._without_words(ctx, args)))

    def flags(self) -> frozenset[str]:
        """Names of options that are on or off."""
        return frozenset(str(one.name) for one in self.params if getattr(one, "is_flag", False))

    def option_names(self) -> dict[str, str]:
        """Each option as it is typed, by the name of its word: {"SLO_MS": "slo-ms"}."""
        options = [one.opts[0] for one in self.params if one.param_type_name == "option"]
        return {
            name[2:].replace("-", "_").upper(): name[2:] for name in options if name not in (SET, "--help")
        }

    def _without_words(self, ctx: typer.Context, args: list[str]) -> Iterator[str]:
        rest = iter(args)
        flags = self.flags()
        taking_a_value = {SET, *(f"--{name}" for name in self.option_names().values() if name not in flags)}
        for arg in rest:
            if arg == "--":
                yield arg
                yield from rest
            elif arg in taking_a_value:
                yield arg
                yield from (value for value in [next(rest, None)] if value is not None)
            elif word := _WORD.fullmatch(arg):
                yield from self._options_of(ctx, word[1], word[2])
            else:
                yield arg

    def _options_of(self, ctx: typer.Context, name: str, value: str) -> list[str]:
        options = self.option_names()
        if name not in options:
            return self._setting(ctx, name, value)
        option = options[name]
        if option not in self.flags():
            return [f"--{option}={value}"] if value else []
        if value not in ("", *_FLAG):
            raise UsageError(f"{name}={value}: write {name}=1 or {name}=0")
        return [_FLAG[value].format(option)] if value else []

    def _setting(self, ctx: typer.Context, name: str, value: str) -> list[str]:
        has_settings = any(SET in one.opts for one in self.params)
        known = settings.known(ctx.obj.root) if has_settings else {}
        if name in known:
            return [SET, f"{name}={value}"]
        all_known = [*self.option_names(), *known]
        hint = _ELSEWHERE.get(name) or (
            nearest(name.upper(), all_known) if all_known else f"`{self.name}` takes no options"
        )
        raise UsageError(f"{name}={value}: `{self.name}` has no option {name}; {hint}")
