"""The Bayes factor of the default model at one lengthscale, by its definition, with dense matrices."""

import numpy as np
from scipy.special import logsumexp


def noise(a, b, K, *, paired=False):
    """C, what is added to the diagonal of V, and V, from the features of both samples, (n_x, s) and (n_y, s), and K."""
    n_x, n_y = len(a), len(b)
    n = 2 / (1 / n_x + 1 / n_y)
    if paired:
        C = (a - b).T @ (a - b) / (2 * n)
    else:
        C = np.cov(np.concatenate([a, b]).T, bias=True).reshape(a.shape[1], -1)
    variances = np.diag(C)
    added = np.full(len(C), min(150 / n**3, 0.2 / n) * variances.mean())
    if n_x != n_y:
        one_row = ((1 / n_x - 1 / n_y) * np.ptp(K, axis=1)) ** 2
        added += one_row / (1 + variances * (1 / n_x + 1 / n_y) / one_row)
    return C, added, C * 2 / n + np.diag(added)


def prior(C, added, n, K):
    """R: half from the kernel between the points, (s, s), and half along the principal components of C."""
    s = len(C)
    H = np.eye(s) - 1 / s
    along = 0.3 * C @ np.linalg.solve(C + n / 2 * np.diag(added), C) + 0.7 * C @ C * np.trace(C) / (C**2).sum()
    return 0.5 * K @ H @ K / s + 0.5 * along


def welch(sizes):
    """Welch's degrees of freedom of the difference of two means of rows of one variance; likewise of k groups."""
    of_means = 1 / np.asarray(sizes, dtype=float)
    return of_means.sum() ** 2 / np.sum(of_means**2 / sizes)


def growth(e, N, even, contrasts=1):
    """What an explained e of V's own rows counts; of k groups there are k - 1 contrasts."""
    whole, fewer = N * contrasts, (1 / even - 1 / N) / contrasts
    t = -whole * np.log(1 - e / whole)
    if fewer * N > 1e-9:
        t = np.log(1 + fewer * t) / fewer
    return t


def log_bf10_given(a, b, K, amplitude, *, paired=False):
    """Log BF10 at amplitudes (A,)."""
    C, added, V = noise(a, b, K, paired=paired)
    n = 2 / (1 / len(a) + 1 / len(b))
    N = even = n
    if not paired:
        N, even = len(a) + len(b), welch([len(a), len(b)])
    R, delta = prior(C, added, n, K), a.mean(axis=0) - b.mean(axis=0)
    total = V + np.square(np.asarray(amplitude))[:, None, None] * R
    e = (
        delta @ np.linalg.solve(V, delta)
        - np.linalg.solve(total, np.broadcast_to(delta, total.shape[:2])[..., None])[..., 0] @ delta
    )
    cost = np.linalg.slogdet(total)[1] - np.linalg.slogdet(V)[1]
    return 0.5 * (growth(e, N, even) - cost)


def log_bf10(a, b, K, *, paired=False, scale=0.5):
    """The mean over the half-Cauchy prior of the amplitude: `scale` is 0.5 for one column, and 0.3 for more."""
    nodes, weights = np.polynomial.legendre.leggauss(300)
    amplitude = scale * np.tan(np.pi * (nodes + 1) / 4)
    return logsumexp(log_bf10_given(a, b, K, amplitude, paired=paired), b=weights / 2)
