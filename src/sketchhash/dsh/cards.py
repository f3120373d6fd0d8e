"""What a training run can say about itself on a model card."""

from __future__ import annotations

from sketchhash.dsh.runs import Job
from sketchhash.model import CardFacts, DataSource


def describe(job: Job) -> CardFacts:
    """Describe a job's data and protocol; licences are not known from files, and the card says so."""
    parts, split = job.split.apply(job.dataset), job.split
    protocol = (
        f"{len(parts.queries):,} query sketches, none of them trained on, search {len(parts.gallery):,} photos. "
        f"Split drawn with seed {split.seed}, hash {split.hash}."
    )
    if split.unseen_categories:
        protocol += f" Zero-shot: {', '.join(split.unseen_categories)} were kept out of training."
    elif split.held_out_photos:
        protocol += " The photos searched were kept out of training."
    else:
        protocol += " As in the paper, the photos searched were also trained on."
    return CardFacts(
        summary=f"Trained with the recipe *{job.recipe.name}*. {job.recipe.description}",
        data=[
            DataSource(
                name=job.dataset.name,
                used_for="training and measuring",
                sketches=len(parts.training_sketches),
                photos=len(parts.training_photos),
                licence="that of the dataset; ask its authors",
                link="",
            )
        ],
        protocol=protocol,
    )
