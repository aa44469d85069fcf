"""Writes the results site, a folder that needs no server: of all that is published, or of a suite run under way."""

import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from writepath.errors import SetupError
from writepath.experiments import publish, read
from writepath.experiments.base import SETTINGS_FILE
from writepath.experiments.registry import kind_of
from writepath.records.cell import CELL_FILE
from writepath.records.site import DATA_FILE, SiteSuite
from writepath.report import front, plots, site
from writepath.report.data import SuiteData
from writepath.report.facts import Facts
from writepath.report.model import Report
from writepath.report.site import Files, Opening
from writepath.report.staging import PAGES

FOLDER = "results/site"  # below a checkout; not committed
PAGE, ASSETS, RAW = "index.html", "site", "raw"
BUILT = Path(__file__).resolve().parents[4] / "site/dist"
COPIED = ("site.js", "licenses.txt")  # of what is built
KEPT_FILES = (CELL_FILE, "facts.json", SETTINGS_FILE)  # of a running suite: what a reader can open


def write_published(root: Path, target: Path) -> Path:
    """Everything that is published, with copies of its raw files, in the place of the folder `target`; the page."""
    folders = publish.published_suites(root)
    suites = {folder.name: read.published(folder) for folder in folders}
    reports = {name: kind_of(data.index.kind).report(data) for name, data in suites.items()}
    known = publish.published_facts(suites)
    drawn = {} if known.load is None else plots.pictures(known)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".site-") as place:
        staged = Path(place) / target.name
        exported = []
        for folder in folders:
            name = folder.name
            shutil.copytree(folder, staged / RAW / name)
            files = _files(suites[name], staged / RAW / name)
            exported.append(site.suite_of(name, suites[name], reports[name], f"{RAW}/{name}/", files))
        _write(staged, _opening(known, reports, *drawn), exported, reports)
        for name, picture in drawn.items():
            (staged / ASSETS / name).write_bytes(picture)
        shutil.rmtree(target, ignore_errors=True)
        staged.rename(target)
    return target / PAGE


def write_live(folder: Path) -> Path:
    """What a suite run has so far, in its own folder; the page. An open one reads the new figures by itself."""
    data = read.saved(folder)
    # Only evidence has what was sent, and none is derived here.
    name, report = data.index.suite, replace(kind_of(data.index.kind).report(data), facts="")
    opening = Opening(title=report.title, answer=escape("This page shows each cell as soon as it has ended."))
    exported = site.suite_of(name, data, report, "", _files(data, folder, KEPT_FILES))
    _write(folder, opening, [exported], {name: report})
    return folder / PAGE


def _opening(facts: Facts, reports: Mapping[str, Report], light: str = "", dark: str = "") -> Opening:
    """The README's sentences, picture and table; links to pages of suites choose the suite. light, dark: SVG files."""
    title = "Writepath results"
    if facts.load is None:
        return Opening(title=title, answer=escape(front.NOTHING.replace("`", "")))
    text = front.sentences(facts)
    for name in reports:
        text = text.replace(f"({PAGES}/{name}.md)", f"(#suite={name})")
    return Opening(
        title=title,
        answer=Markup(MarkdownIt("commonmark", {"html": False}).render(text)),  # noqa: S704 - made of escaped text
        picture=light and f"{ASSETS}/{light}",
        dark_picture=dark and f"{ASSETS}/{dark}",
        alt=front.picture_in_words(facts),
        table=replace(front.paths(facts), notes=(front.note(facts),)),
    )


def _files(data: SuiteData[Any], folder: Path, only: Iterable[str] | None = None) -> Files:
    """Names of the files of each cell that can be opened, by its folder. only: of these."""
    found = {}
    for cell in data.all_cells:
        names = sorted(path.name for path in (folder / cell.entry.folder).iterdir() if path.is_file())
        found[cell.entry.folder] = tuple(name for name in names if only is None or name in only)
    return found


def _write(
    folder: Path, opening: Opening, suites: Iterable[SiteSuite], reports: Mapping[str, Report]
) -> None:
    """Script, data and page; each at once, as a browser may read them now. SetupError where there is no script."""
    try:
        texts = {f"{ASSETS}/{name}": (BUILT / name).read_text(encoding="utf-8") for name in COPIED}
    except OSError as error:
        raise SetupError(f"{error}; restore site/dist, or run `npm ci && npm run build` in site/") from error
    texts |= {f"{ASSETS}/{DATA_FILE}": site.script(suites), PAGE: site.page(opening, reports)}
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.part")
        part.write_text(text, encoding="utf-8")
        part.replace(path)
