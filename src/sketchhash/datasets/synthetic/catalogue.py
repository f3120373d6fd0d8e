"""The one table of categories: a name, a recipe, and the places where such things are photographed."""

from __future__ import annotations

from dataclasses import dataclass

from sketchhash.datasets.synthetic import animals, belongings, household, outdoors, vehicles
from sketchhash.datasets.synthetic.parts import Recipe
from sketchhash.datasets.synthetic.scenery import (
    DEEP,
    DESERT,
    HEAVEN,
    MEADOW,
    ROOM,
    SEA,
    SNOW,
    STREET,
    TABLETOP,
    Place,
)
from sketchhash.errors import UnknownName


@dataclass(frozen=True)
class Category:
    """A kind of thing; names are TU-Berlin's."""

    name: str
    recipe: Recipe
    places: tuple[Place, ...]


_ROWS = (
    Category("airplane", vehicles.airplane, (HEAVEN,)),
    Category("alarm clock", household.alarm_clock, (ROOM,)),
    Category("apple", household.apple, (ROOM, TABLETOP, MEADOW)),
    Category("banana", household.banana, (ROOM, TABLETOP)),
    Category("bicycle", vehicles.bicycle, (STREET, MEADOW, ROOM)),
    Category("bus", vehicles.bus, (STREET, MEADOW)),
    Category("butterfly", animals.butterfly, (MEADOW, TABLETOP, HEAVEN)),
    Category("cactus", outdoors.cactus, (DESERT, DESERT, MEADOW)),
    Category("candle", household.candle, (ROOM,)),
    Category("car (sedan)", vehicles.car, (STREET, MEADOW, DESERT)),
    Category("carrot", household.carrot, (TABLETOP,)),
    Category("cat", animals.cat, (ROOM, MEADOW, STREET)),
    Category("chair", household.chair, (ROOM, STREET, MEADOW)),
    Category("duck", animals.duck, (SEA, MEADOW)),
    Category("elephant", animals.elephant, (DESERT, MEADOW)),
    Category("envelope", belongings.envelope, (TABLETOP,)),
    Category("eyeglasses", belongings.eyeglasses, (TABLETOP, ROOM)),
    Category("fish", animals.fish, (DEEP,)),
    Category("flower with stem", outdoors.flower_with_stem, (MEADOW, ROOM)),
    Category("giraffe", animals.giraffe, (DESERT, MEADOW)),
    Category("guitar", belongings.guitar, (ROOM, TABLETOP)),
    Category("hammer", belongings.hammer, (TABLETOP,)),
    Category("helicopter", vehicles.helicopter, (HEAVEN,)),
    Category("hot air balloon", vehicles.hot_air_balloon, (HEAVEN,)),
    Category("house", outdoors.house, (MEADOW, SNOW, STREET)),
    Category("ice-cream-cone", household.ice_cream_cone, (ROOM, HEAVEN, TABLETOP)),
    Category("key", belongings.key, (TABLETOP,)),
    Category("lightbulb", household.lightbulb, (ROOM, TABLETOP)),
    Category("mug", household.mug, (ROOM,)),
    Category("mushroom", outdoors.mushroom, (MEADOW,)),
    Category("owl", animals.owl, (MEADOW, SNOW)),
    Category("palm tree", outdoors.palm_tree, (DESERT, SEA)),
    Category("penguin", animals.penguin, (SNOW, SEA)),
    Category("pineapple", household.pineapple, (ROOM, TABLETOP)),
    Category("rabbit", animals.rabbit, (MEADOW, SNOW, ROOM)),
    Category("sailboat", vehicles.sailboat, (SEA,)),
    Category("scissors", belongings.scissors, (TABLETOP,)),
    Category("snail", animals.snail, (MEADOW, ROOM)),
    Category("snowman", outdoors.snowman, (SNOW,)),
    Category("spider", animals.spider, (TABLETOP, DESERT)),
    Category("t-shirt", belongings.t_shirt, (TABLETOP, ROOM)),
    Category("tablelamp", household.tablelamp, (ROOM,)),
    Category("teapot", household.teapot, (ROOM,)),
    Category("tree", outdoors.tree, (MEADOW, STREET)),
    Category("truck", vehicles.truck, (STREET, DESERT)),
    Category("umbrella", belongings.umbrella, (STREET, MEADOW, ROOM)),
    Category("wineglass", household.wineglass, (ROOM,)),
)

_BY_NAME = {row.name: row for row in _ROWS}

CATEGORIES: tuple[str, ...] = tuple(sorted(_BY_NAME))


def find(name: str) -> Category:
    """Look a category up by name."""
    try:
        return _BY_NAME[name]
    except KeyError:
        raise UnknownName("category", name, CATEGORIES) from None
