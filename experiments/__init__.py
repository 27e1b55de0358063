"""The experiments of the paper, one file each: ``python -m experiments run`` computes, ``figures`` draws."""
