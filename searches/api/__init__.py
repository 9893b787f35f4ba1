"""The REST API: a sibling of the views; both call ``launch`` and the services, and decide nothing."""
