"""Is the audit of raw files that were torn, edited or lost never a pass? The exit code is the verdict."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from writepath.analysis import raw
from writepath.errors import UsageError
from writepath.experiments import reporting
from writepath.load import ledger, parquet
from writepath.selfcheck import planted

FILES = (ledger.FILE, raw.STORED_FILE)
NUMBER = 4_000
PASS, FAIL, UNKNOWN = 0, 1, 3
ONE_FOLDER = settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
SHARE = st.floats(0, 1, exclude_max=True)


def plant(folder: Path, names: tuple[str, ...] = ()) -> Path:
    """A suite run of one load in which these classes are planted."""
    planted.write_suite(planted.plant(NUMBER, names), folder)
    return folder


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nothing is wrong in it."""
    return plant(tmp_path_factory.mktemp("honest"))


@pytest.fixture
def copy(honest: Path, tmp_path: Path) -> Path:
    return shutil.copytree(honest, tmp_path / "copy")


def audit(folder: Path) -> tuple[int, str]:
    """Exit code, and all that is said."""
    said: list[str] = []
    return reporting.audit(folder, folder, said.append), "\n".join(said)


def changed(honest: Path, copy: Path, name: str, change: Callable[[pa.Table], pa.Table]) -> tuple[int, str]:
    """The audit after a change of the rows of one file."""
    place = f"{planted.PLACE}/{name}"
    parquet.save_table(change(parquet.load_table(honest / place)), copy / place)
    return audit(copy)


def written(copy: Path, name: str, content: bytes) -> tuple[int, str]:
    (copy / planted.PLACE / name).write_bytes(content)
    return audit(copy)


def test_the_exit_code_is_the_verdict(honest: Path, tmp_path: Path) -> None:
    assert audit(honest)[0] == PASS
    assert audit(plant(tmp_path / "lost", ("absent",)))[0] == FAIL
    with pytest.raises(UsageError, match="nothing"):
        audit(tmp_path / "nothing")


@pytest.mark.parametrize("name", FILES)
def test_what_is_missing_or_something_else_is_unknown_and_named(name: str, copy: Path) -> None:
    for left in (b"", b"\n", b"\x1f\x8b", b"[]", b"null", b"\xff\x00" * 99):
        code, said = written(copy, name, left)
        assert (code, name in said) == (UNKNOWN, True), left
    (copy / planted.PLACE / name).unlink()
    assert audit(copy)[0] == UNKNOWN


@pytest.mark.parametrize("name", FILES)
@ONE_FOLDER
@given(share=SHARE)
@example(share=0.0)
@example(share=0.9999)  # within the last word
def test_a_file_cut_anywhere_is_unknown(name: str, share: float, honest: Path, copy: Path) -> None:
    whole = (honest / planted.PLACE / name).read_bytes()
    code, said = written(copy, name, whole[: int(len(whole) * share)])
    assert (code, name in said) == (UNKNOWN, True)


@pytest.mark.parametrize("name", FILES)
@ONE_FOLDER
@given(share=SHARE, bit=st.integers(0, 7))
def test_a_flipped_bit_changes_nothing_or_is_no_pass(
    name: str, share: float, bit: int, honest: Path, copy: Path
) -> None:
    """Some bytes of a Parquet file (its writer's name) change nothing; pages have checksums."""
    whole = bytearray((honest / planted.PLACE / name).read_bytes())
    whole[int(len(whole) * share)] ^= 1 << bit
    code, said = written(copy, name, bytes(whole))
    assert code != PASS or said == audit(honest)[1]


@pytest.mark.parametrize("name", FILES)
@ONE_FOLDER
@given(random=st.integers(0, 2**32), at=st.integers(0, NUMBER - 1), again=st.booleans())
def test_the_order_of_rows_changes_nothing_and_their_number_does(
    name: str, random: int, at: int, again: bool, honest: Path, copy: Path
) -> None:
    def shuffled(rows: pa.Table) -> pa.Table:
        return rows.take(np.random.default_rng(random).permutation(rows.num_rows))

    def one_off(rows: pa.Table) -> pa.Table:
        return rows.take([*range(at), *([at, at] if again else []), *range(at + 1, rows.num_rows)])

    assert changed(honest, copy, name, shuffled) == audit(honest)
    assert changed(honest, copy, name, one_off)[0] != PASS
