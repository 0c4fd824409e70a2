"""The templates of options tasks, one file each. ``evaluators.options.bank`` lists them."""
