"""Advice from a profile: patterns that cost time in any library, and their lines."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ...common.callers import shown
from ...common.events import ELEMENT, ELEMENT_SET
from ..recorder import Profile
from ..records import Call, Compilation, Note, Transfer

_ELEMENTS = 200
"""Number of accesses to single elements at one line from which they count as a loop over elements."""
_LOOKS = 50
_GROWTHS = 10
_TRIPS = 10
_UPLOADS = 3
_AGAIN, _AGAIN_AT_A_LINE = 10, 3
"""Numbers of calls that compiled again, in the program and at a line, from which there is advice about new shapes."""
_SHARE = 0.1
"""Share of the calls' time from which there is advice about a host function, and of the wall time for compilation."""
_LISTED = 4
_DO = "\0"
"""Separator between the finding and the remedy while advice is assembled."""

_LOOK = frozenset({"bool()", "int()", "float()", "complex()", "an index", "item()", "printing"})


@dataclass(eq=False)
class Advice:
    """Pattern at one line (``"element loop"``, ``"growing array"``, …), and the text of the finding and its remedy."""

    kind: str
    text: str
    file: str
    line: int
    count: int


def size(nbytes: float) -> str:
    """Format a number of bytes for people."""
    for unit in ("B", "kB", "MB", "GB"):
        if nbytes < 1000:
            return f"{nbytes:.0f} {unit}" if unit == "B" else f"{nbytes:.1f} {unit}"
        nbytes /= 1000
    return f"{nbytes:.1f} TB"


def advise(profile: Profile, calls: list[Call], transfers: list[Transfer]) -> list[Advice]:
    """Return all advice, the most frequent first; only the first of each pattern contains the remedy."""
    found = [
        *_element_loops(calls),
        *_scalar_reads(profile, transfers),
        *_growing(calls),
        *_ping_pong(profile, calls, transfers),
        *_uploads(profile),
        *_compilations(profile),
        *_slow_on_host(calls),
        *_work_of_ndarrays(profile),
        *_modules_aside(profile),
    ]
    told: set[str] = set()
    return [_once(advice, told) for advice in sorted(found, key=lambda advice: -advice.count)]


def _once(advice: Advice, told: set[str]) -> Advice:
    """Return advice with its remedy if its pattern is not in ``told``, to which the pattern is then added; else with its finding alone."""
    if advice.kind in told:
        return replace(advice, text=advice.text.partition(_DO)[0])
    told.add(advice.kind)
    return replace(advice, text=advice.text.replace(_DO, " "))


def _element_loops(calls: list[Call]) -> Iterator[Advice]:
    counts: dict[tuple[str, int], dict[str, int]] = defaultdict(lambda: {ELEMENT: 0, ELEMENT_SET: 0})
    for call in calls:
        if call.function in (ELEMENT, ELEMENT_SET):
            counts[call.file, call.line][call.function] += call.count
    for (file, line), count in counts.items():
        total = sum(count.values())
        if total >= _ELEMENTS:
            did = [f"{n:,} {what}" for n, what in ((count[ELEMENT], "read"), (count[ELEMENT_SET], "written")) if n]
            text = (
                f"elements one at a time: {' and '.join(did)}.{_DO}Say it with whole arrays (slices, masks, np.where), or "
                "loop over x.tolist()."
            )
            yield Advice("element loop", text, file, line, total)


def _scalar_reads(profile: Profile, transfers: list[Transfer]) -> Iterator[Advice]:
    looks: dict[tuple[str, int], int] = defaultdict(int)
    for note in profile.syncs():
        looks[note.file, note.line] = max(looks[note.file, note.line], note.count)
    for row in transfers:
        if row.direction == "to_host" and row.why in _LOOK:
            looks[row.file, row.line] = max(looks[row.file, row.line], row.count)
    for (file, line), count in looks.items():
        if count >= _LOOKS:
            text = (
                f"a value is read {count:,} times, and each read waits for the device.{_DO}Read every n-th, or keep "
                "the values in an array until the loop is over."
            )
            yield Advice("scalar reads", text, file, line, count)


def _growing(calls: list[Call]) -> Iterator[Advice]:
    for call in calls:
        if call.grew >= _GROWTHS:
            text = (
                f"{call.function} makes an array longer, about {call.grew:,} times, and each time copies all of it.{_DO}Collect "
                "the parts in a list and join them once, or make the array at its full size first."
            )
            yield Advice("growing array", text, call.file, call.line, call.grew)


def _ping_pong(profile: Profile, calls: list[Call], transfers: list[Transfer]) -> Iterator[Advice]:
    trips: dict[tuple[str, int], dict[str, list[int]]] = defaultdict(lambda: {"to_device": [0, 0], "to_host": [0, 0]})
    for row in transfers:
        if row.direction in ("to_device", "to_host") and row.why not in _LOOK:
            cell = trips[row.file, row.line][row.direction]
            cell[0] += row.count
            cell[1] += row.nbytes
    told = set()
    for call in calls:
        place = call.file, call.line
        there, back = trips[place]["to_host"], trips[place]["to_device"]
        if call.kind == "host" and place not in told and min(call.count, there[0], back[0]) >= _TRIPS:
            told.add(place)
            text = (
                f"{call.function} runs on the host ({call.reason}): {there[0]:,} arrays ({size(there[1])}) go to the host "
                f"for it and {back[0]:,} ({size(back[1])}) come back.{_DO}Move it out of the loop, or keep this part on NumPy."
            )
            yield Advice("ping-pong", text, *place, min(there[0], back[0]))
    for note in profile.returns():
        if note.count >= _TRIPS and (note.file, note.line) not in told:
            text = (
                f"an array ({note.why}) that came from the device is moved back to it, {note.count:,} times.{_DO}Keep the "
                "array that it was made of."
            )
            yield Advice("ping-pong", text, note.file, note.line, note.count)


def _uploads(profile: Profile) -> Iterator[Advice]:
    """Yield one piece of advice, at the line with most uploads, because the same ndarrays are used at several lines."""
    found = [note for note in profile.repeated_uploads() if note.count >= _UPLOADS]
    if found:
        most, count = found[0], sum(note.count for note in found)
        kinds = list(dict.fromkeys(note.why for note in found))
        listed = ", ".join(kinds[:_LISTED]) + (", …" if len(kinds) > _LISTED else "")
        text = (
            f"ndarrays ({listed}) that were on the device already are moved there again, with the same values, {count:,} times "
            f"({size(sum(note.nbytes for note in found))}){_also(found)}.{_DO}Make each an array once, where your code gets it: "
            "before the loop, or first thing in a function that a library calls; with np.asarray under the launcher, else with "
            "ad.asarray."
        )
        yield Advice("repeated uploads", text, most.file, most.line, count)


def _also(rows: Sequence[Note | Compilation]) -> str:
    """Return the text that lists the places of all rows except the first, where the advice is given."""
    places = list(dict.fromkeys(shown(row.file, row.line, os.path.basename) for row in rows))[1:]
    if len(places) > _LISTED:
        places[_LISTED:] = [f"{len(places) - _LISTED} more"]
    return f" here and at {', '.join(places)}" if places else " here"


def _compilations(profile: Profile) -> Iterator[Advice]:
    found = [row for row in profile.compilations() if row.again >= _AGAIN_AT_A_LINE]
    seconds = sum(row.seconds for row in found)
    if sum(row.again for row in found) >= _AGAIN and seconds >= _SHARE * profile.wall:
        most, count = found[0], sum(row.count for row in found)
        text = (
            f"{count:,} compilations{_also(found)} took {seconds:.1f} s: {most.backend} compiles an operation for each new shape. "
            "Keep shapes fixed (np.where instead of masks, arrays made at their full size first), or use another backend."
        )
        yield Advice("compilation", text, most.file, most.line, count)


def _slow_on_host(calls: list[Call]) -> Iterator[Advice]:
    total = sum(call.seconds for call in calls)
    for call in calls:
        if call.kind == "host" and total and call.seconds >= _SHARE * total:
            text = f"{call.function} on the host takes {call.seconds / total:.0%} of the time in array calls: {call.reason}."
            yield Advice("host", text, call.file, call.line, call.count)


_OF_NDARRAYS = {
    "ndarray": (
        "Operators and methods of the ndarrays that libraries make (x * 2, x.mean()) are NumPy's own work, on the host, and "
        "not counted here. Make such an ndarray an array once: x = np.asarray(x) under the launcher, else x = ad.asarray(x)."
    ),
    "window": (
        "Operators and methods of ndarrays on memory that is not their own (a buffer's, a file's, that of records) are "
        "NumPy's own work, on the host, and not counted here; np.asarray leaves them there, so that what is written is seen. "
        "Where only the values are wanted, take a copy once, which comes to the backend: x = np.array(x)."
    ),
}
"""Kind of a note in ``Profile.ndarrays`` -> description of the finding and remedy."""


def _work_of_ndarrays(profile: Profile) -> Iterator[Advice]:
    """Yield one piece of advice for each kind, at its first line, because results of ndarrays are ndarrays too."""
    for kind, what_to_do in _OF_NDARRAYS.items():
        found = [note for note in profile.ndarrays if note.what == kind]
        if found:
            first, *others = found
            lines = [str(note.line) for note in others[:_LISTED]] + ["others"] * (len(others) > _LISTED)
            also = f" and in line{'' if len(lines) == 1 else 's'} {', '.join(lines)}" if lines else ""
            text = f"{first.why} never came to the backend, so here{also} NumPy itself works. {what_to_do}"
            yield Advice("ndarray", text, first.file, first.line, len(found))


def _modules_aside(profile: Profile) -> Iterator[Advice]:
    for note in profile.aside:
        named = note.why.split(", ")
        names = ", ".join(named[:_LISTED]) + (", …" if len(named) > _LISTED else "")
        text = (
            f"{names} in {note.file} {'is' if len(named) == 1 else 'are'} not under the script's folder, and what "
            f"{'it computes' if len(named) == 1 else 'they compute'} is left to NumPy, uncounted: --include {note.file} takes "
            f"{'it' if len(named) == 1 else 'them'} along."
        )
        yield Advice("module", text, os.path.join(note.file, named[0]), note.line, note.count)
