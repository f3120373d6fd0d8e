"""Writes the report of a comparison: everything in it comes from finished runs, the cards and the paper's tables.

report.md, report.html          all tables, figures and what was reduced
table-2.csv … runs.csv          the same tables, not rounded
figure-5.png, figure-7.png      pictures
photos-not-to-publish/          Figure 6 and a page with it: they show photos, which belong to others
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sketchhash.baselines import CATALOGUE
from sketchhash.benchmark.comparison.entries import DSH
from sketchhash.benchmark.comparison.examples import draw_examples
from sketchhash.benchmark.comparison.figures import draw_curves, draw_plane
from sketchhash.benchmark.comparison.page import Illustration, Report, Section
from sketchhash.benchmark.comparison.plane import lay_out
from sketchhash.benchmark.comparison.records import Records
from sketchhash.benchmark.comparison.tables import Run, Runs, all_runs, table_2, table_3, table_4
from sketchhash.benchmark.comparison.task import Task
from sketchhash.datasets import Dataset
from sketchhash.errors import BadArgument
from sketchhash.evaluation.metrics import DEPTH
from sketchhash.files import replacing
from sketchhash.imaging import write_png

WITH_PHOTOS = "photos-not-to-publish"


def write_report(results: Path, out: Path, dataset: Dataset | None) -> list[Path]:
    """Write the report of the runs in a folder, and give its files.

    Args:
        results: The folder of runs.
        out: The folder to write to.
        dataset: What the runs were made on, to show its photos in Figure 6; None leaves that figure out.
    """
    task, records = Task.read(results), Records(results)
    found = (records.read(slug) for slug in records.slugs())
    runs = Runs([Run(record, records.scores(record)) for record in found if record.split_hash == task.split_hash])
    if not runs.all:
        raise BadArgument(f"{results} holds no finished run yet. Make one with: sketchhash benchmark run")
    out.mkdir(parents=True, exist_ok=True)
    report = Report(
        title=f"The paper's comparison on {task.dataset}",
        introduction=_introduction(task, runs),
        grids=(table_2(runs), table_3(runs), table_4(runs), all_runs(runs)),
        illustrations=tuple(_figures(task, records, runs, out)),
        sections=_sections(records, runs),
    )
    texts = {"report.md": report.markdown(), "report.html": report.html()}
    texts |= {f"{grid.name}.csv": grid.csv() for grid in report.grids}
    written = [picture.path for picture in report.illustrations]
    dsh = runs.of(DSH)
    if dataset and dsh:
        (out / WITH_PHOTOS).mkdir(exist_ok=True)
        examples = _examples(task, records, dsh[-1], dataset, out / WITH_PHOTOS)
        texts[f"{WITH_PHOTOS}/report.html"] = report.html([examples])
        written.append(examples.path)
    for name, text in texts.items():
        with replacing(out / name) as file:
            file.write(text.encode())
    return [*(out / name for name in texts), *written]


def _introduction(task: Task, runs: Runs) -> tuple[str, ...]:
    gallery = "all of them are the gallery, as in the paper" if task.protocol == "seen" else "others are the gallery"
    relevant = np.bincount(task.gallery.label_array, minlength=len(task.categories))[task.queries.label_array]
    chance, best = relevant.mean() / len(task.gallery.ids), np.minimum(relevant, DEPTH).mean() / DEPTH
    hours = sum(run.record.seconds for run in runs.all) / 3600
    return (
        f"{len(task.queries.ids):,} sketches ask; {len(task.gallery.ids):,} photos are searched. "
        f"{task.training_sketches:,} sketches and {task.training_photos:,} photos train; {gallery}. "
        f"Seed {task.seed}, data {task.data_hash[:12]}, split {task.split_hash[:12]}.",
        "mAP is tie-aware mAP@all; P@200 always divides by 200; a query's time is that of finding its 200 nearest "
        "photos on one thread, with the sketch already encoded; a megabyte is 2^20 bytes. A dash means not run, or not "
        f"reported. Chance is about {chance:.3f}, and no P@{DEPTH} can be above {best:.3f}.",
        f"{len(runs.all)} runs are finished. All together they took {hours:.1f} hours.",
    )


def _figures(task: Task, records: Records, runs: Runs, out: Path) -> list[Illustration]:
    figures = []
    if runs.hashing:
        path = out / "figure-5.png"
        bits = draw_curves(runs, path)
        caption = (
            f"Left: precision over recall of binary codes of {bits} bits as the Hamming radius grows, pooled over all "
            "queries. Right: precision within radius 2, mean over queries, an empty ball counting 0."
        )
        figures.append(Illustration(path, "Figure 5: curves of hashing methods", caption))
    if dsh := runs.of(DSH):
        path, shortest = out / "figure-7.png", dsh[0].record
        plane = lay_out(task, records.codes(shortest))
        draw_plane(plane, path)
        caption = (
            f"t-SNE of {shortest.size}-bit DSH codes, photos and sketches laid out together: the "
            f"{len(plane.categories)} categories with the most photos."
        )
        figures.append(Illustration(path, "Figure 7: codes of photos and of sketches", caption))
    return figures


def _examples(task: Task, records: Records, run: Run, dataset: Dataset, folder: Path) -> Illustration:
    path = folder / "figure-6.png"
    write_png(path, draw_examples(task, records.codes(run.record), dataset))
    caption = (
        "The first query of eight categories, spread evenly over all, and the 20 photos nearest to it by "
        f"{run.record.size}-bit DSH codes, equal distances in an order drawn by chance. Red frames: another category."
    )
    return Illustration(path, "Figure 6: what sketches find", caption)


def _sections(records: Records, runs: Runs) -> tuple[Section, ...]:
    ran = {run.record.method for run in runs.all}
    cards = [card for card in CATALOGUE if card.name in ran]
    choices = tuple(f"{card.title} ({card.paper}, {card.year}): {' '.join(card.choices)}" for card in cards)
    versions = sorted({item for run in runs.all for item in run.record.versions.items()})
    sections = [Section("What the methods' papers leave open, and what was reduced", choices)] if choices else []
    sections.append(Section("Versions", tuple(f"{name} {number}" for name, number in versions)))
    if failures := records.failures():
        lines = tuple(f"{path.name.removesuffix('.failed.txt')}: see {path.name}" for path in failures)
        sections.append(Section("Runs that failed", lines))
    return tuple(sections)
