"""What a person sees of a result: plots and reports. Nothing is inferred here."""
