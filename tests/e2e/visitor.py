"""A person's browser tab, which knows when its page stands still."""

from dataclasses import dataclass, field
from typing import Any

from tests.patience import PATIENCE_SECONDS

PATIENCE_MS = 1_000 * PATIENCE_SECONDS
# Nothing is on its way, and every chart that is near enough to be drawn is drawn.
STANDS_STILL = """width => {
  const isNear = (one) => {
    const box = one.getBoundingClientRect();
    return box.width > 0 && box.bottom > -299 && box.top < innerHeight + 299;
  };
  return document.readyState === "complete" && innerWidth === width
    && !document.querySelector(".htmx-request")
    && ![...document.querySelectorAll("[data-plot]:not([data-drawn])")].some(isNear);
}"""
# Letters have their fonts, and what waits for a frame, as reports of violations may, has had two.
AFTER_TWO_FRAMES = """async () => {
  await document.fonts.ready;
  for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
  await new Promise((done) => setTimeout(done));
}"""
# Charts follow the window 200 ms after its last change; a timer that is set later ends later.
AFTER_CHARTS_FOLLOWED = """async () => {
  for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
  if (document.querySelector("[data-plot][data-drawn]")) await new Promise((done) => setTimeout(done, 250));
}"""


@dataclass
class Visitor:
    """A signed-in person's browser tab that remembers everything that went wrong."""

    page: Any
    base: str
    problems: list[str] = field(default_factory=list)

    def open(self, path: str) -> int:
        """Open a page, wait until it stands still, and return its status."""
        answer = self.page.goto(self.base + path, wait_until="load")
        self.note_violations(path)
        return int(answer.status)

    def stand_still(self) -> None:
        """Wait until the page is loaded, asks for nothing, and has drawn its charts as wide as the window."""
        self.page.wait_for_function(STANDS_STILL, arg=self.page.viewport_size["width"])
        self.page.evaluate(AFTER_TWO_FRAMES)

    def resize(self, width: int) -> None:
        """Give the window another width and wait until the page has followed."""
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.wait_for_function("width => innerWidth === width", arg=width)
        self.page.evaluate(AFTER_CHARTS_FOLLOWED)
        self.stand_still()

    def note_violations(self, where: str) -> None:
        """Keep what the security policy blocked on the page that is open, once the page stands still."""
        self.stand_still()
        found = self.page.evaluate(
            "() => { const found = window.violations ?? []; window.violations = []; return found; }"
        )
        self.problems += [f"{where}: blocked {one}" for one in found]

    @property
    def overflow(self) -> int:
        """How many pixels the page is wider than the window."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth"))
