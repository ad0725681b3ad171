#!/usr/bin/env python3
"""Reads a directory of event files with the real tensorboard package: {run: {tag: [[step, wall time, value], ...]}}.

usage: read_events.py DIR
"""
import json
import os
import sys

from tensorboard.backend.event_processing import event_accumulator, io_wrapper

found = {}
for directory in io_wrapper.GetLogdirSubdirectories(sys.argv[1]):
    events = event_accumulator.EventAccumulator(directory, size_guidance={event_accumulator.SCALARS: 0, event_accumulator.TENSORS: 0})
    events.Reload()
    found[os.path.relpath(directory, sys.argv[1])] = {
        tag: [[event.step, event.wall_time, event.value] for event in events.Scalars(tag)] for tag in events.Tags()["scalars"]}
json.dump(found, sys.stdout)
