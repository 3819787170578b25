"""Let the book be built as one page, which `make pdf` prints."""


def as_pages(app, config):
    """Draw every node as on a page: extensions that name a few for this builder hide all others from it."""
    handlers = app.registry.translation_handlers
    handlers["singlehtml"] = handlers["html"] | handlers.get("singlehtml", {})


def with_mathematics(app):
    """The page is called by its first one, which may have no formula."""
    if app.builder.name == "singlehtml":
        app.set_html_assets_policy("always")


def setup(app):
    app.connect("config-inited", as_pages)
    app.connect("builder-inited", with_mathematics)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
