"""How is a large CSV file read in little memory? In blocks of whole lines, unpacked as they come.

pyarrow's CSV reader turns a block into columns; where it refuses one, halving finds the lines at fault by number.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa
from pyarrow import csv

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

READ_BYTES = 1 << 20
BLOCK_BYTES = 8 << 20
NEWLINE = b"\n"
T = TypeVar("T")
GZIP = 31  # zlib's word for: with a gzip header and its checksum


class Blocks:
    """Iterates over blocks that end with a newline. `torn` and `lines` are known once the last one was taken."""

    def __init__(self, path: Path, header: str) -> None:
        """OSError comes with the first block."""
        self._path = path
        self._header = header.encode() + NEWLINE
        self.headed = False  # the first line was the header, which is in no block
        self.torn = False  # the last line or the .gz is cut or damaged

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """(number of the block's first line, block): everything that can be read up to where the file is torn."""
        number = 1
        for whole in self._whole_lines():
            block = whole
            if number == 1 and block.startswith(self._header):
                self.headed, number, block = True, 2, block[len(self._header) :]
            if block:
                yield number, block
                number += block.count(NEWLINE)

    def _whole_lines(self) -> Iterator[bytes]:
        rest: list[bytes] = []
        held = 0
        for data in self._unpacked() if self._path.suffix == ".gz" else self._plain():
            rest.append(data)
            held += len(data)
            if held >= BLOCK_BYTES:
                block, newline, tail = b"".join(rest).rpartition(NEWLINE)
                rest, held = [tail], len(tail)
                if newline:
                    yield block + newline
        block, newline, tail = b"".join(rest).rpartition(NEWLINE)
        self.torn |= bool(tail)
        if newline:
            yield block + newline

    def _plain(self) -> Iterator[bytes]:
        with self._path.open("rb") as file:
            while data := file.read(READ_BYTES):
                yield data

    def _unpacked(self) -> Iterator[bytes]:
        unpacker = zlib.decompressobj(wbits=GZIP)
        try:
            for data in self._plain():
                packed = data
                while packed:  # bounded: a small archive can hold a great deal
                    yield unpacker.decompress(packed, BLOCK_BYTES)
                    packed = unpacker.unconsumed_tail
            yield unpacker.flush()
        except zlib.error:
            self.torn = True
        # Bytes behind the end of the archive were not written by us either.
        self.torn |= not unpacker.eof or bool(unpacker.unused_data)


def columns(block: bytes, types: Mapping[str, pa.DataType], *, quoted: bool) -> Any:
    """A pyarrow table of one row a line; an empty field is null. ValueError where any line is in another form."""
    table = csv.read_csv(
        pa.BufferReader(block),
        read_options=csv.ReadOptions(
            column_names=list(types), use_threads=False, block_size=max(len(block) + 1, 64)
        ),
        parse_options=csv.ParseOptions(quote_char='"' if quoted else False, ignore_empty_lines=False),
        convert_options=csv.ConvertOptions(
            column_types=dict(types),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )
    if table.num_rows != block.count(NEWLINE):
        raise ValueError("the number of rows differs from the number of lines")
    return table


def sifted(block: bytes, parse: Callable[[bytes], T]) -> Iterator[tuple[int, T | None]]:
    """Parts of a block in order, each with the number of its lines; None instead of a line that cannot be parsed.

    Halving finds a few bad lines among a million in the time of reading them twice.
    """
    try:
        whole = parse(block)
    except ValueError:
        ends = block.count(NEWLINE)
        if ends == 1:
            yield 1, None
            return
        middle = block.find(NEWLINE, len(block) // 2)
        if middle == len(block) - 1:
            middle = block.rfind(NEWLINE, 0, middle)
        yield from sifted(block[: middle + 1], parse)
        yield from sifted(block[middle + 1 :], parse)
    else:
        yield block.count(NEWLINE), whole
