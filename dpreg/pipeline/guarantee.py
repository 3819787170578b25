"""What a release promises, in words: epsilon, neighbours, bounds, and what is not covered."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any

from dpreg import noise
from dpreg.arguments import checked
from dpreg.checks import InputError
from dpreg.pipeline.domain import Ball, Box, Domain

STEPS = {
    "replace": "for data sets that differ in one replaced record; their number is public",
    "add_remove": "for data sets that differ in one record, added or removed",
}
ALWAYS = (
    "other releases from the same records: what they cost adds up",
    "several records of one person: k records cost k times as much",
    "bounds, columns, penalties or epsilon that were chosen by looking at the records",
    "scores, plots, counts and error messages that were computed from the records",
)
LAST_BITS = "the last bits of floating-point noise: it is for study, and sampler='opendp' is for publishing"


@checked
def statement(spends: Sequence[Any], domain: Domain | None = None) -> dict[str, list[str]]:
    """Return the parts of a privacy statement, each a list of lines.

    Parameters
    ----------
    spends : sequence of Spend
        As in a ledger, all of the same records.
    domain : Domain, optional
        Where the records live, if it is one for all of them.

    Examples
    --------
    >>> statement([])["guarantee"]
    ['nothing was released']
    """
    for spend in spends:
        if not hasattr(spend, "neighbours"):
            raise InputError(f"an entry of spends is of type {type(spend).__name__}: give those of a ledger")
    relations = sorted({spend.neighbours for spend in spends})
    total = [_total(spends)] if spends else ["nothing was released"]
    parts = {"guarantee": [*total, *(STEPS[one] for one in relations)]}
    parts["released"] = [
        f"{spend.released}, {spend.mechanism} noise ({spend.noise or 'not drawn'})" for spend in spends
    ]
    if domain is not None:
        parts["bounds"] = [*bounds(domain), "public; what lies beyond is clipped"]
    parts["not covered"] = [*ALWAYS, *_more(spends)]
    return {title: lines for title, lines in parts.items() if lines}


@checked
def bounds(domain: Domain) -> list[str]:
    """Return the bounds of a domain, one line for each column, or one for all if they have the same and no names.

    Examples
    --------
    >>> bounds(Box({"age": 18, "hours": 0}, {"age": 90, "hours": 80}, response=(0, 1)))
    ['age: 18 to 90', 'hours: 0 to 80', 'response: 0 to 1']
    """
    low, high = domain.response
    names = domain.names or tuple(f"column {j}" for j in range(domain.d))
    if isinstance(domain, Ball):
        centre = ", ".join(f"{value:.12g}" for value in domain.centre)
        lines = [f"{', '.join(names)}: at most {domain.radius:.12g} from ({centre})"]
    elif isinstance(domain, Box):
        pairs = list(zip(domain.lower, domain.upper, strict=True))
        if len(set(pairs)) == 1 and not domain.names:
            names, pairs = (f"all {domain.d} columns",), pairs[:1]
        lines = [f"{name}: {low:.12g} to {high:.12g}" for name, (low, high) in zip(names, pairs, strict=True)]
    else:
        lines = []
    return [*lines, f"response: {low:.12g} to {high:.12g}"]


@checked
def text(parts: dict[str, list[str]]) -> str:
    """Return a statement as plain text.

    Examples
    --------
    >>> print(text({"guarantee": ["epsilon = 1"]}))
    Privacy statement
      guarantee
        epsilon = 1
    """
    lines = [f"  {title}\n" + "\n".join(f"    {line}" for line in part) for title, part in parts.items()]
    return "\n".join(["Privacy statement", *lines])


@checked
def page(parts: dict[str, list[str]]) -> str:
    """Return a statement as HTML, for notebooks; all that it says is escaped.

    Examples
    --------
    >>> page({"guarantee": ["a < b"]})
    '<dl class="dpreg-privacy"><dt>guarantee</dt><dd>a &lt; b</dd></dl>'
    """
    items = [
        f"<dt>{html.escape(title)}</dt>" + "".join(f"<dd>{html.escape(line)}</dd>" for line in part)
        for title, part in parts.items()
    ]
    return f'<dl class="dpreg-privacy">{"".join(items)}</dl>'


def _total(spends: Sequence[Any]) -> str:
    epsilon, delta = (math.fsum(getattr(spend, name) for spend in spends) for name in ("epsilon", "delta"))
    if math.isinf(epsilon):
        return f"rho = {math.fsum(spend.rho for spend in spends):.12g} (zero-concentrated differential privacy)"
    kind = "pure differential privacy" if delta == 0 else "approximate differential privacy"
    return f"epsilon = {epsilon:.12g}, delta = {delta:.12g} ({kind})"


def _more(spends: Sequence[Any]) -> list[str]:
    lines = sorted({spend.caveat for spend in spends} - {""})
    if any(spend.noise.startswith(noise.SEEDED) for spend in spends):
        lines.append("anybody who knows the seed, and takes the noise off")
    return [*lines, *([LAST_BITS] if any(spend.noise.startswith("numpy") for spend in spends) else [])]
