"""Values across the boundary, as bytes that cannot execute code. Stdlib only: it also runs beside the candidate.

The form is columnar. A block holds `n` values, where the reader knows `n`: one tag when all are of one kind, else
the kind of each and then one block a kind. Containers are their lengths and one block of all their items. So the
work a level is a few calls that run at C speed, however many items there are.

What crosses is fixed by the design: plain values, each as itself; a subclass as its base content, read with the
base class's own methods; iterators and views as the kind that compares alike; all else as `Opaque`.
"""

from lab.grading.codec.common import Malformed, Opaque, TooLarge
from lab.grading.codec.reading import decode
from lab.grading.codec.writing import encode

__all__ = ["Malformed", "Opaque", "TooLarge", "decode", "encode"]
