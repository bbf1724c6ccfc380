"""accelerate's find_executable_batch_size: accelerate_finder.py MODEL START."""

import sys
import time

import accelerate.utils

import subject

name, start = sys.argv[1], int(sys.argv[2])
tried = []


@accelerate.utils.find_executable_batch_size(starting_batch_size=start)
def search(size):
    tried.append(size)
    subject.train(name, size, 3)  # as many steps as Lightning makes of a trial
    return size


begun = time.perf_counter()
found = search()
subject.answer(found=found, trials=len(tried), failures=len(tried) - 1, seconds=time.perf_counter() - begun)
