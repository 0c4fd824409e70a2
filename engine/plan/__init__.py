"""From a config and a seed to the plan of a run: tasks drawn, cut, dealt to shards, named, and what they would cost."""
