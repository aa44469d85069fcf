"""Does the report's one file read right in a real browser: offline, escaped, dark, on a phone, without scripts?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from report.planted_capacity import Planted
from report.planted_paths import PATHS
from writepath.provision import packages
from writepath.report import capacity_page
from writepath.report.capacity_figures import capacity_figures
from writepath.report.capacity_raw import read

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LINKS = capacity_page.Links(assets="capacity", reading="reading.md", raw="raw", method="method.md")
HOSTILE = (
    "\"><script>document.title='run'</script><img src=x onerror=\"document.title='run'\"> 'q' & {{ 7*7 }}"
)
AA_OF_TEXT = 4.5  # contrast that WCAG asks of text
CONTRASTS = """() => {
  const rgba = text => {
    const found = text.match(/[\\d.]+/g).map(Number);
    return [...found.slice(0, 3), found.length > 3 ? found[3] : 1];
  };
  const part = value => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * part(r / 255) + 0.7152 * part(g / 255) + 0.0722 * part(b / 255);
  const behind = element => {
    for (let one = element; one; one = one.parentElement) {
      const colour = rgba(getComputedStyle(one).backgroundColor);
      if (colour[3] === 1) return colour;
    }
    return [255, 255, 255, 1];
  };
  document.querySelectorAll("details").forEach(one => { one.open = true; });
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim(), parent = walker.currentNode.parentElement;
    if (!text || parent.closest("style, defs")) continue;
    const style = getComputedStyle(parent);
    const ink = rgba(parent.closest("svg") ? style.fill : style.color);
    const [high, low] = [light(ink), light(behind(parent))].sort((a, b) => b - a);
    found.push([text.slice(0, 40), (high + 0.05) / (low + 0.05)]);
  }
  return found;
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A Chromium that is installed; none is downloaded."""
    program = packages.ensure_one(packages.CHROMIUM, print)
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=str(program))
        yield started
        started.close()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the planted run, with a hostile title among its variants."""
    root = tmp_path_factory.mktemp("run")
    paths = (*PATHS[:-1], replace(PATHS[-1], title=HOSTILE))
    figures = capacity_figures(read(Planted(root=root, paths=paths).write()))
    page = root / "capacity.html"
    page.write_text(capacity_page.html(figures, capacity_page.tables(figures), LINKS), encoding="utf-8")
    return page


def opened(browser: Browser, file: Path, said: list[str] | None = None, **context: Any) -> Page:
    """The page without a network; what it asks for and complains of is noted."""
    page = browser.new_context(offline=True, **context).new_page()
    if said is not None:
        page.on("request", lambda request: said.append(request.url))
        page.on("console", lambda message: said.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: said.append(f"error: {error}"))
    page.goto(file.as_uri(), wait_until="load")
    return page


def test_it_asks_for_nothing_but_itself_and_complains_of_nothing(browser: Browser, file: Path) -> None:
    said: list[str] = []
    opened(browser, file, said)
    assert said == [file.as_uri()]


def test_the_summary_comes_first_and_says_which_path_for_which_rate(browser: Browser, file: Path) -> None:
    page = opened(browser, file)
    summary = page.locator("main > section").first
    assert "JPA (baseline): ~2,200/s." in summary.inner_text()
    assert page.locator("main > *").first.get_attribute("class") == "summary"
    links = summary.locator("a").evaluate_all("all => all.map(one => one.getAttribute('href'))")
    assert "raw/jpa" in links


def test_every_table_is_there_with_its_rows(browser: Browser, file: Path) -> None:
    page = opened(browser, file)
    titles = page.locator("main h2").all_inner_texts()
    for title in (
        "Capacity",
        "Bottlenecks",
        "Overload and recovery",
        "Validity",
        "Load steps",
        "Fingerprint",
    ):
        assert title in titles
    assert page.locator("table[aria-labelledby=capacity] tbody tr").count() == len(PATHS)
    assert page.locator("figure svg").count() == len(PATHS)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_what_is_behind_it(browser: Browser, file: Path, scheme: str) -> None:
    page = opened(browser, file, color_scheme=scheme)
    contrasts = page.evaluate(CONTRASTS)
    assert len(contrasts) > 500
    assert [(text, round(ratio, 2)) for text, ratio in contrasts if ratio < AA_OF_TEXT] == []


def test_the_dark_page_is_dark(browser: Browser, file: Path) -> None:
    asked = "() => getComputedStyle(document.body).backgroundColor"
    light, dark = (opened(browser, file, color_scheme=scheme).evaluate(asked) for scheme in ("light", "dark"))
    assert (light, dark) == ("rgb(255, 255, 255)", "rgb(21, 24, 28)")


@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_is_never_wider_than_the_window(browser: Browser, file: Path, width: int) -> None:
    page = opened(browser, file, viewport={"width": width, "height": 800})
    page.evaluate("() => document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert page.evaluate("() => document.documentElement.scrollWidth") == width


def test_a_hostile_title_is_shown_and_not_run(browser: Browser, file: Path) -> None:
    page = opened(browser, file)
    assert page.title() == "How many writes a second each path carries"
    assert page.locator("script, img").count() == 0
    shown = page.locator("table[aria-labelledby=capacity] tbody th").last.inner_text()
    assert shown == HOSTILE
    assert page.locator("[onerror]").count() == 0


def test_it_needs_no_script(browser: Browser, file: Path) -> None:
    page = opened(browser, file, java_script_enabled=False)
    assert page.locator("table[aria-labelledby=capacity] tbody tr").count() == len(PATHS)
    page.locator("summary").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("table[aria-labelledby=holds] tbody tr").first.is_visible()


def test_tables_that_scroll_can_be_reached_by_keyboard(browser: Browser, file: Path) -> None:
    page = opened(browser, file, viewport={"width": 360, "height": 800})
    reached = page.locator(".scroll").evaluate_all("all => all.map(one => one.tabIndex)")
    assert reached
    assert set(reached) == {0}


def test_no_two_drawings_share_an_id(browser: Browser, file: Path) -> None:
    ids = opened(browser, file).locator("[id]").evaluate_all("all => all.map(one => one.id)")
    assert len(ids) == len(set(ids))
