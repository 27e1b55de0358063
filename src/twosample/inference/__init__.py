"""From moments to evidence: prior, Bayes factors, lengthscale, mixture, relabelling, effect and witness."""
