"""The parts of ../gpu_check.py."""
