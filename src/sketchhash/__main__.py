"""``python -m sketchhash``, which is also how ``torchrun`` starts several processes."""

from sketchhash.cli import main

main()
