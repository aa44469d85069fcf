"""May a run's figures be believed? Every rule of docs/methodology.md, each with its reason in words."""

from collections.abc import Iterator

from writepath.analysis.audit import LATE_US, MUST_BE_ZERO
from writepath.analysis.stats import US_PER_S
from writepath.analysis.warm_up import unsteady
from writepath.records.load_facts import LoadFacts, WithheldFacts
from writepath.records.measures import Audit, Canary, Drain, Generator, Requests, Verdict

STEAL_LIMIT = 0.02  # of all processor time: what the hypervisor gave to others
THROTTLED_LIMIT = 0.01  # of the time: a quota that bites halts every request under way, some 10 ms each time
SWAPPED_LIMIT = 256  # pages, 1 MiB of 4 KiB each: less is what an idle program of somebody else had left
CPU_SLOWER = 1.3  # times: processors share caches and clocks, one part in ten between two moments is usual
FSYNC_SLOWER = 3.0  # times, and
FSYNC_SLOWER_MS = 2.0  # more than so much: any disk cache takes from 0.3 to 1 ms, and it changes no figure


STOLEN = f"{{:.1%}} of the CPU time was stolen during the load (limit {STEAL_LIMIT:.0%})"
THROTTLED = f"the CPU quota stopped the run for {{:.1%}} of the load (limit {THROTTLED_LIMIT:.0%})"
SWAPPED = f"{{}} pages swapped during the load (limit {SWAPPED_LIMIT})"


def noise_reasons(withheld: WithheldFacts) -> tuple[str, ...]:
    """In words, where a limit is passed: the figures of the load are noise."""
    found = (
        (withheld.steal_share, STEAL_LIMIT, STOLEN),
        (withheld.throttled_share, THROTTLED_LIMIT, THROTTLED),
        (withheld.swapped_pages, SWAPPED_LIMIT, SWAPPED),
    )
    return tuple(
        f"noisy host: {words.format(value)}" for value, limit, words in found if (value or 0) > limit
    )


def slower_reasons(before: Canary, after: Canary) -> tuple[str, ...]:
    """In words, where the same work takes much longer after the load than before it: the host itself changed."""
    found = []
    if after.cpu_ms > before.cpu_ms * CPU_SLOWER:
        found.append(
            f"noisy host: a fixed CPU task took {after.cpu_ms:.0f} ms after the load,"
            f" {before.cpu_ms:.0f} ms before it (limit {CPU_SLOWER:g} times)"
        )
    flush, flush_before = after.fsync_ms_p50, before.fsync_ms_p50
    if flush > flush_before * FSYNC_SLOWER and flush - flush_before > FSYNC_SLOWER_MS:
        found.append(
            f"noisy host: an fsync took {flush:.1f} ms after the load, {flush_before:.1f} ms before it"
            f" (limit {FSYNC_SLOWER:g} times and {FSYNC_SLOWER_MS:g} ms more)"
        )
    return tuple(found)


CPU_SHARE_LIMIT = 0.80  # k6's own rule: above it, its timings are its own
LATENESS_MS_LIMIT = 250.0  # p99: a generator that is silent for a quarter second changes the rate
FOREIGN_LIMIT = 0.25  # of all processors: a browser and a mail program stay below, a build does not


def judge(
    facts: LoadFacts,
    *,
    requests: Requests,
    audit: Audit | None,
    drain: Drain | None,
    generator: Generator,
    foreign_cpu_share: float | None = None,
    at_proxy: int = 0,
) -> Verdict:
    """Invalid where anything contradicts the figures, else unknown where something was not seen, else valid.

    audit, drain: None of a load of reads.
    """
    invalid = [*_of_data(audit, requests), *_of_run(facts, drain, generator, requests)]
    unseen = [*_unseen(audit, generator), *_of_promise(facts), *_without_cause(facts, at_proxy)]
    unknown = [*unseen, *unsteady(facts.warm_up), *foreign_reasons(foreign_cpu_share), *_noise(facts)]
    notes = tuple(_notes(requests, audit, generator))
    if invalid:
        return Verdict(status="invalid", reasons=(*invalid, *unknown), notes=notes)
    if unknown:
        return Verdict(status="unknown", reasons=tuple(unknown), notes=notes, noise=not unseen)
    return Verdict(status="valid", notes=notes)


def _of_data(audit: Audit | None, requests: Requests) -> Iterator[str]:
    if audit is not None:
        yield from _of_audit(audit)
    if not requests.acknowledged:
        yield "no request was acknowledged"


def _of_audit(audit: Audit) -> Iterator[str]:
    for name, words in MUST_BE_ZERO.items():
        if name == "never_read":
            continue  # not a contradiction: something that was not seen
        if count := getattr(audit, name):
            offenders = audit.offenders.get("absent" if name in ("lost", "stranded") else name)
            where = f" (sequence {_short(offenders.intervals)})" if offenders and offenders.intervals else ""
            yield f"{count} {words}{where}"
    for words in audit.identities_broken:
        yield f"sums do not agree: {words}"


def _of_run(facts: LoadFacts, drain: Drain | None, generator: Generator, requests: Requests) -> Iterator[str]:
    """Of the system, then of the load generator."""
    for component in facts.lost_components:
        yield f"component lost: {component}"
    if drain is not None and drain.capped:
        yield (
            f"the store was still receiving rows {drain.settle_seconds:.0f} s after the load:"
            f" {drain.queue_ready_left + drain.queue_unacknowledged_left} posts left in the queue"
        )
    if facts.durability is not None and facts.durability.level > facts.declared_level:
        yield f"a 201 guarantees less than declared: level {facts.durability.level}, not {facts.declared_level}"
    for fault in facts.generator_faults:
        yield f"k6: {fault}"
    # A load with an SLO goes beyond the path's limit: drops there are the path's, for which all virtual users wait.
    if requests.dropped and facts.slo_ms is None:
        yield f"k6 dropped {requests.dropped} of {requests.planned} scheduled requests (limit 0)"
    yield from (f"k6 {words}" for words in generator_faults(generator))


def generator_faults(generator: Generator) -> Iterator[str]:
    """In words, where the figures of a load are the generator's too."""
    if generator.busiest > CPU_SHARE_LIMIT:
        yield f"was saturated: {generator.saturated} (limit {CPU_SHARE_LIMIT:.0%})"
    late_ms = generator.lateness_ms_p99
    if late_ms is not None and late_ms > LATENESS_MS_LIMIT:
        yield f"was late: it sent {late_ms:.0f} ms late at p99 (limit {LATENESS_MS_LIMIT:.0f} ms)"


def _unseen(audit: Audit | None, generator: Generator) -> Iterator[str]:
    if audit is not None:
        for words in audit.unread:
            yield f"the audit is incomplete: {words}"
        if audit.never_read:
            yield f"{audit.never_read} {MUST_BE_ZERO['never_read']}"
        if audit.verdict == "UNKNOWN" and not audit.unread and not audit.never_read:
            yield "the audit is incomplete: a read is missing, or nothing was acknowledged"
    if generator.samples == 0:
        yield "the CPU use of k6 could not be sampled"


def _of_promise(facts: LoadFacts) -> Iterator[str]:
    if facts.writes and facts.durability is None:
        yield "what a 201 guarantees could not be read from the running system"


def _without_cause(facts: LoadFacts, at_proxy: int) -> Iterator[str]:
    """Errors of a closed load may be its result, but only those whose cause is known."""
    if at_proxy and facts.proxy_errors is not None and not facts.proxy_errors:
        yield f"{at_proxy} requests failed at the proxy, and its log names no cause"


def _noise(facts: LoadFacts) -> Iterator[str]:
    """What the host did during the run."""
    before, after = (facts.host.before, facts.host.after) if facts.host else (None, None)
    for canary, when in ((before, "before"), (after, "during")):
        if canary is not None and (canary.steal_share or 0) > STEAL_LIMIT:
            yield f"noisy host: {canary.steal_share:.1%} of the CPU time was stolen {when} the run"
    if facts.withheld is not None:
        yield from noise_reasons(facts.withheld)
    if before is not None and after is not None:
        yield from slower_reasons(before, after)


def foreign_reasons(share: float | None) -> Iterator[str]:
    """In words, where other programs used more of the processors than leaves a load's figures its own."""
    if (share or 0.0) > FOREIGN_LIMIT:
        yield (
            f"noisy host: other programs used {share:.0%} of the CPU during the load"
            f" (limit {FOREIGN_LIMIT:.0%})"
        )


def _notes(requests: Requests, audit: Audit | None, generator: Generator) -> Iterator[str]:
    if missed := requests.rejected + requests.indeterminate:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(requests.by_error.items()))
        yield f"{missed} of {requests.planned} scheduled requests were not acknowledged ({kinds})"
    if audit is not None:
        yield from _notes_of_audit(audit)
    if generator.samples_late:
        yield f"{generator.samples_late} of {generator.samples} samples were late"


def _notes_of_audit(audit: Audit) -> Iterator[str]:
    if audit.recovered:
        yield f"{audit.recovered} requests without an answer were stored"
    if audit.late:
        yield f"{audit.late} acknowledged writes were durable more than {LATE_US / US_PER_S:.0f} s after their 201"
    if audit.suppressed_duplicates:
        yield f"{audit.suppressed_duplicates} repeated deliveries were suppressed"


def _short(intervals: str) -> str:
    return intervals if len(intervals) <= 60 else intervals[:60].rsplit(" ", 1)[0] + " ..."  # noqa: PLR2004 - a line
