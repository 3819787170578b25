"""The linear sweep beside the same sweep written the obvious way with a peer library, in its own environment."""
