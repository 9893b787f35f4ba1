"""The one table of signs: interface icons (16 x 16), concept glyphs (12 x 12) and finding states."""

# Path data of stroked 16 x 16 icons.
ICONS: dict[str, str] = {
    "home": "M2.5 7.5 8 3l5.5 4.5V13a.5.5 0 0 1-.5.5H3a.5.5 0 0 1-.5-.5zM6.5 13.5V9h3v4.5",
    "system": "M4 4h8v8H4zM6.5 1.5V4M9.5 1.5V4M6.5 12v2.5M9.5 12v2.5M1.5 6.5H4M1.5 9.5H4"
    "M12 6.5h2.5M12 9.5h2.5",
    "domain": "M3.5 3.5h3v3h-3zM9.5 9.5h3v3h-3zM9.5 3.5h3v3h-3zM6.5 5h3M11 6.5v3M6 6.5l3.5 3.5",
    "picture": "M2 3.5h12v9H2zM2 9.5l3.5-3 3 3 2-1.5 3.5 3",
    "run": "M4.5 3v10l8-5z",
    "finding": "M4 14V2.5M4 3h8l-2 3 2 3H4",
    "chart": "M2 13.5h12M4 13.5V8M8 13.5V3M12 13.5V6",
    "flask": "M6 2h4M6.8 2v4.2L3 13.5h10L9.2 6.2V2M5 10h6",
    "explain": "M8 2a4 4 0 0 1 2.4 7.2c-.6.5-.9 1-.9 1.8h-3c0-.8-.3-1.3-.9-1.8A4 4 0 0 1 8 2zM6.5 13.5h3",
    "card": "M2 3.5h12v9H2zM4.5 6.5h4M4.5 9.5h2.5M9.5 9l1.2 1.2L13 7.8",
    "compare": "M6 2v12M10 2v12M2 5h4M2 9h4M10 7h4M10 11h4",
    "people": "M5.5 7.5a2.25 2.25 0 1 0 0-4.5 2.25 2.25 0 0 0 0 4.5zM1.5 13.5c0-2.5 1.8-4 4-4s4 1.5 4 4"
    "M10.5 3.2a2.2 2.2 0 0 1 0 4.2M11.5 9.7c1.8.4 3 1.8 3 3.8",
    "eye": "M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4z",
    "menu": "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
    "moon": "M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5z",
    "arrow": "M2.5 8h11M9.5 4l4 4-4 4",
    "back": "M13.5 8h-11M6.5 4l-4 4 4 4",
    "warning": "M8 2.5 14.5 13.5h-13zM8 6.5v3.5M8 11.8v.2",
    "info": "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 7.3v3.7M8 5v.2",
    "check": "M3 8.5l3.2 3.2L13 4.5",
    "cross": "M4 4l8 8M12 4l-8 8",
    "pin": "M6 2h4l-.6 5 2.1 2.5h-7L6.6 7zM8 9.5V14",
    "confirm": "M8 1.8 14.2 8 8 14.2 1.8 8zM5.8 8l1.6 1.6L10.4 6.6",
    "plus": "M8 3v10M3 8h10",
    "pause": "M5.5 3.5v9M10.5 3.5v9",
    "stop": "M4 4h8v8H4z",
    "copy": "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
    "download": "M8 2.5v8M4.5 7.5 8 11l3.5-3.5M3 13.5h10",
    "upload": "M8 11V3M4.5 6 8 2.5 11.5 6M3 13.5h10",
    "bin": "M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.6 9h6.8l.6-9",
    "search": "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.5 10.5l3.5 3.5",
    "sliders": "M2.5 5h6M11.5 5h2M2.5 11h2M7.5 11h6M10 3.5v3M6 9.5v3",
    "dice": "M3 3h10v10H3zM5.8 5.8v.1M10.2 10.2v.1M10.2 5.8v.1M5.8 10.2v.1M8 8v.1",
    "again": "M13 8a5 5 0 1 1-1.6-3.7M13 2.5v3h-3",
    "undo": "M5 3 2.5 5.5 5 8M2.5 5.5H10a3.5 3.5 0 0 1 0 7H6",
    "worker": "M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.1M5 11h.1M8 5h3M8 11h3",
    "audit": "M4 2.5h6.5L13 5v8.5H4zM6.5 7h4M6.5 9.5h4M6.5 4.8h2",
    "book": "M3 3.5c2-1 4-.6 5 .5 1-1.1 3-1.5 5-.5v9c-2-1-4-.6-5 .5-1-1.1-3-1.5-5-.5zM8 4v9",
    "key": "M8 8a2.75 2.75 0 1 0-5.5 0a2.75 2.75 0 1 0 5.5 0zM8 8h6M11 8v2.5M14 8v2.5",
    "edit": "M3 13l.6-2.8 7-7 2.2 2.2-7 7zM9.2 4.6l2.2 2.2",
    "leave": "M9.5 2.5H3.5v11h6M7 8h6.5M11 5.5 13.5 8 11 10.5",
}

# Path data of stroked 12 x 12 glyphs, one for each kind of concept, with the words for it.
GLYPHS: dict[str, tuple[str, str]] = {
    "obstacle": ("M1.5 10h9M3 10 6 2l3 8M4 7h4", "Obstacle"),
    "person": (
        "M6 5a1.7 1.7 0 1 0 0-3.4A1.7 1.7 0 0 0 6 5zM2.5 11c0-2.6 1.5-4 3.5-4s3.5 1.4 3.5 4",
        "Person",
    ),
    "vehicle": ("M1.5 8.5v-2l1.5-3.5h6l1.5 3.5v2zM1.5 6.5h9M3.3 8.5v1.6M8.7 8.5v1.6", "Vehicle"),
    "prop": ("M2 4l4-2.5L10 4v4.5L6 11 2 8.5z", "Prop"),
    "signal": ("M4 1h4v10H4zM6 3.6v.1M6 6v.1M6 8.4v.1", "Signal"),
    "map": ("M1.5 3l3-1.5 3 1.5 3-1.5v7.5l-3 1.5-3-1.5-3 1.5z", "Map"),
    "weather": ("M1.5 4c1.5-1.6 3-1.6 4.5 0s3 1.6 4.5 0M1.5 8c1.5-1.6 3-1.6 4.5 0s3 1.6 4.5 0", "Weather"),
    "modifier": ("M2 6h8M7.5 3.5 10 6 7.5 8.5", "Place or distance"),
    "room": ("M1.5 10.5v-6L6 1.5l4.5 3v6zM4.5 10.5v-4h3v4", "Room"),
    "liquid": ("M6 1.5C4.5 4 3 5.6 3 7.5a3 3 0 0 0 6 0C9 5.6 7.5 4 6 1.5z", "Container or liquid"),
    "blade": ("M1.5 8.5 8 2c1.5 1.5 1.5 3.5-.5 5.5l-1 1zM6.5 8.5l3 3", "Sharp thing"),
    "chemical": (
        "M4.5 1.5h3M5 1.5v3L2 9.5a1 1 0 0 0 .9 1.5h6.2a1 1 0 0 0 .9-1.5L7 4.5v-3M3.5 7.5h5",
        "Chemical or medicine",
    ),
    "fire": (
        "M6 1.2c.3 2 3 3.4 3 6.1a3 3 0 0 1-6 0c0-1.4.7-2.1 1.3-2.8.2 1 .7 1.4 1.2 1.6C5.8 4.6 5 3 6 1.2z",
        "Fire",
    ),
    "electric": ("M7 1 3 6.8h2.8L5 11l4-5.8H6.2z", "Electricity"),
    "heat": (
        "M2 10.5h8M3.5 8.5c-1-1.3 1-2.2 0-3.5s1-2.2 0-3.5M6.2 8.5c-1-1.3 1-2.2 0-3.5s1-2.2 0-3.5"
        "M9 8.5c-1-1.3 1-2.2 0-3.5s1-2.2 0-3.5",
        "Hot thing",
    ),
    "glass": ("M1.5 10.5 4 5l2 3zM6.5 6.5 8 1.5l2.5 4.5zM6 10.5l3-2.5 1.5 2.5z", "Broken glass"),
}

# Inner SVG (16 x 16) of each state of a finding: shape first, colour second.
FINDING_SIGNS: dict[str, str] = {
    "suspected": '<circle class="g-line" cx="8" cy="8" r="5.8" stroke-dasharray="3 2.1"/>',
    "confirmed": '<path class="g-fill" d="M8 1.2 14.8 8 8 14.8 1.2 8z"/>',
    "refuted": '<circle class="g-line" cx="8" cy="8" r="5.8"/><path class="g-line" d="M4 12l8-8"/>',
    "undetermined": '<circle class="g-line" cx="8" cy="8" r="5.8"/>'
    '<path class="g-fill" d="M8 2.2a5.8 5.8 0 0 1 0 11.6z"/>',
}

# State value -> (class of its badge, whether it breathes). Jobs, runs and workers share the badge.
BADGES: dict[str, tuple[str, bool]] = {
    "queued": ("queued", False),
    "running": ("running", True),
    "paused": ("paused", False),
    "cancelling": ("paused", False),
    "cancelled": ("queued", False),
    "succeeded": ("done", False),
    "done": ("done", False),
    "failed": ("failed", False),
    "busy": ("running", False),
    "idle": ("queued", False),
    "lost": ("failed", False),
    "ready": ("done", False),
    "off": ("queued", False),
}
