"""One module or folder for each question: it reads the data, plans, collects, answers and relabels."""
