//! PDF metadata that describes the embedded XML, as required by ZUGFeRD and Factur-X: its name, version and profile.
//!
//! The PDF library does not support such metadata, so it is replaced by an incremental update at the end of the file,
//! which consists of the metadata stream with the additions, a cross-reference table with the stream's offset, and a
//! trailer that refers to the previous table.

use super::canvas::XML_NAME;

const END_OF_RDF: &str = "</rdf:RDF>";

/// Returns the PDF with the additional metadata, or unchanged if its metadata is not located where the library writes
/// it.
pub fn with_invoice_schema(pdf: Vec<u8>) -> Vec<u8> {
    match update(&pdf) {
        Some(added) => [pdf, added].concat(),
        None => pdf,
    }
}

fn update(pdf: &[u8]) -> Option<Vec<u8>> {
    let type_at = find(pdf, b"/Type /Metadata", 0).or_else(|| find(pdf, b"/Type/Metadata", 0))?;
    let object = rfind(pdf.get(..type_at)?, b" 0 obj")?;
    let digits = pdf.get(..object)?.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let number: u32 = std::str::from_utf8(pdf.get(object - digits..object)?).ok()?.parse().ok()?;
    let begin = find(pdf, b"stream", type_at)? + b"stream".len();
    let end = find(pdf, b"endstream", begin)?;
    let packet = std::str::from_utf8(pdf.get(begin..end)?).ok()?.trim();
    let (before, after) = packet.split_once(END_OF_RDF)?;
    let packet = format!("{before}{}{END_OF_RDF}{after}", descriptions());

    let trailer = rfind(pdf, b"trailer")?;
    let start = rfind(pdf, b"startxref")?;
    let entries = std::str::from_utf8(pdf.get(trailer + b"trailer".len()..start)?).ok()?.trim();
    let entries = entries.strip_suffix(">>")?;
    let previous: usize =
        std::str::from_utf8(pdf.get(start + b"startxref".len()..)?).ok()?.split_whitespace().next()?.parse().ok()?;

    let mut added = Vec::new();
    if !pdf.ends_with(b"\n") {
        added.push(b'\n');
    }
    let place = pdf.len() + added.len();
    let head = format!("{number} 0 obj\n<<\n/Type /Metadata\n/Subtype /XML\n/Length {}\n>>\nstream\n", packet.len());
    added.extend(head.as_bytes());
    added.extend(packet.as_bytes());
    added.extend(b"\nendstream\nendobj\n\n");
    let table = pdf.len() + added.len();
    let tail = format!(
        "xref\n{number} 1\n{place:010} 00000 n\r\ntrailer\n{entries}\n/Prev {previous}\n>>\nstartxref\n{table}\n%%EOF\n"
    );
    added.extend(tail.as_bytes());
    Some(added)
}

fn find(bytes: &[u8], needle: &[u8], from: usize) -> Option<usize> {
    let position = bytes.get(from..)?.windows(needle.len()).position(|window| window == needle);
    position.map(|at| at + from)
}

fn rfind(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).rposition(|window| window == needle)
}

/// Returns the description of the XML and the schema of the description, which PDF/A requires for any schema that it
/// does not define.
fn descriptions() -> String {
    let namespace = "urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#";
    let property = |name: &str, about: &str| {
        format!(
            "<rdf:li rdf:parseType=\"Resource\"><pdfaProperty:name>{name}</pdfaProperty:name>\
             <pdfaProperty:valueType>Text</pdfaProperty:valueType>\
             <pdfaProperty:category>external</pdfaProperty:category>\
             <pdfaProperty:description>{about}</pdfaProperty:description></rdf:li>"
        )
    };
    let properties = [
        ("DocumentFileName", "The name of the embedded XML document"),
        ("DocumentType", "The type of the hybrid document in capital letters"),
        ("Version", "The version of the standard applying to the embedded XML document"),
        ("ConformanceLevel", "The conformance level of the embedded XML document"),
    ];
    let properties: String = properties.into_iter().map(|(name, about)| property(name, about)).collect();
    format!(
        "<rdf:Description rdf:about=\"\" xmlns:fx=\"{namespace}\">\
         <fx:DocumentType>INVOICE</fx:DocumentType><fx:DocumentFileName>{XML_NAME}</fx:DocumentFileName>\
         <fx:Version>1.0</fx:Version><fx:ConformanceLevel>EN 16931</fx:ConformanceLevel></rdf:Description>\
         <rdf:Description rdf:about=\"\" xmlns:pdfaExtension=\"http://www.aiim.org/pdfa/ns/extension/\" \
         xmlns:pdfaSchema=\"http://www.aiim.org/pdfa/ns/schema#\" \
         xmlns:pdfaProperty=\"http://www.aiim.org/pdfa/ns/property#\"><pdfaExtension:schemas><rdf:Bag>\
         <rdf:li rdf:parseType=\"Resource\"><pdfaSchema:schema>Factur-X PDFA Extension Schema</pdfaSchema:schema>\
         <pdfaSchema:namespaceURI>{namespace}</pdfaSchema:namespaceURI><pdfaSchema:prefix>fx</pdfaSchema:prefix>\
         <pdfaSchema:property><rdf:Seq>{properties}</rdf:Seq></pdfaSchema:property></rdf:li></rdf:Bag>\
         </pdfaExtension:schemas></rdf:Description>"
    )
}
