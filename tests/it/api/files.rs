//! Uploads: streamed, described by their content, and returned unchanged.

use std::collections::HashSet;
use std::io::{Cursor, Write as _};
use std::path::PathBuf;

use reqwest::multipart::{Form, Part};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::{count, id, paths};
use crate::machines::sick::binary_gcode;
use crate::support::client::Answer;
use crate::support::{App, Client, Db, on_both, on_sqlite};

async fn upload(app: &Client, form: Form) -> Answer {
    app.send(app.request("POST", "/api/files").multipart(form)).await
}

fn file(name: &str, bytes: &[u8]) -> Form {
    Form::new().part("file", Part::bytes(bytes.to_vec()).file_name(name.to_owned()))
}

/// Counts the files stored on disk, including picture files.
fn contents(app: &App) -> usize {
    let folders = std::fs::read_dir(app.data().join("files")).unwrap().map(|entry| entry.unwrap().path());
    let inside = |folder: PathBuf| std::fs::read_dir(folder).unwrap().count();
    folders.filter(|path| path.is_dir() && !path.ends_with("incoming")).map(inside).sum()
}

on_both! {
    async fn the_content_of_a_deleted_file_leaves_the_disk_when_no_other_names_it(db: Db) {
        let app = App::new(db).await;
        let code = simulator::gcode::gcode("vase", 240, 14.5, 4600.0);
        let first = upload(&app, file("first.gcode", code.as_bytes())).await.expect(201);
        let second = upload(&app, file("second.gcode", code.as_bytes())).await.expect(201);
        assert_eq!(contents(&app), 2, "the file and its picture, once each");
        app.delete(&format!("/api/files/{}", id(&first))).await.expect(204);
        assert_eq!(contents(&app), 2, "the other file names them");
        app.delete(&format!("/api/files/{}", id(&second))).await.expect(204);
        assert_eq!(contents(&app), 0);
        let again = upload(&app, file("again.gcode", code.as_bytes())).await.expect(201);
        assert_eq!(app.get(&format!("/api/files/{}/content", id(&again))).await.text, code);
    }
}

on_sqlite! {
    async fn a_file_is_described_and_handed_out_as_it_came(db: Db) {
        let mut app = App::new(db).await;
        let code = simulator::gcode::gcode("vase", 240, 14.5, 4600.0);
        let answer = upload(&app, file("../../Vase \"1\".gcode", code.as_bytes())).await;
        let location = answer.header("location").unwrap().to_owned();
        let record = answer.expect(201);
        assert_eq!(location, format!("/api/files/{}", id(&record)));
        assert_eq!((&record["name"], &record["kind"], &record["size"]), (&json!("Vase \"1\".gcode"), &json!("gcode"), &json!(code.len())));
        assert_eq!(record["sha256"], hex::encode(Sha256::digest(code.as_bytes())));
        assert_eq!(record["metadata"]["seconds"], 240, "{record}");
        assert!((record["metadata"]["grams"].as_f64().unwrap() - 14.5).abs() < 0.01, "{record}");
        app.kill_9();
        app.start().await;
        assert_eq!(app.get(&location).await.expect(200), record);
        let content = app.get(&format!("{location}/content")).await;
        assert_eq!(content.text, code);
        assert_eq!(content.header("content-type"), Some("application/octet-stream"));
        assert_eq!(content.header("x-content-type-options"), Some("nosniff"));
        let disposition = content.header("content-disposition").unwrap();
        assert!(disposition.starts_with("attachment; filename=\"Vase_") && !disposition.contains(".."), "{disposition}");
        assert_eq!(count(&app, "/api/files?kind=gcode").await, 1);
        assert_eq!(count(&app, "/api/files?kind=model").await, 0);
        // The same bytes again are another file; deleting one leaves the other's content.
        let again = upload(&app, file("again.gcode", code.as_bytes())).await.expect(201);
        assert_ne!(again["id"], record["id"]);
        app.delete(&location).await.expect(204);
        assert_eq!(app.get(&format!("/api/files/{}/content", id(&again))).await.text, code);
    }
}

#[tokio::test]
async fn the_content_says_what_a_file_is() {
    let app = App::new(Db::sqlite()).await;
    let png = b"\x89PNG\r\n\x1a\n0000";
    let stl = b"solid cube\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid cube\n";
    assert_eq!(upload(&app, file("a.gcode", png)).await.expect(201)["kind"], "image");
    assert_eq!(upload(&app, file("a", stl)).await.expect(201)["kind"], "model");
    let lying = upload(&app, file("a.png", png).text("kind", "gcode")).await.expect(400);
    assert_eq!(paths(&lying), ["kind"]);
    assert_eq!(paths(&upload(&app, file("a", b"hello").text("kind", "poem")).await.expect(400)), ["kind"]);
    assert_eq!(paths(&upload(&app, file("a", b"\x00\x01\x02\x03")).await.expect(400)), ["file"]);
    assert_eq!(paths(&upload(&app, file("a.gcode", b"")).await.expect(400)), ["file"]);
    assert_eq!(paths(&upload(&app, Form::new().text("kind", "gcode")).await.expect(400)), ["file"]);
    assert_eq!(paths(&upload(&app, file("a", stl).text("colour", "red")).await.expect(400)), ["colour"]);
    assert_eq!(count(&app, "/api/files").await, 2);
    let broken = app
        .request("POST", "/api/files")
        .header("Content-Type", "multipart/form-data; boundary=x")
        .body("--x\r\nnonsense");
    assert_eq!(app.send(broken).await.error(400), "malformed_multipart");
}

#[tokio::test]
async fn time_and_filament_are_read_of_slicers_with_words_of_their_own() {
    let app = App::new(Db::sqlite()).await;
    let comma = "; generated by PrusaSlicer 2.7\nG28\nG1 X10 E1\n; filament used [mm] = 1234,5\n; filament used [g] = 3,68\n\
        ; estimated printing time (normal mode) = 1h 2m\n";
    let simplify = "; G-Code generated by Simplify3D(R) Version 4.1.2\nG28\nG1 X10 E1\n;   Build time: 1 hour 2 minutes\n\
        ;   Filament length: 1234.5 mm (1.23 m)\n;   Plastic weight: 3.68 g (0.01 lb)\n";
    for (slicer, content) in [("PrusaSlicer 2.7", comma), ("Simplify3D 4.1.2", simplify)] {
        let metadata = app.upload("part.gcode", content.as_bytes().to_vec()).await.expect(201)["metadata"].clone();
        let read = ["slicer", "seconds", "grams", "filamentMm"].map(|member| metadata[member].clone());
        assert_eq!(read, [json!(slicer), json!(3720), json!(3.68), json!(1234.5)]);
    }
}

#[tokio::test]
async fn the_head_of_a_part_is_bounded() {
    let app = App::new(Db::sqlite()).await;
    let name = "x".repeat(20_000_000);
    let body =
        format!("--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\nG28\n\r\n--b--\r\n");
    forget_peak(&app);
    let before = memory(&app, "VmHWM:");
    let request =
        app.request("POST", "/api/files").header("content-type", "multipart/form-data; boundary=b").body(body);
    // It hangs up while the client still sends, which the client may hear as a broken connection.
    if let Some(answer) = app.try_send(request).await {
        assert_eq!(answer.status, 400, "{}", answer.text);
    }
    assert!(memory(&app, "VmHWM:") < before + 8 * 1024, "kept in memory");
    app.gcode("after", 60, 1.0).await;
}

#[tokio::test]
async fn an_upload_over_the_limit_is_refused_and_leaves_nothing() {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_SERVER__UPLOAD_MAX_BYTES", 100_000).start().await;
    let big = format!("G28\n{}", "; filling\n".repeat(20_000));
    assert_eq!(upload(&app, file("big.gcode", big.as_bytes())).await.error(413), "too_large");
    assert_eq!(count(&app, "/api/files").await, 0);
    assert_eq!(bytes_in(&app.data().join("files")), 0, "what came of it is gone");
    upload(&app, file("small.gcode", &big.as_bytes()[..90_000]).text("kind", "gcode")).await.expect(201);
}

pub fn bytes_in(folder: &std::path::Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries
        .map(|entry| {
            let entry = entry.unwrap();
            let about = entry.metadata().unwrap();
            if about.is_dir() { bytes_in(&entry.path()) } else { about.len() }
        })
        .sum()
}

/// Returns the value of a line of `/proc/PID/status`, in kB.
pub fn memory(app: &App, line: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", app.pid())).unwrap();
    let amount = status.lines().find_map(|one| one.strip_prefix(line)).unwrap();
    amount.trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap()
}

/// Resets the server's peak memory usage (`VmHWM`), so that earlier usage is not measured.
pub fn forget_peak(app: &App) {
    std::fs::write(format!("/proc/{}/clear_refs", app.pid()), "5").unwrap();
}

#[tokio::test]
async fn a_big_upload_and_download_are_never_held_in_memory() {
    let app = App::new(Db::sqlite()).await;
    app.gcode("warm", 60, 1.0).await;
    let mut big = simulator::gcode::gcode("big", 60, 1.0, 330.0).into_bytes();
    while big.len() < 64 * 1024 * 1024 {
        big.extend_from_slice("G1 X10.000 Y10.000 E0.01000\n".repeat(40_000).as_bytes());
    }
    let (size, digest) = (big.len(), hex::encode(Sha256::digest(&big)));
    forget_peak(&app);
    let before = memory(&app, "VmRSS:");
    let record = upload(&app, file("big.gcode", &big)).await.expect(201);
    drop(big);
    assert_eq!((&record["size"], &record["sha256"]), (&json!(size), &json!(digest)));
    let answer = app.open(app.request("GET", &format!("/api/files/{}/content", id(&record)))).await;
    assert_eq!(answer.bytes().await.unwrap().len(), size);
    let most = memory(&app, "VmHWM:");
    assert!(most < before + 24 * 1024, "{before} kB before, {most} kB at most");
}

#[tokio::test]
async fn a_binary_file_is_known_by_its_content_and_refused_when_it_is_cut_off() {
    let app = App::new(Db::sqlite()).await;
    // Without checksums; decisions of the format are in the reader's own tests.
    let whole = binary_gcode();
    let record = app.upload("vase.gcode", whole.clone()).await.expect(201);
    assert_eq!((&record["kind"], &record["metadata"]["form"]), (&json!("gcode"), &json!("bgcode")), "{record}");
    assert_eq!(
        (&record["metadata"]["slicer"], &record["metadata"]["grams"]),
        (&json!("PrusaSlicer 2.8.1"), &json!(2.5))
    );
    let cut = app.upload("vase.bgcode", whole[..whole.len() - 2].to_vec()).await.expect(400);
    assert!(cut["message"].as_str().unwrap().contains("incomplete"), "{cut}");
}

/// Builds a package as OrcaSlicer exports a project of two plates, the second with two filaments.
pub fn package() -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let mut put = |name: &str, bytes: &[u8]| {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    };
    let picture = |n: u8| [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10\0\0\0\x10".as_slice(), &[n]].concat();
    put("3D/3dmodel.model", b"<model/>");
    put("Metadata/plate_1.gcode", simulator::gcode::orca_gcode("lid", 600, 4.0, 1320.0).as_bytes());
    put("Metadata/plate_2.gcode", simulator::gcode::orca_gcode("sign", 1200, 12.5, 4125.0).as_bytes());
    put("Metadata/plate_1.png", &picture(1));
    put("Metadata/plate_2.png", &picture(2));
    put("Metadata/plate_2.json", br#"{"bbox_all":[10,10,52.5,30],"bed_type":"textured_plate","nozzle_diameter":0.4}"#);
    let info = r##"<config><plate><metadata key="index" value="2"/><metadata key="prediction" value="1200"/>
        <filament id="1" type="PETG" color="#FFFFFF" used_m="3.30" used_g="10.00"/>
        <filament id="3" type="PETG" color="#101010" used_m="0.825" used_g="2.50"/></plate></config>"##;
    put("Metadata/slice_info.config", info.as_bytes());
    let names = r#"<config><plate><metadata key="plater_id" value="2"/><metadata key="plater_name" value="Signs"/></plate></config>"#;
    put("Metadata/model_settings.config", names.as_bytes());
    zip.finish().unwrap().into_inner()
}

on_sqlite! {
    async fn a_file_shows_its_plates_with_their_filaments_and_pictures(db: Db) {
        let mut app = App::new(db).await;
        let record = app.upload("project.gcode.3mf", package()).await.expect(201);
        assert_eq!(record["metadata"]["form"], "gcode.3mf", "{record}");
        let plates = record["plates"].as_array().unwrap();
        assert_eq!((plates.len(), &plates[0]["plate"], &plates[0]["seconds"]), (2, &json!(1), &json!(600)), "{record}");
        let second = &plates[1];
        assert_eq!(
            (&second["name"], &second["bedType"], &second["nozzleDiameter"]),
            (&json!("Signs"), &json!("Textured PEI Plate"), &json!(0.4))
        );
        assert_eq!(second["dimensions"], json!({"x": 42.5, "y": 20.0, "z": 2.0}), "{second}");
        let black = json!({"index": 2, "type": "PETG", "color": "#101010", "grams": 2.5, "mm": 825.0});
        assert_eq!(second["filaments"][1], black, "{second}");
        assert_eq!(contents(&app), 4, "the package, the picture of each plate, and the one in the G-code of the first");
        app.kill_9();
        app.start().await;
        let location = format!("/api/files/{}", id(&record));
        assert_eq!(app.get(&location).await.expect(200), record);
        app.delete(&location).await.expect(204);
        assert_eq!(contents(&app), 0);
        // Plain G-code has one plate, with the picture of the file.
        let plain =
            app.upload("vase.gcode", simulator::gcode::gcode("vase", 240, 14.5, 4600.0).into_bytes()).await.expect(201);
        assert_eq!(plain["plates"].as_array().unwrap().len(), 1, "{plain}");
        let plate = &plain["plates"][0];
        assert_eq!(
            (&plate["seconds"], &plate["filaments"][0]["grams"], &plate["printerModel"]),
            (&json!(240), &json!(14.5), &json!("MK4"))
        );
        assert_eq!(plate["thumbnail"], plain["metadata"]["thumbnail"]);
    }
}

#[tokio::test]
async fn a_name_keeps_its_ending_and_never_turns_its_direction() {
    let app = App::new(Db::sqlite()).await;
    let code = simulator::gcode::gcode("vase", 240, 14.5, 4600.0);
    let long = format!("{}.gcode", "x".repeat(240));
    let record = upload(&app, file(&long, code.as_bytes())).await.expect(201);
    let name = record["name"].as_str().unwrap();
    assert!(name.len() == 200 && name.strip_suffix(".gcode").is_some(), "{name}");
    let turned = upload(&app, file("vase\u{202E}edocg.exe", code.as_bytes())).await.expect(400);
    assert_eq!(paths(&turned), ["file"], "{turned}");
    assert_eq!(count(&app, "/api/files").await, 1);
}

#[tokio::test]
async fn the_picture_that_a_slicer_put_in_is_shown_and_one_of_too_many_pixels_is_refused() {
    let app = App::new(Db::sqlite()).await;
    let code = simulator::gcode::gcode("vase", 240, 14.5, 4600.0);
    let record = upload(&app, file("vase.gcode", code.as_bytes())).await.expect(201);
    let path = format!("/api/files/{}/picture", id(&record));
    for query in ["", "?plate=0", "?plate=1"] {
        let picture = app.get(&format!("{path}{query}")).await;
        assert_eq!((picture.status, picture.header("content-type")), (200, Some("image/png")), "{query}");
    }
    assert_eq!(app.get(&format!("{path}?plate=7")).await.error(404), "picture_not_found");
    assert_eq!(app.get(&format!("{path}?plate=x")).await.status, 400);
    assert!(matches!(app.nobody().get(&path).await.status, 401 | 403));
    let plain = upload(&app, file("plain.gcode", b"G28\nG1 X10 E1\n").text("kind", "gcode")).await.expect(201);
    assert_eq!(app.get(&format!("/api/files/{}/picture", id(&plain))).await.error(404), "picture_not_found");

    let mut huge = simulator::pictures::png();
    huge[16..24].copy_from_slice(&[0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff]);
    let refused = upload(&app, file("huge.png", &huge)).await.expect(400);
    assert!(refused["errors"][0]["message"].as_str().unwrap().contains("too many pixels"), "{refused}");
    upload(&app, file("small.png", &simulator::pictures::png())).await.expect(201);
}

/// Returns red G-code for a square of 30 mm, without a thumbnail.
pub fn bare_gcode() -> String {
    let layer = |layer: u32| {
        let height = f64::from(layer) / 5.0;
        format!("G0 X10 Y10 Z{height}\nG1 X40 E1\nG1 Y40 E1\nG1 X10 E1\nG1 Y10 E1\n")
    };
    let layers = (1..=20).map(layer).collect::<Vec<_>>().concat();
    let notes = "; filament used [mm] = 80.00\n; filament_type = PLA\n; filament_colour = #C02020\n";
    format!("; generated by PrusaSlicer 2.9.4\nG28\nM83\n{layers}{notes}")
}

/// Decodes a PNG of 256 × 256 pixels into red, green, blue and opacity of each pixel.
fn pixels(png: &[u8]) -> Vec<[u8; 4]> {
    let mut reader = png::Decoder::new(Cursor::new(png)).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    assert_eq!((info.width, info.height, info.color_type), (256, 256, png::ColorType::Rgba));
    bytes.as_chunks::<4>().0.to_vec()
}

#[tokio::test]
async fn a_file_without_a_thumbnail_has_a_picture_drawn_from_its_toolpath() {
    let app = App::new(Db::sqlite()).await;
    let record = upload(&app, file("box.gcode", bare_gcode().as_bytes())).await.expect(201);
    assert_eq!(record["metadata"]["thumbnail"], json!(null), "{record}");
    let path = format!("/api/files/{}/picture", id(&record));
    let picture = async |query: &str| {
        let answer = app.open(app.request("GET", &format!("{path}{query}"))).await;
        let media = answer.headers()["content-type"].to_str().unwrap();
        assert_eq!((answer.status().as_u16(), media), (200, "image/png"), "{query}");
        answer.bytes().await.unwrap()
    };
    let png = picture("").await;
    let all = pixels(&png);
    let opaque: HashSet<[u8; 4]> = all.iter().copied().filter(|[.., opacity]| *opacity == 255).collect();
    assert!(opaque.len() > 1 && opaque.iter().all(|[red, green, blue, _]| red > green && green == blue), "{opaque:?}");
    assert_eq!(all[0][3], 0, "the background is clear");
    let stored = app.data().join(format!("files/drawings-1/{}/1.png", record["sha256"].as_str().unwrap()));
    assert_eq!(std::fs::read(&stored).unwrap(), png);
    for query in ["", "?plate=0", "?plate=1"] {
        assert_eq!(picture(query).await, png, "{query}");
    }
    assert_eq!(app.get(&format!("{path}?plate=2")).await.error(404), "picture_not_found");
    app.delete(&format!("/api/files/{}", id(&record))).await.expect(204);
    assert_eq!(contents(&app), 0, "the drawing goes with the file");
    assert_eq!(app.get(&path).await.error(404), "picture_not_found");
}

#[tokio::test]
async fn a_thumbnail_is_not_drawn_over_and_what_has_no_toolpath_has_no_picture() {
    let app = App::new(Db::sqlite()).await;
    let code = simulator::gcode::gcode("vase", 240, 14.5, 4600.0);
    let record = upload(&app, file("vase.gcode", code.as_bytes())).await.expect(201);
    let picture = app.get(&format!("/api/files/{}/picture", id(&record))).await;
    let tag = format!("\"{}\"", record["metadata"]["thumbnail"].as_str().unwrap());
    assert_eq!((picture.status, picture.header("etag")), (200, Some(tag.as_str())));
    let drawings = app.data().join("files/drawings-1");
    assert!(!drawings.exists(), "nothing is drawn");
    let noise: Vec<u8> = (0..50_000_u32).map(|at| (at * at / 7) as u8).collect();
    let record = upload(&app, file("noise.gcode", &noise).text("kind", "gcode")).await.expect(201);
    for _ in 0..2 {
        assert_eq!(app.get(&format!("/api/files/{}/picture", id(&record))).await.error(404), "picture_not_found");
    }
    let stored = drawings.join(record["sha256"].as_str().unwrap()).join("1.png");
    assert_eq!(std::fs::read(stored).unwrap(), b"nothing to draw\n", "it is not tried again");
}

#[tokio::test]
async fn an_upload_that_the_disk_does_not_take_is_for_later() {
    let app = App::new(Db::sqlite()).await;
    let code = simulator::gcode::gcode("vase", 240, 14.5, 4600.0);
    let incoming = app.data().join("files/incoming");
    std::fs::remove_dir_all(&incoming).unwrap();
    std::fs::write(&incoming, b"no folder").unwrap();
    let failed = upload(&app, file("vase.gcode", code.as_bytes())).await;
    assert!(failed.header("retry-after").is_some(), "{}", failed.text);
    assert_eq!(failed.error(503), "storage_unavailable");
    std::fs::remove_file(&incoming).unwrap();
    std::fs::create_dir(&incoming).unwrap();
    upload(&app, file("vase.gcode", code.as_bytes())).await.expect(201);
}
