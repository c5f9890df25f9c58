"""Checks invoices against the XML schema and the schematron of EN 16931; see the script `en16931` beside it."""

import sys
from pathlib import Path

import facturx
import saxonche
from lxml import etree

RULES = Path(facturx.__file__).parent / "xsd_and_schematron" / "facturx-en16931"
REPORT = {"svrl": "http://purl.oclc.org/dsdl/svrl"}


def broken(path, schema, schematron):
    """The rules that a file breaks, in words."""
    document = etree.parse(path)
    if not schema.validate(document):
        yield from (f"schema: {entry.message}" for entry in schema.error_log)
    report = etree.fromstring(schematron.transform_to_string(source_file=path).encode())
    for failed in report.iterfind(".//svrl:failed-assert", REPORT):
        if (failed.get("flag") or failed.get("role")) != "warning":
            yield f"{failed.get('id')}: {' '.join(''.join(failed.itertext()).split())}"


def main(paths):
    schema = etree.XMLSchema(etree.parse(RULES / "Factur-X_EN16931.xsd"))
    with saxonche.PySaxonProcessor(license=False) as processor:
        compiler = processor.new_xslt30_processor()
        schematron = compiler.compile_stylesheet(stylesheet_file=str(RULES / "FACTUR-X_EN16931.xslt"))
        found = [f"{path}: {rule}" for path in paths for rule in broken(path, schema, schematron)]
    print("\n".join(found) or f"{len(paths)} invoices keep the rules")
    return 1 if found else 0


sys.exit(main(sys.argv[1:]))
