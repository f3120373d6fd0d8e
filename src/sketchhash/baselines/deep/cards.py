"""The facts of the deep methods; figures are those of the paper's Tables 2 and 3."""

from __future__ import annotations

from sketchhash.baselines.method import Card, Distance, Kind, Reported, Sees

_ALL_PAIRS = "Every pair of a batch is used: 4 photos and 4 sketches of each of 16 categories."
_STEPS = "AdamW with a rate of 1e-3, warmed up, then falling along a cosine; weight decay 0.02."
_JOSTLED = "Pictures are mirrored, turned by up to 0.2 radians, scaled by up to 15 % and shifted a little."
_FROM_SCRATCH = "Trained from random weights."
_NORMALISED = "Batches are normalised after each convolution, for a short training."
_EDGES = "Photos are Canny's edges, drawn with the sketches' pen; lines below 60 % of a photo's strongest are left out."
_FROZEN = (
    "Reduced: the convolutions are AlexNet's of ImageNet (64-192-384-256-256) and stay frozen; pool5 of each picture, "
    "as it is and mirrored, is computed once, and only the fully connected layers learn, from random weights."
)
_NARROW = "Reduced: fc6 has 1024 outputs instead of 4096; dropout is 0.2 instead of 0.5."
_NAMED = (
    "Both views first learn to name the categories, for {} epochs: from random weights the loss alone goes nowhere."
)


def _reported(size: int, mean_average_precision: float, precision_at_200: float) -> Reported:
    return Reported({size: mean_average_precision}, {size: precision_at_200})


CARDS: tuple[Card, ...] = (
    Card(
        name="siamese-cnn",
        title="Siamese CNN",
        kind=Kind.DEEP,
        paper="Qi, Song, Zhang, Liu. Sketch-Based Image Retrieval via Siamese Convolutional Neural Network. ICIP",
        year=2016,
        sees=Sees.PICTURES,
        distance=Distance.EUCLIDEAN,
        implementation="deep.siamese_cnn:SiameseCNN",
        choices=(
            "The layers are those of 3D shape: the original's could not be verified.",
            "Contrastive loss with margin 1.4 on unit vectors; same and different pairs weigh the same.",
            _ALL_PAIRS,
            _EDGES,
            f"{_FROM_SCRATCH} {_NAMED.format(4)}",
            _NORMALISED,
            _JOSTLED,
            f"Reduced: 12 more epochs. {_STEPS}",
        ),
        tuberlin=_reported(64, 0.322, 0.447),
        sketchy=_reported(64, 0.481, 0.612),
        sizes=(64,),
    ),
    Card(
        name="sketch-a-net",
        title="Sketch-a-Net (SaN)",
        kind=Kind.DEEP,
        paper="Yu, Yang, Song, Xiang, Hospedales. Sketch-a-Net that Beats Humans. BMVC",
        year=2015,
        sees=Sees.PICTURES,
        distance=Distance.EUCLIDEAN,
        implementation="deep.sketch_a_net:SketchANet",
        choices=(
            "One channel and one scale, as in the paper; taught the categories of all training sketches.",
            _EDGES,
            f"{_FROM_SCRATCH} {_NORMALISED}",
            _JOSTLED,
            f"Reduced: pictures of 129 pixels instead of 225, and 30 epochs in batches of 64. {_STEPS}",
            "Labels are smoothed by 0.1.",
        ),
        tuberlin=_reported(512, 0.154, 0.225),
        sketchy=_reported(512, 0.208, 0.292),
        sizes=(512,),
    ),
    Card(
        name="gn-triplet",
        title="GN Triplet",
        kind=Kind.DEEP,
        paper="Sangkloy, Burnell, Ham, Hays. The Sketchy Database: Learning to Retrieve Badly Drawn Bunnies. SIGGRAPH",
        year=2016,
        sees=Sees.PICTURES,
        distance=Distance.COSINE,
        implementation="deep.gn_triplet:GNTriplet",
        choices=(
            "The paper took the authors' weights without training; these cannot be had. " + _FROM_SCRATCH,
            "Reduced: GoogLeNet at half width (but 1024 features), pictures of 96 pixels instead of 224, 12 epochs.",
            f"{_NORMALISED} The auxiliary classifiers are left out.",
            "Naming weighs 10 beside the triplets, whose margin is 0.3 on squared distances of unit vectors.",
            "A positive is any photo of the sketch's category. " + _ALL_PAIRS.replace("pair", "triplet"),
            _JOSTLED,
            _STEPS,
        ),
        tuberlin=_reported(1024, 0.187, 0.301),
        sketchy=_reported(1024, 0.529, 0.716),
        sizes=(1024,),
    ),
    Card(
        name="3d-shape",
        title="3D shape",
        kind=Kind.DEEP,
        paper="Wang, Kang, Li. Sketch-Based 3D Shape Retrieval Using Convolutional Neural Networks. CVPR",
        year=2015,
        sees=Sees.PICTURES,
        distance=Distance.MANHATTAN,
        implementation="deep.shape3d:Shape3D",
        choices=(
            "The paper took the authors' weights without training; these cannot be had. " + _FROM_SCRATCH,
            "Edge maps of photos take the place of rendered views.",
            "C_p is 0.2 and C_n 10, as published, on unit vectors; ranked by the Manhattan distance of the loss.",
            _ALL_PAIRS,
            _EDGES,
            _NAMED.format(4),
            _NORMALISED,
            _JOSTLED,
            f"Reduced: 12 more epochs. {_STEPS}",
        ),
        tuberlin=_reported(64, 0.054, 0.072),
        sketchy=_reported(64, 0.084, 0.079),
        sizes=(64,),
    ),
    Card(
        name="siamese-alexnet",
        title="Siamese-AlexNet",
        kind=Kind.DEEP,
        paper="Liu, Shen, Shen, Liu, Shao. Deep Sketch Hashing. CVPR (a baseline of its own)",
        year=2017,
        sees=Sees.PICTURES,
        distance=Distance.EUCLIDEAN,
        implementation="deep.siamese_alexnet:SiameseAlexNet",
        choices=(
            "Contrastive loss with margin 1.4 on fc7 of unit length; same and different pairs weigh the same.",
            _ALL_PAIRS,
            _FROZEN,
            _NARROW,
            _NAMED.format(2),
            f"Reduced: 18 more epochs. {_STEPS}",
        ),
        tuberlin=_reported(4096, 0.367, 0.476),
        sketchy=_reported(4096, 0.518, 0.690),
        sizes=(4096,),
    ),
    Card(
        name="triplet-alexnet",
        title="Triplet-AlexNet",
        kind=Kind.DEEP,
        paper="Liu, Shen, Shen, Liu, Shao. Deep Sketch Hashing. CVPR (a baseline of its own)",
        year=2017,
        sees=Sees.PICTURES,
        distance=Distance.EUCLIDEAN,
        implementation="deep.triplet_alexnet:TripletAlexNet",
        choices=(
            "Hinge with margin 0.3 on squared distances of fc7 of unit length.",
            "Sketches and photos have fully connected layers of their own.",
            _ALL_PAIRS.replace("pair", "triplet"),
            _FROZEN,
            _NARROW,
            f"Reduced: 20 epochs. {_STEPS}",
        ),
        tuberlin=_reported(4096, 0.448, 0.552),
        sketchy=_reported(4096, 0.573, 0.761),
        sizes=(4096,),
    ),
    Card(
        name="dcmh",
        title="DCMH",
        kind=Kind.HASHING,
        paper="Jiang, Li. Deep Cross-Modal Hashing. CVPR",
        year=2017,
        sees=Sees.PICTURES,
        distance=Distance.HAMMING,
        implementation="deep.dcmh:DCMH",
        choices=(
            "The text network is replaced by one like that of the photos, as in the paper.",
            "Photos and sketches come in no pairs: each has its own code, the signs of its values.",
            "Similar pairs weigh as much as all others together: one in as many as there are categories is similar.",
            "γ and η are 1, as published; the balance of bits is estimated from each batch.",
            _FROZEN,
            "Reduced: fc6 and fc7 have 1024 outputs instead of 4096; dropout is 0.2.",
            _NAMED.format(8),
            f"Reduced: 20 more epochs instead of 500, in batches of 128. {_STEPS}",
        ),
        tuberlin=Reported({32: 0.274, 64: 0.382, 128: 0.425}, {32: 0.332, 64: 0.467, 128: 0.540}),
        sketchy=Reported({32: 0.560, 64: 0.622, 128: 0.656}, {32: 0.730, 64: 0.771, 128: 0.784}),
    ),
)
