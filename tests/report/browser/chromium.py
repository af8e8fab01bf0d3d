"""A real Chromium driven over its debugging pipe: no driver, no web socket, nothing to install.

Chromium reads commands from file descriptor 3 and answers on 4, each message ended by a zero byte
(``--remote-debugging-pipe``).
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--disable-extensions", "--mute-audio", "--hide-scrollbars",
    "--remote-debugging-pipe", "--force-color-profile=srgb",
)  # fmt: skip
# The pipe's ends have to be descriptors 3 and 4, whatever they are here.
_START = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(e), fcntl.F_DUPFD, 20) for e in sys.argv[1:3]]
os.dup2(ends[0], 3), os.dup2(ends[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
_SECONDS = 60.0


def find_chromium() -> str | None:
    """The program, if there is one; CHROMIUM names another."""
    named = os.environ.get("CHROMIUM")
    names = [named] if named else ["chromium", "chromium-browser", "google-chrome"]
    return next((path for name in names if (path := shutil.which(name))), None)


class Browser:
    """Chromium with one page; use as a context."""

    def __init__(self, program: str) -> None:
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        command = [sys.executable, "-c", _START, str(theirs_in), str(theirs_out), program]
        self._process = subprocess.Popen(
            [*command, *FLAGS, f"--user-data-dir={self._folder.name}", "about:blank"],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._number, self._rest, self._session = 0, b"", ""
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        answer = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = answer["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the browser."""
        self._session = ""
        try:
            self.call("Browser.close")
            self._process.wait(20)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        for end in (self._in, self._out):
            os.close(end)
        self._folder.cleanup()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send one command and wait for its answer; events on the way are kept in `events`."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._write(json.dumps(message).encode() + b"\0")
        while True:
            received = self._receive(_SECONDS)
            if received is None:
                raise RuntimeError(f"Chromium did not answer {method} in time")
            if received.get("id") == self._number:
                if "error" in received:
                    raise RuntimeError(f"{method}: {received['error']}")
                answer: dict[str, Any] = received["result"]
                return answer
            self.events.append(received)

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._out, data) :]

    def _receive(self, seconds: float) -> dict[str, Any] | None:
        deadline = time.monotonic() + seconds
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                return None
            read = os.read(self._in, 1 << 20)
            if not read:
                raise RuntimeError("Chromium ended")
            self._rest += read
        message, _, self._rest = self._rest.partition(b"\0")
        decoded: dict[str, Any] = json.loads(message)
        return decoded

    def wait_for(self, event: str) -> None:
        """Wait until `event` has come since the last `open`."""
        while not any(e.get("method") == event for e in self.events):
            received = self._receive(_SECONDS)
            if received is None:
                raise RuntimeError(f"{event} did not come in time")
            self.events.append(received)

    def open(self, path: Path, *, width: int = 1280, dark: bool = False) -> None:
        """Show a file at a width in pixels, in light or dark colours."""
        self.events.clear()
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900,
                  deviceScaleFactor=1, mobile=width < 600)  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=path.resolve().as_uri())
        self.wait_for("Page.loadEventFired")

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression (a promise is waited for)."""
        answer = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"])[:500])
        return answer["result"].get("value")

    def complaints(self) -> list[str]:
        """What the console and the page have complained about since the last `open`."""
        found = []
        for event in self.events:
            method, body = event.get("method"), event.get("params", {})
            if method == "Log.entryAdded":
                found.append(str(body["entry"].get("text")))
            elif method == "Runtime.exceptionThrown" or (
                method == "Runtime.consoleAPICalled" and body.get("type") in ("error", "warning")
            ):
                found.append(str(body)[:300])
        return found

    def requests(self) -> list[str]:
        """Addresses asked for since the last `open`."""
        return [
            str(e["params"]["request"]["url"])
            for e in self.events
            if e.get("method") == "Network.requestWillBeSent"
        ]

    def screenshot(self, path: Path, *, top: float = 0, height: float | None = None) -> None:
        """Save the page, or a part of it, as PNG or WebP."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        part = {"x": 0, "y": top, "width": size["width"], "scale": 1}
        part["height"] = size["height"] - top if height is None else height
        kind: dict[str, Any] = {"format": "png"}
        if path.suffix == ".webp":
            kind = {"format": "webp", "quality": 82}
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=part, **kind)
        path.write_bytes(base64.b64decode(answer["data"]))

    def pdf(self, path: Path) -> None:
        """Save the page as it prints."""
        options = {"printBackground": True, "preferCSSPageSize": True}
        path.write_bytes(base64.b64decode(self.call("Page.printToPDF", **options)["data"]))
