"""Does a size run? Three steps of a plain loop: plain.py MODEL SIZE."""

import sys

import subject

name, size = sys.argv[1], int(sys.argv[2])
ran = True
try:
    subject.train(name, size, 3)
except RuntimeError as error:
    if "can't allocate memory" not in str(error):
        raise
    ran = False
subject.answer(ran=ran)
