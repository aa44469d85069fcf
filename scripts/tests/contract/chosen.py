"""Which variants are asked for the contract, and how much of it?"""

from dataclasses import dataclass

from writepath.config.registry import Registry, Variant

ALL = "all"

# A setting that is a word selects other code. Of a variant that differs in one of these from another one that is asked
# everything, only the files are asked that it can change; a setting that is not listed can change everything.
SEARCHES = frozenset({"test_search", "test_bulk_load"})
CHANGES = {
    "POSTGRES_SEARCH_INDEX": SEARCHES,
    "ELASTICSEARCH_SEARCH_INDEX": SEARCHES,
    "ELASTICSEARCH_REFRESH_EACH_WRITE": frozenset({"test_write", "test_search"}),
    "ELASTICSEARCH_WRITE_MODE": frozenset({"test_write", "test_outage"}),
    "POSTGRES_WRITE_MODE": frozenset({"test_write", "test_outage"}),
}

# What a variant with Spring Boot's defaults does not promise, and why. No other variant is excepted from anything.
TUTORIALS = {
    "test_the_same_post_again_is_201_and_one_row": (
        "the database makes the key, and nothing says that the client's id is one: a repetition is a second row"
    ),
    "test_the_same_id_with_other_content_keeps_the_first": "for the same reason it is neither refused nor parked",
    "test_a_load_refuses_an_id_that_is_there": "for the same reason it is a second row",
    "test_too_much_in_flight_is_503_at_once_and_stores_nothing": "admitted requests wait as long as in an outage",
    "test_every_figure_of_the_evidence_is_measured": "it has no batches, and no publisher that waits for confirms",
    "test_the_dashboard_asks_for_what_the_stack_exposes": "it has no cap of requests in flight, and no such publisher",
    "test_a_malformed_request_is_refused_in_time_and_leaves_nothing_behind": "Tomcat waits 20 s and more",
    "test_without_its_backing_service_a_write_is_503_in_time_and_never_201": (
        "no wait is bounded below the proxy's and no exception translated: 500 or the proxy's 504 instead of 503"
    ),
    "test_no_generated_request_gets_an_answer_that_the_document_forbids": (
        "a second row of an id, see above; what reads the requests is the same code"
    ),
}


READS = frozenset({"test_listening"})  # what a variant without posts is asked
STORES = (("STORE", "jpa"), ("STORE", "elasticsearch"))  # of the same code around them


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One variant, to be started once, and what it is asked."""

    variant: Variant
    files: frozenset[str] | None = None  # of this folder; None: all

    def asks(self, file: str, test: str) -> bool:
        """Whether the variant is asked this test."""
        excepted = self.variant.tutorial_of is not None and test in TUTORIALS
        return not excepted and (self.files is None or file in self.files)


def chosen_of(known: Registry, words: str) -> list[Asked]:
    """Names with commas between, or `all`: each asked everything. Nothing: each architecture, then each setting.

    Weakened controls are asked where they are named.
    """
    wanted = [name for name in words.split(",") if name]
    if wanted and wanted != [ALL]:
        return [_asked(known.variant(name)) for name in wanted]
    promising = [
        one for one in known.variants.values() if one.naive_twin_of is None and one.control_of is None
    ]
    if wanted:
        return [_asked(variant) for variant in promising]
    # How many shards, consumers or seconds selects no code. Of such variants the one listed last is asked, usually the
    # largest; with a queue the first, because its store is asked without one.
    distinct: dict[tuple[object, ...], Variant] = {}
    for variant in promising:
        key = (variant.ingress, variant.inspector, variant.settings.get("STORE"), _words(variant))
        if variant.ingress == variant.inspector or key not in distinct:
            distinct[key] = variant
    chosen: list[Asked] = []
    for variant in distinct.values():
        own = _words(variant)
        asked_all = [one.variant for one in chosen if one.files is None]
        bases = [_words(one) for one in asked_all if one.ingress == variant.ingress and _words(one) <= own]
        chosen.append(_asked(variant, _files(own - max(bases, key=len, default=frozenset()))))
    return chosen


def _asked(variant: Variant, files: frozenset[str] | None = None) -> Asked:
    return Asked(variant=variant, files=READS if variant.serves == "reads" else files)


def _words(variant: Variant) -> frozenset[tuple[str, str]]:
    return frozenset(
        (name, value)
        for name, value in variant.settings.items()
        if (name, value) not in STORES and not value[:1].isdecimal()
    )


def _files(words: frozenset[tuple[str, str]]) -> frozenset[str] | None:
    if not words or any(name not in CHANGES for name, _ in words):
        return None
    return frozenset[str]().union(*(CHANGES[name] for name, _ in words))
