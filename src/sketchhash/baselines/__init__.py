"""The methods that Deep Sketch Hashing is compared with: one catalogue, and one contract for all."""

from sketchhash.baselines.catalogue import CATALOGUE, Fitted, card_of, load_fitted
from sketchhash.baselines.class_codes import ClassCodes
from sketchhash.baselines.crossview import CanonicalCorrelation
from sketchhash.baselines.method import Card, Distance, Input, Kind, Method, Reported, Views

__all__ = [
    "CATALOGUE",
    "CanonicalCorrelation",
    "Card",
    "ClassCodes",
    "Distance",
    "Fitted",
    "Input",
    "Kind",
    "Method",
    "Reported",
    "Views",
    "card_of",
    "load_fitted",
]
