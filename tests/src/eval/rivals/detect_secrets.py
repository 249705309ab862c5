"""Scans each row of standard input with detect-secrets as files are scanned; prints what it found.

In: one JSON string a line. Out: one JSON list of [type, value] a line. No network, nothing is verified.
"""

import json
import os
import sys
import tempfile

from detect_secrets.core import scan
from detect_secrets.settings import transient_settings
from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class

PLUGINS = [{"name": cls.__name__} for cls in get_mapping_from_secret_type_to_class().values()]

with transient_settings({"plugins_used": PLUGINS}), tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "row.txt")
    for line in sys.stdin:
        with open(path, "w", encoding="utf-8", newline="") as row:
            row.write(json.loads(line))
        found = sorted({(s.type, s.secret_value) for s in scan.scan_file(path) if s.secret_value})
        print(json.dumps(found), flush=True)
