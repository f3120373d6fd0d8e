"""QR codes that other programs read."""

import numpy as np
import pytest

from sketchhash.errors import BadArgument
from sketchhash.server.qr import MOST_BYTES, as_blocks, as_path, qr_code

ADDRESS = "http://192.168.178.23:8765/#token=" + "Ab3-_" * 20


@pytest.mark.parametrize("length", [1, 17, 18, 32, 33, 53, 54, 78, 79, 106, 107, MOST_BYTES])
def test_a_reader_of_another_library_reads_the_text(length):
    cv2 = pytest.importorskip("cv2", reason="codes are read back by OpenCV")
    modules = qr_code(ADDRESS[:length])
    picture = np.kron(np.where(modules, 0, 255).astype(np.uint8), np.ones((8, 8), dtype=np.uint8))
    text, _, _ = cv2.QRCodeDetector().detectAndDecode(cv2.cvtColor(picture, cv2.COLOR_GRAY2BGR))
    assert text == ADDRESS[:length]


def test_a_text_that_is_too_long_is_refused():
    with pytest.raises(BadArgument, match="134 bytes"):
        qr_code("x" * (MOST_BYTES + 1))


def test_terminal_and_page_show_the_same_modules():
    modules = qr_code(ADDRESS[:50])
    lines = as_blocks(modules).split("\n")
    assert {len(line) for line in lines} == {len(modules)}
    drawn = np.array([[[sign in half for sign in line] for half in ("▀█", "▄█")] for line in lines])
    np.testing.assert_array_equal(drawn.reshape(-1, len(modules))[: len(modules)], modules)
    assert as_path(modules).count("M") == modules.sum()
