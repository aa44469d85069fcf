"""NAME=value words, as make has them: each stands for the option of that name, or for a setting."""

import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Any

import typer
from typer.core import TyperCommand

from writepath.config import settings
from writepath.config.checked import nearest
from writepath.errors import UsageError

_WORD = re.compile(r"([^=\-][^=]*)=(.*)", re.DOTALL)
_ELSEWHERE = {
    "VARIANT": "for one variant: make bench VARIANT=...; for several: VARIANTS=a,b",
    "VARIANTS": "this command takes one variant: VARIANT=...",
    "REPETITIONS": "use REPS=",
    "OBSERVE": "only `up` has it; a benchmark runs without Prometheus: make up VARIANT=jpa OBSERVE=1",
}


class WordCommand(TyperCommand):
    """A command whose options may also be given as NAME=value; an empty value is the default."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Puts options in the place of words, then parses as usual."""
        return super().parse_args(ctx, list(self._without_words(ctx, args)))

    def _options(self) -> dict[str, Any]:
        """By the name of its word: SLO_MS; --set is SET_."""
        options = [one for one in self.params if one.param_type_name == "option" and one.name != "help"]
        return {str(one.name).upper(): one for one in options}

    def _without_words(self, ctx: typer.Context, args: list[str]) -> Iterator[str]:
        rest = iter(args)
        taking_a_value = {one.opts[0] for one in self._options().values() if not one.is_flag}
        for arg in rest:
            if arg == "--":
                yield arg
                yield from rest
            elif arg in taking_a_value:
                yield arg
                yield from itertools.islice(rest, 1)
            elif word := _WORD.fullmatch(arg):
                yield from self._option(ctx, word[1], word[2])
            else:
                yield arg

    def _option(self, ctx: typer.Context, name: str, value: str) -> list[str]:
        options = self._options()
        has_settings = options.pop("SET_", None) is not None
        if name not in options:
            return self._setting(name, value, options, settings.known(ctx.obj.root) if has_settings else {})
        option = options[name]
        if not value:
            return []
        if not option.is_flag:
            return [f"{option.opts[0]}={value}"]
        if value not in ("0", "1"):
            raise UsageError(f"{name}={value}: write {name}=1 or {name}=0")
        return [option.opts[0] if value == "1" else option.secondary_opts[0]]

    def _setting(self, name: str, value: str, options: Iterable[str], known: Iterable[str]) -> list[str]:
        if name in known:
            return ["--set", f"{name}={value}"]
        all_known = [*options, *known]
        hint = _ELSEWHERE.get(name) or (
            nearest(name.upper(), all_known) if all_known else f"`{self.name}` takes no options"
        )
        raise UsageError(f"{name}={value}: `{self.name}` has no option {name}; {hint}")
