"""The results site in a browser: of everything that is published, from a folder, by mouse, keyboard and address."""

import itertools
import json
import math
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, ViewportSize, expect, sync_playwright

import planted_runs
from planted_runs import PlantedCell
from writepath.experiments import site
from writepath.experiments.publish import published_suites
from writepath.provision import packages
from writepath.records.cell import load_cell
from writepath.records.index import INDEX_FILE, load_index, save_index
from writepath.report.model import ABSENT, number

ROOT = Path(__file__).resolve().parents[3]
AXE = ROOT / "site/node_modules/axe-core/axe.min.js"
SMALL: ViewportSize = {"width": 400, "height": 800}
PUBLISHED = ROOT / "results/published/smoke"
P99 = {"suite": "smoke", "metric": "latency.p99_ms"}
PAGES = (
    {"suite": "capacity"},
    {"suite": "faults"},
    {"suite": "feed"},
    {**P99, "value": "JPA"},
)
VALUES = """async (hashes) => {
  const found = [];
  for (const hash of hashes) {
    const changed = new Promise((done) => addEventListener("hashchange", () => setTimeout(done), { once: true }));
    location.hash = hash;
    await changed;
    found.push([...document.querySelectorAll("#selection tbody tr")].map((row) => row.cells[1].textContent));
  }
  return found;
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the site."""
    return site.write_published(ROOT, tmp_path_factory.mktemp("site") / "site").parent


@pytest.fixture(scope="module")
def data(folder: Path) -> dict[str, Any]:
    """By suite, what the script gives to the page."""
    text = (folder / "site/data.js").read_text(encoding="utf-8")
    given = json.loads(text.removeprefix("writepath(").removesuffix(");\n"))
    return {suite["name"]: suite for suite in given["suites"]}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as known:
        # As root it needs to be without its sandbox; it reads our own files alone.
        program = str(packages.CHROMIUM.installed())
        with known.chromium.launch(executable_path=program, args=["--no-sandbox"]) as started:
            yield started


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Fails where the page logs an error, or asks for anything that is not a file."""
    said: list[str] = []

    def logged(message: ConsoleMessage) -> None:
        if message.type == "error":
            said.append(message.text)

    def asked(request: Request) -> None:
        if not request.url.startswith(("file:", "data:")):
            said.append(request.url)

    with browser.new_context() as context:
        opened = context.new_page()
        opened.on("pageerror", lambda error: said.append(str(error)))
        opened.on("console", logged)
        opened.on("request", asked)
        yield opened
    assert said == []


def at(folder: Path, **choice: str) -> str:
    """The address of a choice."""
    return f"{(folder / site.PAGE).as_uri()}#{urlencode(choice)}"


def cells(page: Page) -> list[list[str]]:
    """Texts of the selection's rows."""
    rows = page.locator("#selection tbody tr").all()
    return [row.locator("th, td").all_inner_texts() for row in rows]


def p99_ms(variant: str) -> float:
    """From the published record itself."""
    result = load_cell(PUBLISHED / variant / "block-01").result
    assert result is not None
    found = result["accept_latency_ms"]["p99"]
    return math.inf if found is None else float(found)


def test_the_first_page_has_answer_picture_and_the_figures_of_a_suite(page: Page, folder: Path) -> None:
    page.goto(at(folder))
    assert page.locator(".opening li").count() >= 4
    assert page.locator(".front img").evaluate("image => image.complete && image.naturalWidth > 0")
    assert cells(page)
    expect(page.locator("#chart svg")).to_have_attribute("role", "img")
    page.get_by_role("link", name="faults", exact=True).click()
    expect(page.locator("#suite")).to_have_value("faults")
    expect(page.locator("#suite")).to_be_in_viewport()


def test_every_value_of_every_metric_is_shown_as_the_data_have_it(
    page: Page, folder: Path, data: dict[str, Any]
) -> None:
    page.goto(at(folder, suite="nothing"))
    wanted = {}
    for name, suite in data.items():
        for table in suite["tables"]:
            for place, column in enumerate(table["columns"]):
                own = [row["cells"][place] for row in table["rows"] if row["variant"]]
                if (
                    place >= table["names"]
                    and not table["single"]
                    and any(isinstance(one, dict) for one in own)
                ):
                    key = urlencode({"suite": name, "metric": f"{table['key']}.{column['key']}"})
                    every = [row["cells"][place] for row in table["rows"]]
                    wanted[key] = [one["shown"] if isinstance(one, dict) else one for one in every]
    found = page.evaluate(VALUES, [*wanted])
    assert len(wanted) > 200
    assert dict(zip(wanted, found, strict=True)) == wanted


def test_values_and_ratios_are_those_of_the_published_records(page: Page, folder: Path) -> None:
    page.goto(at(folder, **P99))
    titles = {one.title: one.name for one in load_index(PUBLISHED).variants}
    for baseline in ("jpa", "elasticsearch-1s0r"):
        page.locator("#baseline").select_option(baseline)
        base = next(title for title, name in titles.items() if name == baseline)
        expect(page.locator("#selection th").nth(2)).to_have_text(f"× {base}")
        shown = {row[0].removesuffix(" †"): row[1:3] for row in cells(page)}
        assert shown.keys() == titles.keys()
        for title, (value, ratio) in shown.items():
            own = p99_ms(titles[title])
            assert value == number(own)
            known = ABSENT if math.isinf(own) else number(own / p99_ms(baseline))
            assert ratio == ("1" if titles[title] == baseline else known)


def test_ratios_of_intervals_are_those_of_the_page(page: Page, folder: Path, data: dict[str, Any]) -> None:
    page.goto(at(folder, suite="capacity", metric="capacity.sustained_per_s", baseline="jpa"))
    table = data["capacity"]["tables"][0]
    place = [column["key"] for column in table["columns"]].index("by_baseline")
    said = [row["cells"][place] for row in table["rows"] if row["variant"] != "jpa"]
    wanted = [one if isinstance(one, str) else one["shown"] for one in said]
    found = [row[2].partition(";")[0] for row in cells(page) if row[2] != "1"]
    assert found == wanted
    assert "not resolved" in wanted
    assert any(one.startswith("~") for one in wanted)


def test_a_bound_is_in_no_ratio(page: Page, folder: Path) -> None:
    page.goto(at(folder, suite="capacity", metric="rates.burst_per_s", baseline="jpa"))
    bounds = [row for row in cells(page) if row[1].startswith(("≥", "<"))]
    assert bounds
    assert {row[2].partition(";")[0] for row in bounds} == {"not resolved"}


def test_boxes_filter_chart_and_table_and_are_kept_in_the_address(
    page: Page, folder: Path, data: dict[str, Any]
) -> None:
    page.goto(at(folder, suite="capacity"))
    rows = data["capacity"]["tables"][0]["rows"]
    wanted = [row["cells"][0] for row in rows if row["durability"] != "C" and row["variant"] != "jpa"]
    page.locator("#classes-C").uncheck()
    page.get_by_label("JPA", exact=True).uncheck()
    expect(page.locator("#shown")).to_contain_text(f"{len(wanted)} of {len(rows)} rows")
    left = cells(page)
    assert [row[0] for row in left] == wanted
    assert page.locator("#chart .value path").count() == len(wanted) < len(rows)
    sent = page.url
    page.goto("about:blank")
    page.goto(sent)
    assert cells(page) == left


def test_words_filter_rows_and_are_kept_in_the_address(page: Page, folder: Path) -> None:
    page.goto(at(folder, suite="faults"))
    every = [row[0] for row in cells(page)]
    wanted = [label for label in every if "kill" in label and "broker" in label]
    page.locator("#words").press_sequentially("broker Kill ")
    expect(page.locator("#selection tbody tr")).to_have_count(len(wanted))
    assert 0 < len(wanted) < len(every)
    assert [row[0] for row in cells(page)] == wanted
    sent = page.url
    page.goto("about:blank")
    page.goto(sent)
    expect(page.locator("#words")).to_have_value("broker Kill")
    expect(page.locator("#words")).to_be_in_viewport()
    assert [row[0] for row in cells(page)] == wanted


def test_an_address_opens_the_evidence_of_a_value(page: Page, folder: Path) -> None:
    page.goto(at(folder, suite="capacity", metric="capacity.sustained_per_s"))
    label = cells(page)[0][0]
    page.goto(at(folder, suite="capacity", metric="capacity.sustained_per_s", value=label))
    dialog = page.get_by_role("dialog", name=label)
    expect(dialog).to_be_visible()
    for words in ("Bottleneck", "Load steps", "settings of the guarantee", "host", "commit"):
        expect(dialog.get_by_text(words).first).to_be_visible()
    for link in dialog.get_by_role("link").all():
        address = str(link.evaluate("link => link.href"))
        assert Path(unquote(urlsplit(address).path)).is_file(), address


def test_a_mark_of_the_chart_opens_what_its_row_opens(page: Page, folder: Path) -> None:
    page.goto(at(folder, **P99))
    page.locator("#chart .value path").nth(1).click()
    expect(page.get_by_role("dialog", name=cells(page)[1][0])).to_be_visible()


def test_the_keyboard_alone_opens_and_closes_the_evidence(page: Page, folder: Path) -> None:
    page.goto(at(folder, **P99))
    page.locator("#baseline").focus()
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "value-0":
            break
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.locator("#value-0")).to_be_focused()


def test_without_scripts_the_first_table_of_every_suite_is_there(
    browser: Browser, folder: Path, data: dict[str, Any]
) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(at(folder))
        shown = page.locator("noscript section").all_inner_texts()
        assert len(shown) == len(data)
        for text, suite in zip(shown, data.values(), strict=True):
            first = suite["tables"][0]
            for row in first["rows"]:
                for cell in row["cells"]:
                    words = cell if isinstance(cell, str) else cell["shown"]
                    assert words.partition(" (")[0] in text, (suite["name"], words)


@pytest.mark.parametrize("choice", PAGES)
def test_a_phone_scrolls_no_page_sideways(browser: Browser, folder: Path, choice: dict[str, str]) -> None:
    with browser.new_context(viewport=SMALL) as context:
        page = context.new_page()
        page.goto(at(folder, **choice))
        assert page.evaluate("document.documentElement.scrollWidth") <= SMALL["width"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("choice", PAGES)
def test_axe_finds_nothing_serious(
    browser: Browser, folder: Path, choice: dict[str, str], scheme: Any
) -> None:
    assert AXE.is_file(), "axe-core is not installed: run `make lint`, or `npm ci` in site/"
    with browser.new_context(color_scheme=scheme, bypass_csp=True) as context:
        page = context.new_page()
        page.goto(at(folder, **choice))
        page.add_script_tag(path=AXE)
        found = page.evaluate("async () => (await axe.run()).violations")
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []


def test_every_kind_of_suite_run_has_a_page_before_its_first_cell_and_after_it(
    page: Page, tmp_path: Path
) -> None:
    by_kind = {load_index(one).kind: one for one in published_suites(ROOT)}
    for ended, (kind, published) in itertools.product((0, 1), by_kind.items()):
        run = tmp_path / f"{kind}-{ended}"
        shutil.copytree(published, run, copy_function=os.symlink)
        (run / INDEX_FILE).unlink()
        whole = load_index(published)
        save_index(replace(whole, status="running", cells=whole.cells[:ended]), run)
        page.goto(site.write_live(run).as_uri())
        expect(page.locator("#facts")).to_contain_text(f"running: {ended} of ")


def test_an_open_page_of_a_running_suite_shows_the_next_cell_by_itself(page: Page, tmp_path: Path) -> None:
    run = planted_runs.write(tmp_path, PlantedCell(), PlantedCell(variant="b"))
    whole = load_index(run)
    save_index(replace(whole, status="running", cells=whole.cells[:1]), run)
    page.goto(site.write_live(run).as_uri())
    expect(page.locator("#facts")).to_contain_text("running: 1 of 2 cells")
    assert len(cells(page)) == 1
    save_index(whole, run)
    site.write_live(run)
    expect(page.locator("#selection tbody tr")).to_have_count(2, timeout=20_000)
