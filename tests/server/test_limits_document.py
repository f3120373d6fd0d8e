"""The table of limits in docs/serving.md says what the code holds."""

import re
from pathlib import Path

from sketchhash.imaging.decode import MAX_MEMORY
from sketchhash.imaging.decoders import SECONDS
from sketchhash.imaging.ink import MAX_POINTS, MAX_STROKES
from sketchhash.server import limits, routes
from sketchhash.server import service as service_module
from sketchhash.server.limits import UPLOADS, RequestLimits

PAGE = Path(__file__).parents[2] / "docs" / "serving.md"


def documented():
    """Return the numbers of each row of the table."""
    (table,) = re.findall(r"^## Limits\n\n((?:\|.*\n)+)", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in table.splitlines()[2:]]
    return {name: [float(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", most)] for name, most in rows}


def test_every_limit_is_the_one_that_is_held(service):
    request = RequestLimits()
    wait = service.pictures._most - service_module.DECODERS
    assert documented() == {
        "drawing": [MAX_STROKES, MAX_POINTS, request.drawing_bytes / 1e6],
        "picture": [UPLOADS.bytes / 1e6, UPLOADS.pixels / 1e6],
        "decoding a picture": [SECONDS, SECONDS * service_module._PATIENCE, MAX_MEMORY / 1e6, 422],
        "pictures at once": [service_module.DECODERS, wait, 503],
        "photos that are being sent": [routes.MOST_SENT, 503],
        "`k`": [limits.MOST_HITS],
        "head of a request": [limits.HEAD_BYTES // 1000, service_module.HEADER_SECONDS],
        "body of a request": [request.receive_seconds],
        "taking an answer": [request.send_seconds],
        "connections": [service_module._CONNECTIONS],
        "drawings at once": [(service.inference._most - service_module._CORES) / service_module._CORES, 503],
    }
