"""Several datasets as one: the same thing drawn and photographed by other people.

Ids are prefixed with the name of the dataset they come from, so that every item can still be told apart and every
protocol can still be drawn within one dataset: the queries of a joined split are those of each dataset's own split.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sketchhash.datasets.items import Dataset, Item
from sketchhash.datasets.names import meaning
from sketchhash.datasets.splits import Split, draw_split, inventory_hash
from sketchhash.errors import BadArgument, SplitProblem


def join(datasets: Sequence[Dataset]) -> Dataset:
    """Put datasets together over all their categories; one dataset stays as it is.

    A category that has other names in other datasets takes the name of the first dataset that has it.
    """
    if len(datasets) == 1:
        return datasets[0]
    names = [dataset.name for dataset in datasets]
    if len(set(names)) < len(names):
        raise BadArgument(f"Datasets to join need names of their own; got {', '.join(names)}. Rename a folder.")
    spelling: dict[str, str] = {}
    for dataset in datasets:
        for category in dataset.categories:
            spelling.setdefault(meaning(category), category)
    categories = tuple(sorted(spelling.values()))
    labels = {category: label for label, category in enumerate(categories)}

    def joined(kind: str) -> tuple[Item, ...]:
        items = (
            replace(item, id=_id(dataset, item.id), label=labels[spelling[meaning(dataset.categories[item.label])]])
            for dataset in datasets
            for item in getattr(dataset, kind)
        )
        return tuple(sorted(items, key=lambda item: (item.label, item.id)))

    return Dataset(
        name=" + ".join(names),
        categories=categories,
        sketches=joined("sketches"),
        photos=joined("photos"),
        remarks=tuple(remark for dataset in datasets for remark in dataset.remarks),
    )


def draw_joined_split(
    datasets: Sequence[Dataset],
    queries: int = 10,
    seed: int = 0,
    unseen_photos: float = 0.0,
    unseen_categories: Iterable[str] = (),
    validation: int = 0,
) -> Split:
    """Draw a split of the joined datasets: within each as `draw_split` does, and without some categories in any."""
    whole = join(datasets)
    own = [draw_split(dataset, queries, seed, unseen_photos, validation) for dataset in datasets]

    def named(kind: str) -> tuple[str, ...]:
        if len(datasets) == 1:
            return tuple(getattr(own[0], kind))
        pairs = zip(datasets, own, strict=True)
        return tuple(sorted(_id(dataset, name) for dataset, split in pairs for name in getattr(split, kind)))

    spelling = {meaning(category): category for category in whole.categories}
    wanted = list(unseen_categories)
    if strangers := [category for category in wanted if meaning(category) not in spelling]:
        raise SplitProblem(f"{whole.name} has no category {', '.join(map(repr, strangers))}.")
    unseen = tuple(sorted({spelling[meaning(category)] for category in wanted}))
    labels = {whole.categories.index(category) for category in unseen}
    seen = {
        kind: {item.id for item in items if item.label not in labels}
        for kind, items in (("validation_sketches", whole.sketches), ("validation_photos", whole.photos))
    }
    return Split(
        whole.name,
        inventory_hash(whole),
        seed,
        queries,
        unseen_photos,
        named("query_sketches"),
        named("held_out_photos"),
        unseen,
        validation,
        tuple(name for name in named("validation_sketches") if name in seen["validation_sketches"]),
        tuple(name for name in named("validation_photos") if name in seen["validation_photos"]),
    )


def collection(dataset: Dataset, item: Item) -> str:
    """Name the dataset that an item of a joined dataset comes from."""
    name, separator, _ = item.id.partition(_SEPARATOR)
    return name if separator else dataset.name


_SEPARATOR = ": "


def _id(dataset: Dataset, name: str) -> str:
    return f"{dataset.name}{_SEPARATOR}{name}"
