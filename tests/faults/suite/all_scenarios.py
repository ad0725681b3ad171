"""All scenarios, in the order of the page."""
from suite import certificate_scenarios, checkpoint_scenarios, late_scenarios, scenarios

SCENARIOS = [*scenarios.SCENARIOS, *late_scenarios.SCENARIOS, *checkpoint_scenarios.SCENARIOS, *certificate_scenarios.SCENARIOS]
