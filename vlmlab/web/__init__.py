"""The little web layer every app shares: access, errors, figures, template tags, home."""
