"""Category names as vectors, so that what the hash learns for *cheetah* lies near *tiger* (the paper's §3.2).

`embed` does it. The default is half GloVe (what a name is used with) and half WordNet (what a thing is a kind of);
other tables are read from word2vec and GloVe files. `find_categories` finds those that a word means.
"""

from sketchhash.words.names import listed_categories
from sketchhash.words.near_words import category_words, find_categories
from sketchhash.words.sources import SOURCES, Vectors, centred, embed

__all__ = ["SOURCES", "Vectors", "category_words", "centred", "embed", "find_categories", "listed_categories"]
