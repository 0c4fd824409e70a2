"""Public task banks as their publishers host them: fetched once, named by a commit, checked by sums ever after."""
