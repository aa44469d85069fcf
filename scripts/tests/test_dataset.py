"""Every line of a user's file arrives as it is, and a broken one is left out."""

import csv
import gzip
import io
import json
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from writepath.errors import UsageError
from writepath.load import dataset
from writepath.load.dataset import generate, reviews

CONTENT = st.text(
    st.characters(codec="utf-8", exclude_characters="\0\r\n\t"), min_size=1, max_size=200
).filter(str.strip)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("datasets")


def saved(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    data = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


@given(lines=st.lists(CONTENT, min_size=1, max_size=20))
def test_a_tsv_in_the_corpus_layout_is_read_as_it_is(folder: Path, lines: list[str]) -> None:
    rows = "".join(f"{number}\t{line}\t1\n" for number, line in enumerate(lines))
    assert dataset.load(saved(folder, "a.tsv", "id\tdocument\tlabel\n" + rows)).lines == tuple(lines)


@given(lines=st.lists(CONTENT, min_size=1, max_size=20))
def test_a_csv_of_one_column_is_read_as_it_is(folder: Path, lines: list[str]) -> None:
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([["document"], *([line] for line in lines)])
    loaded = dataset.load(saved(folder, "a.csv.gz", text.getvalue()))
    assert loaded.lines == tuple(lines)
    assert loaded.name == "a.csv.gz"


@given(st.binary(max_size=300), st.sampled_from(["a.csv", "a.tsv"]))
def test_any_bytes_give_usable_lines_or_a_usage_error(folder: Path, data: bytes, name: str) -> None:
    path = saved(folder, name, data)
    try:
        lines = dataset.load(path).lines
    except UsageError:
        return
    assert lines
    assert all(line.strip() for line in lines)


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("q.tsv", 'id\tdocument\tlabel\n1\t"굿\t0\n2\t좋다 "정말"\t1\n', ['"굿', '좋다 "정말"']),
        ("r.csv", 'id,document\r\n1,"굿, ""진짜"""\r\n2,plain\r\n', ['굿, "진짜"', "plain"]),
        ("plain.csv", "첫 줄\n둘째 줄\n", ["첫 줄", "둘째 줄"]),
        ("bom.csv", "\ufeffdocument\n굿\n", ["굿"]),
        ("long.csv", "x" * 1000 + "\n" + "😀" * 501 + "\n", ["x" * 1000]),  # an emoji counts as two
        ("quote.csv", 'good\n"bad"quote\nlast\n', ["good", "last"]),
    ],
)
def test_quotes_headers_marks_and_lengths_are_understood(
    folder: Path, name: str, text: str, lines: list[str]
) -> None:
    assert list(dataset.load(saved(folder, name, text)).lines) == lines


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"2\ttwo columns", "2 columns instead of 3"),
        (b"3\t\xff\xfe\t1", "not UTF-8"),
        (b"", "blank"),
        (b"5\t \t1", "blank"),
        (b"6\t" + b"x" * 1001 + b"\t1", "1001 characters, more than 1000"),
        (b"7\ta\0b\t1", "a NUL character"),
    ],
)
def test_a_broken_line_is_left_out_and_named_where_there_is_no_other(
    folder: Path, line: bytes, problem: str
) -> None:
    header = b"id\tdocument\tlabel\n"
    rows = header + b"1\tgood\t1\n" + line + b"\n8\tlast\t0\n"
    assert dataset.load(saved(folder, "broken.tsv", rows)).lines == ("good", "last")
    alone = saved(folder, "broken.tsv", header + line + b"\n")
    with pytest.raises(UsageError, match=rf"no usable line \(1 invalid; line 2: {problem}\)"):
        dataset.load(alone)


def test_the_file_is_not_read_further_than_needed(folder: Path) -> None:
    """The archive is torn right after the lines that are taken."""
    whole = gzip.compress("".join(f"line {n}\n" for n in range(200_000)).encode())
    path = folder / "torn.csv.gz"
    path.write_bytes(whole[: len(whole) // 2])
    assert len(dataset.load(path, 1000).lines) == 1000
    with pytest.raises(UsageError, match="archive is damaged"):
        dataset.load(path, 200_000)


@pytest.mark.parametrize(
    ("name", "data", "problem"),
    [
        ("empty.csv", b"", "no usable line"),
        ("header.tsv", b"id\tdocument\tlabel\n", "no usable line"),
        ("blank.csv", b"\n\n", "no usable line (2 invalid; line 1: blank)"),
        ("utf16.tsv", "document\n굿\n".encode("utf-16"), "no usable line"),
        ("columns.tsv", b"1\ta\n2\tb\n", "2 columns, but the first line names none of them document"),
        ("reviews.xlsx", b"PK", "'.xlsx' is not a known file type"),
        ("noarchive.csv.gz", b"not gzip", "cannot be read"),
        ("nowhere.tsv", None, "cannot be read (No such file"),
        (".", None, "'' is not a known file type"),
    ],
)
def test_a_useless_file_is_refused_with_a_remedy(
    folder: Path, name: str, data: bytes | None, problem: str
) -> None:
    path = folder / name
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(UsageError) as caught:
        dataset.choose(str(path), None, 1)
    assert str(caught.value).startswith(f"DATASET={path}: {problem}")


def test_generated_lines_are_cycled_hashed_and_given_to_k6(tmp_path: Path) -> None:
    chosen = dataset.choose(None, None, 4)
    assert (chosen.name, len(chosen.lines)) == ("embedded", 1000)
    with pytest.raises(UsageError, match="DATASET_LINES=0"):
        dataset.choose(None, 0, 1)
    three = dataset.generate(9, 3)
    assert [three.content(n) for n in range(4)] == [*three.lines, three.lines[0]]
    three.write(tmp_path / "content.json")
    assert tuple(json.loads((tmp_path / "content.json").read_text(encoding="utf-8"))) == three.lines


SHA256_OF_SEED_1 = "f397938d3d77207b8380da171735a3b662b9007b644adead9ce363fa1ab1feaa"
SEEDS = st.integers(min_value=0, max_value=2**63 - 1)


@pytest.fixture(scope="module")
def many() -> list[str]:
    return list(islice(reviews(20261121), 20_000))


@given(SEEDS)
def test_every_line_is_one_line_of_1_to_147_characters(seed: int) -> None:
    for line in islice(reviews(seed), 50):
        assert 1 <= len(line) <= 147
        assert line == line.strip()
        assert line.isprintable()


@given(SEEDS, st.integers(min_value=1, max_value=60))
def test_a_seed_gives_the_same_lines_however_many_are_taken(seed: int, count: int) -> None:
    assert generate(seed, count).lines == generate(seed, 60).lines[:count]


def test_the_first_lines_of_a_seed_never_change() -> None:
    """Results of two machines, or of two releases, are only comparable when they wrote the same."""
    assert generate(1, 1000).sha256 == SHA256_OF_SEED_1


@pytest.mark.parametrize(("share", "length"), [(0.10, 11), (0.25, 16), (0.50, 27), (0.75, 42), (0.95, 105)])
def test_lengths_are_those_of_real_reviews(many: list[str], share: float, length: int) -> None:
    assert np.quantile([len(line) for line in many], share) == pytest.approx(length, rel=0.06)


@pytest.mark.parametrize(
    ("keyword", "share"), [("영화", 0.304), ("재미", 0.070), ("스토리", 0.033), ("감동", 0.034)]
)
def test_keywords_are_as_frequent_as_in_real_reviews(many: list[str], keyword: str, share: float) -> None:
    assert np.mean([keyword in line for line in many]) == pytest.approx(share, rel=0.12)


def test_few_lines_repeat(many: list[str]) -> None:
    assert len(set(many[:1000])) > 970
    assert len(set(many)) > 18_000


def test_lines_hold_what_makes_real_input_hard(many: list[str]) -> None:
    text = "\n".join(many)
    for mark in ('"', ",", "ㅋㅋ", "...", "ㅠ"):
        assert mark in text
