"""What a row becomes: evaluation points, subsets of columns, feature maps and the moments of their values."""
