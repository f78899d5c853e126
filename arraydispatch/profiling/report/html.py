"""The report as one self-contained HTML file: plots, tables, the annotated source."""

from __future__ import annotations

import importlib.util
import json
import linecache
import os
import re
from collections import defaultdict
from functools import cache
from math import prod
from typing import IO, Any

from ...common.callers import cell_of, shown
from ..recorder import Profile
from .advice import size
from .data import Run, as_dict
from .summary import verified

_CLASSES = ("native", "override", "composed", "view", "program", "host kernel", "fused", "block", "hosted", "host")
"""Classes of calls in stacking order; other classes follow."""
_COLORS = {
    "native": "#2a9d5c", "override": "#76b947", "composed": "#3b82c4", "view": "#9aa5b1", "program": "#14746f", "host kernel": "#c9a227", "hosted": "#8e6bbf",
    "fused": "#b7a3d4", "block": "#6d4fa3",
    "host": "#d1495b", "Python and everything else": "#c9ced6",
}  # fmt: skip
_OTHER = "#5f6b7a"
_TOP = 14
_BINS = 160
_PROGRAMS = 8
_WHOLE_FILE = 500
_AROUND = 6
"""Number of lines of a long file that are shown around each line with figures."""


def missing() -> str | None:
    """Return the reason why this installation cannot write an HTML report, as one sentence with the remedy; None if it can."""
    lacking = [name for name in ("jinja2", "plotly") if importlib.util.find_spec(name) is None]
    if not lacking:
        return None
    return f"an HTML report needs {' and '.join(lacking)}; install with: pip install jinja2 'plotly>=6'"


def write_html(stream: IO[str], profile: Profile, run: Run) -> None:
    """Write the report as an HTML page."""
    data = as_dict(profile, run)
    page = _template().render(
        data=data, script=_plotly(), plots=_json(_plots(profile, data)), sources=_sources(data), colors=_colors(data),
        share=_share(data), dropped=profile.dropped_events, verified=verified(data["verification"]) if data["verification"] else "",
    )  # fmt: skip
    stream.write(page)


@cache
def _template() -> Any:
    import jinja2

    environment = jinja2.Environment(
        autoescape=True,
        loader=jinja2.PackageLoader("arraydispatch.profiling.report", ""),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(size=size, time=_time, short=_short)
    return environment.get_template("page.html")


@cache
def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())


def _json(value: Any) -> str:
    """Encode JSON for use inside a script element."""
    return json.dumps(value).replace("</", "<\\/").replace("<!--", "<\\!--")


def _time(seconds: float) -> str:
    for unit, scale in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 1 or unit == "µs":
            return f"{seconds * scale:.3g} {unit}" if seconds * scale < 1000 else f"{seconds * scale:,.0f} {unit}"
    return ""


def _short(file: str) -> str:
    return cell_of(file) or os.path.basename(file) or file


def _color(kind: str) -> str:
    return _COLORS.get(kind, _OTHER)


def _ordered(kinds: Any) -> list[str]:
    known = [kind for kind in _CLASSES if kind in kinds]
    return known + sorted(set(kinds) - set(known))


def _colors(data: dict[str, Any]) -> dict[str, str]:
    return {kind: _color(kind) for kind in _ordered(data["calls_by_class"])}


def _share(data: dict[str, Any]) -> str:
    """Format the share of the calls (without views) that ran on the backend; "none" if there are no calls."""
    working = sum(count for kind, count in data["calls_by_class"].items() if kind != "view")
    return f"{data['calls_on_backend'] / working:.1%}" if working else "none"


# -- plots -------------------------------------------------------------------------------------------------------------


def _plots(profile: Profile, data: dict[str, Any]) -> dict[str, Any]:
    """Return element id -> traces and layout, for Plotly; an empty figure is left out."""
    figures = {
        "plot-functions": _by_function(data),
        "plot-share": _by_class(data),
        "plot-line": _time_line(profile, data["seconds"]),
        "plot-bytes": _by_bytes(data),
        "plot-devices": _by_device(data),
    }
    return {name: figure for name, figure in figures.items() if figure is not None}


def _bars(traces: list[dict[str, Any]], height: int, xaxis: dict[str, Any], **layout: Any) -> dict[str, Any]:
    """Return a figure of stacked bars, with the legend above them."""
    return {"data": traces, "layout": {
        "barmode": "stack", "height": height, "margin": {"l": 10, "r": 20, "t": 8, "b": 44},
        "xaxis": xaxis, "yaxis": {"automargin": True, "ticksuffix": " "},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
    } | layout}  # fmt: skip


def _axis(title: str, **more: Any) -> dict[str, Any]:
    return {"title": {"text": title, "standoff": 8}, "automargin": True, "rangemode": "tozero", **more}


def _by_function(data: dict[str, Any]) -> dict[str, Any] | None:
    seconds: dict[str, dict[str, float]] = defaultdict(dict)
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for row in data["functions"]:
        kinds = seconds[row["function"]]
        kinds[row["class"]] = kinds.get(row["class"], 0.0) + row["seconds"]
        counts[row["function"], row["class"]] += row["count"]
    if not seconds:
        return None
    top = sorted(seconds, key=lambda name: sum(seconds[name].values()))[-_TOP:]
    traces = [
        {
            "type": "bar", "orientation": "h", "name": kind, "y": top, "x": [seconds[name].get(kind, 0.0) * 1e3 for name in top],
            "marker": {"color": _color(kind)}, "customdata": [counts[name, kind] for name in top],
            "hovertemplate": "%{y}: %{x:.3f} ms in %{customdata:,} calls<extra>" + kind + "</extra>",
        }
        for kind in _ordered({kind for name in top for kind in seconds[name]})
    ]  # fmt: skip
    return _bars(traces, 115 + 25 * len(top), _axis("milliseconds"), showlegend=len(traces) > 1)


def _by_class(data: dict[str, Any]) -> dict[str, Any] | None:
    seconds: dict[str, float] = defaultdict(float)
    for row in data["functions"]:
        seconds[row["class"]] += row["seconds"]
    kinds = _ordered(seconds)
    rest = data["seconds"] - sum(seconds.values())
    if rest > 0:
        seconds["Python and everything else"] = rest
        kinds.append("Python and everything else")
    if not kinds:
        return None
    pie = {
        "type": "pie", "hole": 0.58, "sort": False, "direction": "clockwise", "labels": kinds,
        "values": [seconds[kind] for kind in kinds], "marker": {"colors": [_color(kind) for kind in kinds]},
        "textinfo": "percent", "textposition": "inside", "hovertemplate": "%{label}: %{value:.4f} s (%{percent})<extra></extra>",
    }  # fmt: skip
    legend = {"orientation": "h", "y": -0.05, "x": 0.5, "xanchor": "center"}
    return {
        "data": [pie],
        "layout": {"height": 330, "margin": {"l": 10, "r": 10, "t": 10, "b": 10}, "legend": legend},
    }


def _time_line(profile: Profile, seconds: float) -> dict[str, Any] | None:
    """Return the plot of the share of each time slice of the run that was spent in calls, by class; None if no calls were kept."""
    events = profile.events()
    if not events or seconds <= 0:
        return None
    end = max(seconds, *(event.start + event.seconds for event in events))
    width = end / _BINS
    spent: dict[str, list[float]] = defaultdict(lambda: [0.0] * _BINS)
    for event in events:
        begin, stop = max(event.start, 0.0), event.start + event.seconds
        first, last = int(begin / width), min(int(stop / width), _BINS - 1)
        for at in range(first, last + 1):
            spent[event.kind][at] += max(0.0, min(stop, (at + 1) * width) - max(begin, at * width))
    middles = [(i + 0.5) * width for i in range(_BINS)]
    traces: list[dict[str, Any]] = [
        {
            "type": "bar", "name": kind, "x": middles, "y": [100 * y / width for y in spent[kind]], "width": width,
            "marker": {"color": _color(kind), "line": {"width": 0}},
            "hovertemplate": "%{x:.3f} s: %{y:.0f} %<extra>" + kind + "</extra>",
        }
        for kind in _ordered(spent)
    ]  # fmt: skip
    messages = profile.messages()
    if messages:
        traces.append({
            "type": "scatter", "mode": "markers", "name": "messages", "x": [m.seconds for m in messages],
            "y": [3.0] * len(messages), "text": [m.text for m in messages], "hovertemplate": "%{x:.3f} s: %{text}<extra></extra>",
            "marker": {"symbol": "triangle-up", "size": 10, "color": "#e9a23b"},
        })  # fmt: skip
    return _bars(
        traces, 240, {"title": {"text": "seconds since the start"}, "range": [0, end]}, bargap=0, showlegend=True,
        margin={"l": 56, "r": 20, "t": 8, "b": 44}, yaxis={"title": {"text": "% of the time"}, "rangemode": "tozero"},
    )  # fmt: skip


def _by_bytes(data: dict[str, Any]) -> dict[str, Any] | None:
    rows = [row for row in data["lines"] if row["bytes_to_device"] or row["bytes_to_host"]]
    rows = sorted(rows, key=lambda row: row["bytes_to_device"] + row["bytes_to_host"])[-_TOP:]
    if not rows:
        return None
    names = [shown(row["file"], row["line"], _short) for row in rows]
    traces = [
        {
            "type": "bar", "orientation": "h", "name": name, "y": names, "x": [row[key] for row in rows],
            "marker": {"color": color}, "text": [size(row[key]) if row[key] else "" for row in rows],
            "textposition": "none", "hovertemplate": "%{y}: %{text}<extra>" + name + "</extra>",
        }
        for key, name, color in (("bytes_to_device", "to the device", "#3b82c4"), ("bytes_to_host", "to the host", "#e07a3f"))
    ]  # fmt: skip
    return _bars(traces, 115 + 25 * len(rows), _axis("bytes", tickformat="~s"))


def _by_device(data: dict[str, Any]) -> dict[str, Any] | None:
    """Return the plot of the bytes that each device of a mesh receives from the others, one lane for each device, by program; None if there
    are none.
    """
    count = prod(map(int, re.findall(r"\d+", str(data["device"]).partition(":")[2])))
    rows = sorted(filter(_received, data["programs_on_mesh"]), key=_received)[-_PROGRAMS:]
    if not rows:
        return None
    lanes = [f"device {i}" for i in range(count)]
    traces = [
        {
            "type": "bar", "orientation": "h", "name": f"{i}. {os.path.basename(row['line']) or 'no line'}", "y": lanes, "x": [_received(row)] * count,
            "text": f"{size(_received(row))} in {row['runs']:,} runs; {size(row['bytes_per_device'])} held", "textposition": "none",
            "hovertemplate": "%{y}: %{text}<extra>%{fullData.name}</extra>",
        }
        for i, row in enumerate(reversed(rows), 1)
    ]  # fmt: skip
    return _bars(
        traces, 135 + 25 * min(count, 64), _axis("bytes from other devices", tickformat="~s"), showlegend=True,
        yaxis={"automargin": True, "ticksuffix": " ", "autorange": "reversed", "dtick": 1},
    )  # fmt: skip


def _received(row: dict[str, Any]) -> int:
    """Return the bytes that a device gets in all runs of a program."""
    return int(row["runs"] * sum(each["bytes"] * each["count"] for each in row["collectives"]))


# -- source ------------------------------------------------------------------------------------------------------------


def _sources(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Return each file that has figures, the busiest first, as rows for the template."""
    figures: dict[str, dict[int, dict[str, Any]]] = defaultdict(dict)
    for row in data["lines"]:
        figures[row["file"]][row["line"]] = row
    notes = _notes(data)
    for file, line in notes:
        figures[file].setdefault(line, {})
    longest = max((row["seconds"] for row in data["lines"]), default=0.0) or 1.0
    found = []
    for file, rows in figures.items():
        lines = linecache.getlines(file)
        if lines:
            found.append({
                "file": file, "seconds": sum(row.get("seconds", 0.0) for row in rows.values()),
                "rows": [_source_row(n, code, rows.get(n, {}), notes[file, n], longest)
                         if n else None for n, code in _shown(lines, set(rows))],
            })  # fmt: skip
    return sorted(found, key=lambda source: -source["seconds"])


def _shown(lines: list[str], marked: set[int]) -> list[tuple[int, str]]:
    """Return (line number, coloured code) pairs; (0, "") stands for lines left out of a long file."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    lexer = PythonLexer(stripnl=False, ensurenl=True)
    coloured = highlight("".join(lines), lexer, HtmlFormatter(nowrap=True)).split("\n")
    numbered = list(enumerate(coloured[: len(lines)], 1))
    if len(numbered) <= _WHOLE_FILE:
        return numbered
    keep = {n + d for n in marked for d in range(-_AROUND, _AROUND + 1)}
    found: list[tuple[int, str]] = []
    for n, code in numbered:
        if n in keep:
            found.append((n, code))
        elif found and found[-1][0]:
            found.append((0, ""))
    return found


def _source_row(n: int, code: str, row: dict[str, Any], notes: list[dict[str, str]], longest: float) -> dict[str, Any]:
    from markupsafe import Markup

    seconds, calls = row.get("seconds", 0.0), row.get("calls", 0)
    kinds = row.get("classes", {})
    told = sum(kinds.values()) or 1  # also blocks: a line may have nothing else
    return {
        "n": n,
        "code": Markup(code or " "),  # noqa: S704 -- made by pygments, which escapes
        "calls": calls,
        "seconds": seconds,
        "heat": round(100 * seconds / longest, 1),
        "moved": row.get("bytes_to_device", 0) + row.get("bytes_to_host", 0),
        "direction": f"{size(row.get('bytes_to_device', 0))} to the device, {size(row.get('bytes_to_host', 0))} back",
        "classes": [(kind, _color(kind), round(100 * kinds[kind] / told, 1), kinds[kind]) for kind in _ordered(kinds)],
        "functions": ", ".join(f"{count:,} × {name}" for name, count in row.get("functions", {}).items()),
        "notes": notes,
    }


def _notes(data: dict[str, Any]) -> dict[tuple[str, int], list[dict[str, str]]]:
    """Return the notes under each source line: (file, line) -> notes."""
    found: dict[tuple[str, int], list[dict[str, str]]] = defaultdict(list)

    def say(row: dict[str, Any], kind: str, text: str) -> None:
        found[row["file"], row["line"]].append({"kind": kind, "text": text})

    for row in (data["verification"] or {}).get("differences", ()):
        say(row, "differs", f"{row['function']}: {row['text']}")
    for row in data["host_fallbacks"]:
        say(row, "host", f"{row['function']} ran on the host {row['count']:,} ×: {row['reason']}")
    for row in data["left_numpy"]:
        say(row, "kept on the host", f"{row['what']} {row['count']:,} ×: {row['why']}")
    for row in data["advice"]:
        if row["kind"] != "host":
            say(row, row["kind"], row["text"])
    for row in data["casts"]:
        say(row, "precision", f"{row['what']} became {row['why']} {row['count']:,} ×")
    for row in data["compilations"]:
        kept = f", {row['kept']:,} kept by earlier processes" if row["kept"] else ""
        say(
            row,
            "compiled",
            f"{row['count']:,} × by {row['backend']}, {_time(row['seconds'])}{kept}",
        )
    for row in data["blocks"]:
        say(
            row,
            "block",
            f"{row['count']:,} × a block ended here, {row['calls']:,} calls in {_time(row['seconds'])}; plain NumPy: "
            f"{_time(row['by_numpy'])}; {row['tier']}; {row['why']}",
        )
    for row in data["syncs"]:
        say(row, "sync", f"{row['count']:,} × waited for the device: {row['why']}")
    return found
