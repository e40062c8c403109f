"""Formulas become MathML when the site is built. So a reader needs neither a script nor the network."""

import html

import latex2mathml.converter
from docutils import nodes
from sphinx.util import logging

logger = logging.getLogger(__name__)


def convert(text, display, node):
    try:
        return latex2mathml.converter.convert(text, display=display)
    except Exception as error:
        logger.warning("the formula %r cannot be converted (%s)", text, error, location=node)
        return f"<code>{html.escape(text)}</code>"


def visit_inline(translator, node):
    translator.body.append(convert(node.astext(), "inline", node))
    raise nodes.SkipNode


def visit_block(translator, node):
    number = f'<span class="eqno">({node["number"]})</span>' if node.get("number") else ""
    target = f' id="equation-{nodes.make_id(node["label"])}"' if node.get("label") else ""
    translator.body.append(f'<div class="math-block"{target}>{number}{convert(node.astext(), "block", node)}</div>\n')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
