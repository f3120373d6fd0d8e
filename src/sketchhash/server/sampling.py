"""A sample of a gallery's codes, small enough to look at as a whole."""

from __future__ import annotations

from sketchhash.gallery import Sample, ServedGallery

_TOLERATED_CHANGE = 0.1


class FollowingSample:
    """A sample that is drawn again when the gallery has grown or shrunk by a tenth."""

    def __init__(self, gallery: ServedGallery, most: int) -> None:
        """Draw from ``gallery``, at most so many."""
        self._gallery = gallery
        self._most = most
        self._drawn: tuple[int, Sample] | None = None

    def at(self, photos: int) -> Sample:
        """Give a sample of the gallery while it has so many ``photos``."""
        drawn = self._drawn
        if drawn is None or abs(photos - drawn[0]) > _TOLERATED_CHANGE * drawn[0]:
            drawn = self._drawn = photos, self._gallery.sample(self._most)
        return drawn[1]
