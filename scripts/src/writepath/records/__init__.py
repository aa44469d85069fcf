"""What is saved: one index and one cell record, and the parts of which all records are made."""

from __future__ import annotations

from writepath.records.measures import (
    Audit,
    AuditVerdict,
    Canary,
    Code,
    DatasetFacts,
    Drain,
    Durability,
    Generator,
    Host,
    Latency,
    Offenders,
    Order,
    Reading,
    Requests,
    Resource,
    Step,
    Verdict,
    VerdictStatus,
)

__all__ = [
    "Audit",
    "AuditVerdict",
    "Canary",
    "Code",
    "DatasetFacts",
    "Drain",
    "Durability",
    "Generator",
    "Host",
    "Latency",
    "Offenders",
    "Order",
    "Reading",
    "Requests",
    "Resource",
    "Step",
    "Verdict",
    "VerdictStatus",
]
