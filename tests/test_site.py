"""The built documentation in headless Chromium: every page, at two widths, light and dark.

Each page must raise no console error, load its images, fit its width and have no broken link. Tables show all their columns on a
desktop; on a phone wide ones scroll inside the page.
With ``SITE_SCREENSHOTS=FOLDER`` in the environment pictures are kept.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import importlib.util
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import AsyncIterator, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urlsplit

import pytest

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
LACKING = [name for name in ("sphinx", "furo", "myst_parser", "tornado") if importlib.util.find_spec(name) is None]

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(CHROMIUM is None or bool(LACKING), reason=f"the site needs Chromium and {LACKING or 'no more'}"),
]

WIDTHS = {"desktop": (1366, 900), "phone": (375, 812)}
SCHEMES = ("light", "dark")
LOOK = """JSON.stringify({
    wide: document.documentElement.scrollWidth - window.innerWidth,
    cut: [...document.querySelectorAll('article *')].filter(e => {
        const box = e.getBoundingClientRect();
        if (!box.width || box.right <= window.innerWidth + 1) return false;
        for (let p = e; p && p.tagName != 'ARTICLE'; p = p.parentElement)
            if (['auto', 'scroll'].includes(getComputedStyle(p).overflowX)) return false;
        return true;
    }).slice(0, 3).map(e => e.tagName + ': ' + e.textContent.slice(0, 60)),
    columns: [...document.querySelectorAll('.table-wrapper')].filter(e => e.scrollWidth > e.clientWidth + 1)
        .map(e => e.textContent.trim().slice(0, 60)),
    images: [...document.images].filter(i => i.complete && !i.naturalWidth && i.getClientRects().length).map(i => i.src),
    background: getComputedStyle(document.body).backgroundColor,
    copy: document.querySelectorAll('div.highlight').length - document.querySelectorAll('button.copybtn').length,
})"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "docs", str(made)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert done.returncode == 0, done.stderr
    return made


def pages(site: Path) -> list[Path]:
    return sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)


class _Links(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = dict(attributes)
        self.ids |= {value for value in (named.get("id"), named.get("name")) if value}
        self.links += [value for value in (named.get("href"), named.get("src")) if value]


def test_no_link_is_broken(site: Path) -> None:
    found = {path: _Links(path.read_text("utf-8")) for path in pages(site)}
    broken = []
    for path, page in found.items():
        for link in page.links:
            if urlsplit(link).scheme or link.startswith("//"):
                continue
            target, fragment = urldefrag(link)
            file = path if not target else (path.parent / unquote(urlsplit(target).path)).resolve()
            there = file.exists() and (not fragment or file.suffix != ".html" or unquote(fragment) in found[file].ids)
            if not there:
                broken.append(f"{path.relative_to(site)}: {link}")
    assert broken == []


@pytest.mark.parametrize("words", ["gradient", "install", "gpu"])
def test_search_finds(site: Path, words: str) -> None:
    index = (site / "searchindex.js").read_text("utf-8")
    assert re.search(rf'"?{words[:7]}\w*"?:', index)


class _Tab:
    """A page of the browser, spoken to by the DevTools protocol."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self.errors: list[str] = []
        self._loaded = False

    async def send(self, method: str, **params: Any) -> Any:
        number = next(self._numbers)
        await self._socket.write_message(json.dumps({"id": number, "method": method, "params": params}))
        while (answer := await self._read()).get("id") != number:
            pass
        assert "error" not in answer, answer
        return answer["result"]

    async def _read(self) -> Any:
        message = json.loads(await asyncio.wait_for(self._socket.read_message(), 60))
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.errors.append(params["exceptionDetails"]["text"])
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert"):
            self.errors.append(str(params["args"]))
        elif method == "Page.loadEventFired":
            self._loaded = True
        return message

    async def open(self, url: str) -> Any:
        self._loaded = False
        await self.send("Page.navigate", url=url)
        while not self._loaded:
            await self._read()
        found = await self.send("Runtime.evaluate", expression=LOOK)
        return json.loads(found["result"]["value"])


@contextlib.contextmanager
def _browser() -> Iterator[str]:
    assert CHROMIUM is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        flags = (
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--remote-debugging-port=0",
            f"--user-data-dir={profile}",
        )
        with subprocess.Popen([CHROMIUM, *flags, "about:blank"], stderr=subprocess.PIPE, text=True) as process:
            try:
                assert process.stderr is not None
                line = next(line for line in process.stderr if "DevTools listening" in line)
                port = urlsplit(line.split()[-1]).port
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
                    targets = json.load(answer)
                yield next(target["webSocketDebuggerUrl"] for target in targets if target["type"] == "page")
            finally:
                process.terminate()


@contextlib.asynccontextmanager
async def _tab(address: str) -> AsyncIterator[_Tab]:
    from tornado.websocket import websocket_connect

    socket = await websocket_connect(address, max_message_size=1 << 28)
    tab = _Tab(socket)
    for domain in ("Page", "Runtime", "Log"):
        await tab.send(f"{domain}.enable")
    yield tab
    socket.close()


def test_every_page_is_whole(site: Path) -> None:
    keep = os.environ.get("SITE_SCREENSHOTS")

    async def walk(address: str) -> list[str]:
        wrong, seen = [], set()
        async with _tab(address) as tab:
            for (width_name, (width, height)), scheme in itertools.product(WIDTHS.items(), SCHEMES):
                await tab.send(
                    "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                    mobile=width_name == "phone",
                )  # fmt: skip
                dark = [{"name": "prefers-color-scheme", "value": scheme}]
                await tab.send("Emulation.setEmulatedMedia", features=dark)
                for path in pages(site):
                    name = f"{path.relative_to(site)} on a {width_name}, {scheme}"
                    tab.errors.clear()
                    look = await tab.open(path.as_uri())
                    seen.add((scheme, look["background"]))
                    hidden = look["columns"] if width_name == "desktop" else []
                    if tab.errors or look["wide"] > 0 or look["cut"] or hidden or look["images"]:
                        wrong.append(f"{name}: {tab.errors} {look}")
                    if keep:
                        picture = await tab.send("Page.captureScreenshot", format="png")
                        file = f"{'-'.join(path.relative_to(site).with_suffix('').parts)}-{width_name}-{scheme}.png"
                        (Path(keep) / file).write_bytes(base64.b64decode(picture["data"]))
        assert len({background for _, background in seen}) == 2  # dark differs from light
        return wrong

    with _browser() as address:
        assert asyncio.run(walk(address)) == []
