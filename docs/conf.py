"""The documentation site: `make docs` builds it into docs/_build/html."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

import twosample

project = "twosample"
author = "the twosample developers"
copyright = "the twosample developers"
release = version = twosample.__version__

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]
default_role = "py:obj"

# Pages: every Markdown file may hold {code-cell} blocks, which are run; those that fail, fail the build.
nb_custom_formats = {".md": ["myst_nb.core.read.read_myst_markdown_notebook", {"add_source_map": True}, False]}
nb_execution_mode = "auto"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True
# The kernels that run the cells say at each start how they are connected, which nobody here needs to know.
os.environ["IPYTHONDIR"] = _KERNELS = tempfile.mkdtemp()
_PROFILE = Path(_KERNELS, "profile_default")
_PROFILE.mkdir()
(_PROFILE / "ipython_kernel_config.py").write_text("get_config().IPKernelApp.log_level = 40\n")
atexit.register(shutil.rmtree, _KERNELS, ignore_errors=True)
nb_render_markdown_format = "myst"
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
# Links to headings are those that GitHub makes, and are checked like all others.
myst_heading_anchors = 4

# autodoc imports what stands before the last dot, and some public modules live in a room of the package.
for _name in ("baselines", "chemistry", "datasets", "domains", "plots", "simulate"):
    sys.modules[f"twosample.{_name}"] = getattr(twosample, _name)
# The reference, from the docstrings; pages of names that are gone must not stay.
shutil.rmtree(Path(__file__).parent / "generated", ignore_errors=True)
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
autosummary_filename_map = {"twosample.Plan": "twosample.Plan-class"}  # some file systems take it for twosample.plan
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# How it looks. Nothing is fetched from elsewhere: no fonts, no scripts, and mathematics as MathML.
html_theme = "pydata_sphinx_theme"
html_title = "twosample"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "twosample"},
    "show_toc_level": 3,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "quickstart": [], "limits": [], "extend": [], "gallery": []}
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True


# What docutils reads otherwise than LaTeX: names of commands, \tfrac12, and the space after a function.
_SPELLINGS = [
    (r"\\([dt]?frac)\s*([0-9a-z])\s*([0-9a-z])", r"\\\1{\2}{\3}"),
    (r"\\dots(?![a-zA-Z])", r"\\ldots"),
    (r"\\([bB]ig)(?![a-zA-Z])", r"\\\1l"),
    (r"\\(log|exp|max|min)(?![a-zA-Z_^]|\s*[(\[{]|\s*\\[({\[,]|\s*\\left|\s*\\[bB]ig)", r"\\\1\\,"),
]


def _mathml(node: nodes.math | nodes.math_block, as_block: bool) -> str:
    text = node.astext()
    for pattern, better in _SPELLINGS:
        text = re.sub(pattern, better, text)
    try:
        return tex2mathml(text, as_block=as_block)
    except MathError as error:
        logging.getLogger(__name__).warning("%s in %s", error, node.astext(), location=node)
        return ""


def _inline_math(translator: Any, node: nodes.math) -> None:
    translator.body.append(_mathml(node, as_block=False))
    raise nodes.SkipNode


def _display_math(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="formula">{_mathml(node, as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Mathematics as MathML, which browsers draw without a script."""
    app.add_html_math_renderer("mathml", (_inline_math, None), (_display_math, None))
