"""Write a gallery as a static site: the page, its engine, the model and the packs, in one folder."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from glob import escape as escape_pattern
from hashlib import sha256
from html import escape
from importlib.resources import as_file, files
from pathlib import Path
from time import time
from urllib.parse import urlsplit
from uuid import uuid4

import numpy as np

from sketchhash.errors import BadArgument, UnwritableState
from sketchhash.gallery import OpenGallery, Searcher
from sketchhash.gallery.copies import COPY_RADIUS
from sketchhash.model import Calibration, Model
from sketchhash.model.manifest import SKETCH_NETWORK
from sketchhash.server import Service, searcher_service
from sketchhash.site.packs import PACK_ROWS, write_array, write_json, write_packs
from sketchhash.site.runtime import LICENCE, VERSION, Runtime
from sketchhash.tokens.shape import ShapeMetric
from sketchhash.words import category_words

FORMAT = 1
_ABOUT = Path("gallery") / "gallery.json"
_WORKER = "service-worker.js"
_METRIC_LEVELS = 127
_MOST_KEPT = 24_000_000  # bytes of packs that are kept offline before they are looked at
_UNFINISHED = ".unfinished"
_ABANDONED = 600  # seconds without a change, after which nobody writes to an unfinished site any more
_PACKS = ("details", "shapes", "svg", "thumbnails")


@dataclass(frozen=True)
class Written:
    """A site that was written: where, how many photos it has, and its size in bytes."""

    folder: Path
    photos: int
    bytes: int


def write_site(
    gallery: OpenGallery,
    model: Model,
    out: Path,
    runtime: Runtime,
    originals: str | None = None,
    with_svg: bool = False,
) -> Written:
    """Write the site of a gallery into the folder ``out``, whole or not at all; a site that was there is replaced.

    Args:
        gallery: Made with ``model``.
        model: Its sketch network goes into the site.
        out: Is made, or replaced if it holds a site already.
        runtime: See `find_runtime`.
        originals: The address below which the photos themselves are served, in folders as in the gallery.
        with_svg: Publish the SVG of drawings too, so that the page can copy it.

    Raises:
        BadArgument: If ``out`` is something else than a site, or ``originals`` is no address.
        UnwritableState: If it cannot be written; what was there is as it was.
    """
    out = out.absolute()
    with suppress(OSError):
        _recover(out)
    _check(out, originals)
    with _replacing_folder(out) as folder, searcher_service(Searcher(model, gallery)) as service:
        _write_page(folder, originals)
        _write_runtime(folder, runtime)
        edition = _write_gallery(folder, service, gallery, model, originals, with_svg)
        _write_worker(folder, edition)
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        photos = service.describe().photos
    return Written(out, photos, size)


def _check(out: Path, originals: str | None) -> None:
    if out.exists() and not (out.is_dir() and ((out / _ABOUT).is_file() or not any(out.iterdir()))):
        raise BadArgument(f"{out} holds something else than a site, which is left alone. Name another folder.")
    if originals is not None and urlsplit(originals).scheme not in ("", "http", "https"):
        raise BadArgument(f"{originals!r} is no address of photos. Write one such as https://example.org/photos/")


@contextmanager
def _replacing_folder(out: Path) -> Iterator[Path]:
    """Yield an empty folder that replaces ``out`` if the block succeeds, and is deleted otherwise."""
    former = _former(out)
    unfinished = out.with_name(f".{out.name}.{uuid4().hex}{_UNFINISHED}")
    try:
        unfinished.mkdir(parents=True)
        yield unfinished
        if out.exists():
            out.rename(former)
        try:
            unfinished.rename(out)
        except OSError:
            if former.exists():
                former.rename(out)
            raise
        shutil.rmtree(former, ignore_errors=True)
    except OSError as problem:
        raise UnwritableState(
            f"The site cannot be written to {out}: {problem.strerror}. Make room there, or name another folder."
        ) from problem
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _recover(out: Path) -> None:
    """Put back the site that a killed run had moved away already, and delete what else such runs left."""
    former = _former(out)
    if former.exists() and not out.exists():
        former.rename(out)
    shutil.rmtree(former, ignore_errors=True)
    for left in out.parent.glob(f".{escape_pattern(out.name)}.*{_UNFINISHED}"):
        changes = [path.stat().st_mtime for path in (left, *left.rglob("*")) if path.exists()]
        if time() - max(changes, default=0) > _ABANDONED:
            shutil.rmtree(left, ignore_errors=True)


def _former(out: Path) -> Path:
    """Return where a site lies while another takes its place."""
    return out.with_name(f".{out.name}.former")


def _write_page(folder: Path, originals: str | None) -> None:
    """Write the page of the service, told where its gallery is, and kept from talking to anyone else."""
    with as_file(files("sketchhash") / "server" / "static") as static:
        shutil.copytree(static, folder / "static")
    (folder / "static" / "engine" / _WORKER).replace(folder / _WORKER)
    page = (folder / "static" / "index.html").read_text(encoding="utf-8")
    (folder / "static" / "index.html").unlink()
    parts = urlsplit(originals or "")
    elsewhere = f" {parts.scheme}://{parts.netloc}" if parts.netloc else ""
    policy = (
        f"default-src 'self'; img-src 'self' blob: data:{elsewhere}; style-src 'self'; "
        "script-src 'self' 'wasm-unsafe-eval'; base-uri 'none'; form-action 'none'"
    )
    guard = f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
    page = page.replace('<html lang="en">', '<html lang="en" data-gallery="gallery/">', 1)
    page = page.replace('<meta charset="utf-8">', f'<meta charset="utf-8">\n    {guard}', 1)
    (folder / "index.html").write_text(page, encoding="utf-8")


def _write_runtime(folder: Path, runtime: Runtime) -> None:
    place = folder / "runtime" / VERSION
    place.mkdir(parents=True)
    (place / "ort.js").write_bytes(runtime.script)
    (place / "ort.wasm.gz").write_bytes(runtime.binary)
    (place / "LICENSE.txt").write_text(LICENCE, encoding="utf-8")


def _write_gallery(
    folder: Path, service: Service, gallery: OpenGallery, model: Model, originals: str | None, with_svg: bool
) -> str:
    """Write the model, the packs and what the page asks for; return the edition, which names the packs' folder."""
    place = folder / "gallery"
    packs = place / "unnamed"
    packs.mkdir(parents=True)
    network = (model.folder / SKETCH_NETWORK).read_bytes()
    name = f"sketch-{sha256(network).hexdigest()[:12]}.onnx.gz"
    (place / name).write_bytes(gzip.compress(network, mtime=0))

    packed = write_packs(gallery, model.calibration, packs, with_svg)
    metric = ShapeMetric.shipped().weights
    unit = float(np.abs(metric).max()) / _METRIC_LEVELS
    write_array(packs / "metric.gz", np.rint(metric / unit).astype(np.int8))
    if model.calibration is not None:
        vectors = np.stack([model.calibration.drawn, model.calibration.shown])
        write_array(packs / "calibration.gz", vectors.astype(np.float32))
    write_json(packs / "map.json.gz", [point.model_dump(mode="json") for point in service.overview.get().map])
    write_json(packs / "examples.json.gz", [example.model_dump(mode="json") for example in service.examples.get()])
    write_json(packs / "words.json.gz", asdict(category_words(model.manifest.categories)))

    about = service.describe().model_dump(mode="json")
    about |= {"placed": 0}  # where photos were taken is not published
    ink = model.manifest.ink
    site: dict[str, object] = {
        "format": FORMAT,
        "network": f"../{name}",
        "runtime": f"../../runtime/{VERSION}/",
        "originals": originals if originals is None or originals.endswith("/") else f"{originals}/",
        "ink": {"size": ink.size, "line_width": ink.line_width, "margin": ink.margin},
        "calibration": _coefficients(model.calibration),
        "metric_unit": unit,
        "copy_radius": COPY_RADIUS,
        "pack_rows": PACK_ROWS,
        **asdict(packed),
    }
    edition = _digest(packs, json.dumps([site, {**about, "edition": ""}]))
    packs.rename(place / edition)
    about["edition"] = edition
    write_json(folder / _ABOUT, {**site, "edition": edition, "gallery": about})
    return edition


def _coefficients(calibration: Calibration | None) -> dict[str, object] | None:
    if calibration is None:
        return None
    heads = {
        kind.value: {"answer": head.answer.tolist(), "hit": head.hit.tolist(), "sure": head.sure}
        for kind, head in calibration.heads.items()
    }
    return {
        "categories": list(calibration.categories),
        "drawing": calibration.drawing.tolist(),
        "photo": calibration.photo.tolist(),
        "heads": heads,
        "least_ink": calibration.least_ink,
    }


def _digest(folder: Path, text: str) -> str:
    """Return a short name for what is in a folder and a text."""
    digest = sha256(text.encode())
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest.update(f"{path.relative_to(folder).as_posix()}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _write_worker(folder: Path, edition: str) -> None:
    """Complete the service worker with the names of the files that it keeps, and an edition of all of them."""
    written = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != _WORKER]
    packs = [path for path in written if path.parent.name in _PACKS]
    later = [] if sum(path.stat().st_size for path in packs) <= _MOST_KEPT else packs
    left_out = {folder / "index.html", *folder.glob("runtime/*/LICENSE.txt"), *later}
    kept = ["./", *(path.relative_to(folder).as_posix() for path in written if path not in left_out)]
    page = _digest(folder / "static", (folder / "index.html").read_text(encoding="utf-8"))
    site = json.dumps({"edition": f"{edition}-{page}", "files": kept})
    script = (folder / _WORKER).read_text(encoding="utf-8")
    completed, count = re.subn(r"^const SITE = .*;$", lambda _: f"const SITE = {site};", script, flags=re.MULTILINE)
    assert count == 1
    (folder / _WORKER).write_text(completed, encoding="utf-8")
