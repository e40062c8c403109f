"""The kinds of figures of `rattleback plot`, one module each or two that go together."""
