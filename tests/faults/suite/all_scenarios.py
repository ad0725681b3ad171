"""All scenarios, in the order of the page."""
from suite import checkpoint_scenarios, scenarios

SCENARIOS = [*scenarios.SCENARIOS, *checkpoint_scenarios.SCENARIOS]
