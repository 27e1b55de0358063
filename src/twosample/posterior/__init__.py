"""Inference over the lengthscale: exact integration, and what follows from it."""
