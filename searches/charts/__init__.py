"""Results as charts: a Plotly dict with its sentence and the same numbers as a table."""
