"""The report of a comparison; everything in it comes from finished runs, the cards and the paper's tables.

report.md, report.html          all tables, figures and what was reduced
table-2.csv … runs.csv          the same tables, not rounded; differences.csv is why numbers are not the paper's
figure-5.png, figure-7.png      pictures
photos-not-to-publish/          Figure 6 and a page with it: they show photos, which belong to others
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np

from sketchhash.baselines import CATALOGUE
from sketchhash.datasets import Dataset
from sketchhash.errors import BadArgument, require
from sketchhash.evaluation.metrics import DEPTH
from sketchhash.files import replacing
from sketchhash.imaging import write_png
from sketchhash.paper.differences import differences_table, earlier_settings
from sketchhash.paper.entries import DSH
from sketchhash.paper.experiment import Experiment
from sketchhash.paper.figures import draw_code_map, draw_curves, draw_examples, lay_out
from sketchhash.paper.records import Records, RunRecord
from sketchhash.paper.tables import Runs, all_runs, table_2, table_3, table_4
from sketchhash.results import Table

WITH_PHOTOS = "photos-not-to-publish"


@dataclass(frozen=True)
class Illustration:
    """A picture of the report, with its caption."""

    path: Path
    title: str
    caption: str

    @property
    def base64(self) -> str:
        """The file, to be put into a page."""
        return b64encode(self.path.read_bytes()).decode()


@dataclass(frozen=True)
class Section:
    """A list under a heading."""

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Report:
    """All that a report says."""

    title: str
    introduction: tuple[str, ...]
    tables: tuple[Table, ...]
    illustrations: tuple[Illustration, ...]
    sections: tuple[Section, ...]

    def markdown(self) -> str:
        """Return the report as Markdown; its pictures are the files beside it."""
        parts = [f"# {self.title}", *self.introduction]
        for table in self.tables:
            parts += [f"## {table.title}", table.note, table.markdown()]
        for picture in self.illustrations:
            parts += [f"## {picture.title}", f"![{picture.title}]({picture.path.name})", picture.caption]
        for section in self.sections:
            parts += [f"## {section.title}", "\n".join(f"- {line}" for line in section.lines)]
        return "\n\n".join(parts) + "\n"

    def html(self, more: Sequence[Illustration] = ()) -> str:
        """Return the report as one page that needs no other file and no script, with more pictures if given."""
        jinja2 = require("jinja2", "bench")
        environment = jinja2.Environment(autoescape=True, trim_blocks=True)
        template = (files("sketchhash.paper") / "report.html").read_text(encoding="utf-8")
        pictures = sorted((*self.illustrations, *more), key=lambda picture: picture.title)
        page: str = environment.from_string(template).render(report=self, pictures=pictures, zip=zip)
        return page + "\n"


def write_report(results: Path, out: Path, dataset: Dataset | None = None) -> list[Path]:
    """Write the report of the runs in a folder, and return its files.

    Args:
        results: The folder of runs.
        out: The folder to write to.
        dataset: What the runs were made on, to show its photos in Figure 6; None leaves that figure out.
    """
    records = Records(results)
    experiment, runs = records.experiment(), Runs(records.runs())
    if not runs.all:
        raise BadArgument(f"{results} holds no finished run yet. Make one with: sketchhash paper run")
    out.mkdir(parents=True, exist_ok=True)
    report = Report(
        title=f"The paper's comparison on {experiment.dataset}",
        introduction=_introduction(experiment, runs),
        tables=(
            table_2(runs),
            table_3(runs),
            table_4(runs),
            differences_table(runs, records.recipes()),
            all_runs(runs),
        ),
        illustrations=tuple(_figures(experiment, runs, out)),
        sections=_sections(records, runs),
    )
    texts = {"report.md": report.markdown(), "report.html": report.html()}
    texts |= {f"{table.name}.csv": table.csv() for table in report.tables}
    written = [picture.path for picture in report.illustrations]
    shown = [run for run in runs.of(DSH) if run.examples]
    if dataset and shown:
        (out / WITH_PHOTOS).mkdir(exist_ok=True)
        examples = _examples(experiment, shown[-1], dataset, out / WITH_PHOTOS)
        texts[f"{WITH_PHOTOS}/report.html"] = report.html([examples])
        written.append(examples.path)
    for name, text in texts.items():
        with replacing(out / name) as file:
            file.write(text.encode())
    return [*(out / name for name in texts), *written]


def _introduction(experiment: Experiment, runs: Runs) -> tuple[str, ...]:
    is_seen = experiment.protocol == "seen"
    gallery = "all of them are the gallery, as in the paper" if is_seen else "others are the gallery"
    photos, relevant = sum(experiment.gallery), experiment.relevant
    chance, best = relevant.mean() / photos, np.minimum(relevant, DEPTH).mean() / DEPTH
    hours = sum(run.seconds for run in runs.all) / 3600
    known = [run.accuracy for run in runs.all if run.accuracy is not None]
    return (
        f"{sum(experiment.queries):,} sketches are queries; {photos:,} photos are searched. "
        f"{experiment.training_sketches:,} sketches and {experiment.training_photos:,} photos train; {gallery}. "
        f"Seed {experiment.seed}, data {experiment.data_hash[:12]}, split {experiment.split_hash[:12]}.",
        "mAP is tie-aware mAP@all; P@200 always divides by 200; a query's time is that of finding its 200 nearest "
        "photos on one thread, with the sketch already encoded; a megabyte is 2^20 bytes. A dash means not run, or not "
        f"reported. Chance is about {chance:.3f}, and no P@{DEPTH} can be above {best:.3f}.",
        f"{len(runs.all)} runs are finished. All together they took {hours:.1f} hours.",
        *(
            f"The Sketch-a-Net through which methods on features see sketches tells the category of {share:.1%} of the "
            "queries, which limits what they can find."
            for share in known
        ),
    )


def _figures(experiment: Experiment, runs: Runs, out: Path) -> list[Illustration]:
    figures = []
    if runs.hashing:
        path = out / "figure-5.png"
        bits = draw_curves(runs, path)
        caption = (
            f"Left: precision over recall of binary codes of {bits} bits as the Hamming radius grows, pooled over all "
            "queries. Right: precision within radius 2, mean over queries, an empty ball counting 0."
        )
        figures.append(Illustration(path, "Figure 5: curves of hashing methods", caption))
    shortest = next((run for run in runs.of(DSH) if run.sample), None)
    if shortest and shortest.sample:
        path = out / "figure-7.png"
        codes = lay_out(shortest.sample, experiment.categories)
        draw_code_map(codes, path)
        caption = (
            f"t-SNE of {shortest.size}-bit DSH codes, photos and sketches laid out together: the "
            f"{len(codes.categories)} categories with the most photos."
        )
        figures.append(Illustration(path, "Figure 7: codes of photos and of sketches", caption))
    return figures


def _examples(experiment: Experiment, run: RunRecord, dataset: Dataset, folder: Path) -> Illustration:
    path = folder / "figure-6.png"
    write_png(path, draw_examples(run.examples, experiment.categories, dataset))
    caption = (
        "The first query of eight categories, spread evenly over all, and the 20 photos nearest to it by "
        f"{run.size}-bit DSH codes, equal distances in a random order. Red frames: another category."
    )
    return Illustration(path, "Figure 6: what sketches find", caption)


def _changes(records: Records, runs: Runs) -> tuple[str, ...]:
    changed = records.changed_settings()
    return tuple(
        f"{run.entry.slug}: " + ", ".join(f"{name} is {value}" for name, value in changed[run.recipe].items())
        for run in runs.all
        if run.recipe in changed
    )


def _earlier(records: Records, runs: Runs) -> dict[str, str]:
    """Say by method how the settings of runs by an earlier version differ from today's."""
    recipes, cards = records.recipes(), {card.name: card for card in CATALOGUE}
    return {
        run.method: told
        for run in runs.all
        if run.method in cards and (told := earlier_settings(cards[run.method], run, recipes))
    }


def _sections(records: Records, runs: Runs) -> tuple[Section, ...]:
    ran = {run.method for run in runs.all}
    cards = [card for card in CATALOGUE if card.name in ran]
    earlier = _earlier(records, runs)
    choices = tuple(
        f"{card.title} ({card.paper}, {card.year}): {' '.join(filter(None, (*card.choices, card.published)))}"
        for card in cards
        if card.name not in earlier
    )
    versions = sorted({item for run in runs.all for item in run.versions.items()})
    sections = [Section("What the methods' papers leave open, and what was reduced", choices)] if choices else []
    if earlier:
        lines = tuple(f"{card.title}: {earlier[card.name]}" for card in cards if card.name in earlier)
        sections.append(Section("Methods that have changed since these runs", lines))
    if changes := _changes(records, runs):
        sections.append(Section("Settings that differ from these", changes))
    sections.append(Section("Versions", tuple(f"{name} {number}" for name, number in versions)))
    if failures := records.failures():
        lines = tuple(f"{path.name.removesuffix('.failed.txt')}: see {path.name}" for path in failures)
        sections.append(Section("Runs that failed", lines))
    return tuple(sections)
