"""Find out about files what a gallery keeps of them: no gallery is needed here, so it may happen anywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import UnreadableImage
from sketchhash.gallery.photos import Failure, PhotoFile
from sketchhash.gallery.reading import decode, encode, read_file
from sketchhash.imaging import thumbnail
from sketchhash.model import Model

if TYPE_CHECKING:
    from sketchhash.gallery.store import Gallery

_PREFIX = 8  # bytes of a SHA-256


@dataclass(frozen=True, slots=True)
class Errand:
    """A file to look at, and the label that its photo gets."""

    path: Path
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Encoded:
    """A photo that is new to the gallery, ready to be stored."""

    file: PhotoFile
    code: bytes
    thumbnail: bytes


# A file alone stands for one whose content is in the gallery.
Finding = Failure | PhotoFile | Encoded


@dataclass(frozen=True, eq=False)
class KnownContents:
    """The contents that a gallery had at one moment, for those who cannot ask it: 8 bytes a photo.

    Who takes its word for it should be able to bear, once in many millions of galleries, that it is wrong.
    """

    prefixes: NDArray[np.uint64]

    @classmethod
    def of(cls, gallery: Gallery) -> Self:
        """Note what ``gallery`` has now."""
        with gallery.scan(f"SELECT substr(sha256, 1, {_PREFIX}) FROM photos ORDER BY sha256") as rows:
            prefixes = b"".join(prefix for (prefix,) in rows)
        return cls(np.frombuffer(prefixes, dtype=">u8").astype(np.uint64))

    def __contains__(self, sha256: str) -> bool:
        """Tell whether a photo had this content."""
        prefix = np.uint64(int(sha256[: 2 * _PREFIX], 16))
        place = np.searchsorted(self.prefixes, prefix)
        return bool(place < len(self.prefixes) and self.prefixes[place] == prefix)


def examine(model: Model, errands: Iterable[Errand], is_known: Callable[[str], bool]) -> list[Finding]:
    """Read files, and encode those whose content, by its SHA-256, is not known."""
    findings: list[Finding] = []
    fresh: list[tuple[PhotoFile, NDArray[np.uint8]]] = []
    for errand in errands:
        try:
            file, content = read_file(errand.path, errand.label)
            if is_known(file.sha256):
                findings.append(file)
            else:
                fresh.append((file, decode(content)))
        except UnreadableImage as problem:
            findings.append(Failure(errand.path, str(problem)))
    codes = encode(model, [pixels for _, pixels in fresh])
    findings += (Encoded(file, code, thumbnail(pixels)) for (file, pixels), code in zip(fresh, codes, strict=True))
    return findings
