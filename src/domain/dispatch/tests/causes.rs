//! Tests of the causes for which jobs wait, of the sentence made from them, and of the acts that they call for.

use std::collections::{BTreeSet, HashMap};

use proptest::prelude::*;
use proptest::sample::select;

use super::fleets::{any_job, build, machine, queue};
use super::*;
use crate::amount::Amount;
use crate::material::{Material, MaterialCommand, MaterialFields};
use crate::printer::{CurrentAttempt, Slot, SlotSource};
use crate::testing::Bench;
use crate::testing::samples::pla;

pub(super) fn material(number: u32, name: &str) -> Material {
    let fields = Box::new(MaterialFields { name: name.to_owned(), ..pla() });
    let mut material = None;
    let create = MaterialCommand::Create { fields, quantity: Amount::units(100) };
    Bench::new().tell(&mut material, id(number), &create).unwrap();
    material.unwrap()
}

/// Loads the first slots of a printer with the given materials, which the printer does not report itself.
pub(super) fn loaded(number: u32, materials: &[u32]) -> Printer {
    let slot = |(n, material): (usize, &u32)| Slot {
        slot: n as u32,
        material_id: Some(id(*material)),
        color: None,
        remaining: None,
        source: SlotSource::Manual,
        vendor_code: None,
        kind: None,
        weighed: false,
        spool: None,
        updated_at: NOW,
    };
    printer(number).with_slots(materials.iter().enumerate().map(slot).collect())
}

/// Returns an order with one job, its material, and printers: three lack the material, and the fourth is too small.
fn nobody_fits() -> (Order, Material, [Printer; 4]) {
    let mut one = order(1, &[5]);
    edit(&mut one, 0, |job| job.file_form = GcodeForm::Text);
    let mut small = loaded(4, &[2]);
    small.fields.build_volume = Some(Dimensions { x: 50.0, y: 50.0, z: 50.0 });
    (one, material(2, "PLA galaxy black"), [loaded(1, &[3]), loaded(2, &[3]), loaded(3, &[3]), small])
}

/// Returns a printer that prints the given job.
pub(super) fn printing(number: u32, job: u32) -> Printer {
    let in_hand: CurrentAttempt = serde_json::from_value(serde_json::json!({
        "attempt": id(90), "job": id(job), "order": id(9), "fileId": id(3), "fileName": "a.gcode", "remoteName": null,
        "phase": {"phase": "taken"}, "step": 1, "heard": 1, "cancel": false, "takenAt": NOW,
    }))
    .unwrap();
    Printer { in_hand: Some(in_hand), ..printer(number) }
}

pub(super) fn explain(
    job: &Job,
    printers: &[&Printer],
    materials: &[&Material],
    job_ends: Option<&HashMap<Id, Timestamp>>,
) -> Waiting {
    let types = KnownTypes::default();
    waiting(job, &WaitContext { materials, job_ends, ..around(printers, &types) }).unwrap()
}

#[test]
fn the_printer_that_is_free_first_is_named_with_its_time() {
    let one = order(1, &[5]);
    let job = one.jobs.values().next().unwrap();
    let printers = [printing(1, 71), printing(2, 72), printing(3, 73)];
    let mut job_ends = HashMap::new();
    for (job, minutes) in [(71, 50), (72, 20), (73, 90)] {
        job_ends.insert(id(job), NOW.plus_ms(minutes * 60_000));
    }
    let white = material(2, "PLA white");
    let waits = explain(job, &printers.each_ref(), &[&white], Some(&job_ends));
    let at = NOW.plus_ms(20 * 60_000);
    let expected =
        format!("Waiting for a printer with PLA white. printer 2 is free from {at}; 2 printers are starting.");
    assert_eq!(waits.sentence(), expected);
    let first = &waits.causes[0];
    assert_eq!((first.code, first.ends_at), (WaitingCode::PrinterBusy, Some(at)));
    assert_eq!(waits.causes[1].message(), "Printer 1 and printer 3 are starting.");
}

#[test]
fn what_is_missing_is_named_with_the_number_of_printers() {
    let (one, black, printers) = nobody_fits();
    let job = one.jobs.values().next().unwrap();
    let waits = explain(job, &printers.each_ref(), &[&black], None);
    assert_eq!(
        waits.sentence(),
        "Waiting for a printer. 3 printers need PLA galaxy black loaded; printer 4 is too small for the print."
    );
    let first = &waits.causes[0];
    assert_eq!((first.code, first.printer_count), (WaitingCode::MaterialNotLoaded, 3));
    assert_eq!(first.materials, [id(2)]);
    assert_eq!(first.message(), "Printer 1, printer 2 and printer 3 need PLA galaxy black loaded.");
    assert_eq!(waits.causes[1].message(), "Printer 4 is too small for the print.");
}

#[test]
fn causes_are_in_the_language_of_the_page() {
    let (one, black, printers) = nobody_fits();
    let job = one.jobs.values().next().unwrap();
    let (printers, types) = (printers.each_ref(), KnownTypes::default());
    let german = WaitContext { materials: &[&black], language: words::Language::German, ..around(&printers, &types) };
    let waits = waiting(job, &german).unwrap();
    let small = "printer 4 ist zu klein für den Druck.";
    assert_eq!(
        waits.sentence(),
        format!("Wartet auf einen Drucker. 3 Drucker brauchen PLA galaxy black (nicht eingelegt); {small}")
    );
    let listed = "Printer 1, printer 2 und printer 3 brauchen PLA galaxy black (nicht eingelegt).";
    assert_eq!(waits.causes[0].message(), listed);
    let missing: Vec<Vec<String>> = match_printers(job, &german).iter().map(|one| one.missing_words(&german)).collect();
    assert!(missing.contains(&vec!["PLA galaxy black ist nicht eingelegt".to_owned()]), "{missing:?}");
    let blank = waiting(job, &WaitContext { printers: &[], ..german }).unwrap();
    assert_eq!(blank.sentence(), "Kein Großformat-Filamentdrucker ist vorhanden.");
}

#[test]
fn slots_are_counted_as_on_the_machine() {
    let mut one = order(1, &[5]);
    edit(&mut one, 0, |job| {
        job.sliced_for.filaments = vec![crate::launch::UsedFilament { filament: 0, material_id: id(2), grams: None }];
    });
    let black = material(2, "PLA black");
    let job = one.jobs.values().next().unwrap();
    let waits = explain(job, &[&loaded(1, &[3, 2])], &[&black], None);
    assert_eq!(waits.sentence(), "Waiting for a printer. printer 1 needs PLA black in slot 1.");
}

#[test]
fn many_printers_are_counted_and_only_some_are_named() {
    let one = order(1, &[5]);
    let printers: Vec<Printer> = (1..=17).map(|n| loaded(n, &[3])).collect();
    let all: Vec<&Printer> = printers.iter().collect();
    let waits = explain(one.jobs.values().next().unwrap(), &all, &[&material(2, "PLA")], None);
    assert_eq!(waits.sentence(), "Waiting for a printer. 17 printers need PLA loaded.");
    let cause = &waits.causes[0];
    assert_eq!((cause.printers.len(), cause.printer_count), (10, 17));
    assert!(cause.message().ends_with("printer 10 and 7 more need PLA loaded."), "{}", cause.message());
}

#[test]
fn jobs_are_gathered_by_what_a_person_can_do() {
    let types = KnownTypes::default();
    let acts = |orders: &[Order], printers: &[Printer]| {
        let printers: Vec<&Printer> = printers.iter().collect();
        waiting_acts(orders, &printers, &types, NOW)
    };
    let mut orders = vec![order(1, &[5, 5, 5]), order(2, &[5])];
    edit(&mut orders[0], 0, |job| job.material_id = id(4));
    let load = |material: u32, printer: u32, jobs| GatheredAct {
        act: WaitingAct::Load { materials: vec![id(material)], printer: id(printer) },
        jobs,
    };
    assert_eq!(acts(&orders, &[loaded(8, &[3])]), [load(2, 8, 3), load(4, 8, 1)]);
    let mut dirty = loaded(7, &[2]);
    dirty.bed_not_cleared = true;
    let clear = |printer: u32| GatheredAct { act: WaitingAct::ClearBed { printer: id(printer) }, jobs: 3 };
    assert_eq!(acts(&orders, &[dirty.clone(), loaded(8, &[3])]), [clear(7), load(4, 8, 1)]);
    let second = Printer { bed_not_cleared: true, ..loaded(9, &[2]) };
    let beds = acts(&orders, &[dirty.clone(), second]);
    assert_eq!([7, 9, 8].map(|n| jobs_waiting_for_bed(&beds, id(n))), [3, 3, 0], "the same jobs wait for both");
    assert_eq!(acts(&orders, &[dirty, loaded(8, &[3]), loaded(9, &[2])]), [load(4, 8, 1)], "another one is ready");
    orders.iter_mut().for_each(|order| order.status = OrderStatus::Cancelled);
    assert_eq!(acts(&orders, &[loaded(8, &[3])]), []);
}

#[test]
fn each_spool_is_loaded_once_and_frees_the_jobs_that_need_no_other() {
    let load = |materials: &[u32], printer: u32, jobs| GatheredAct {
        act: WaitingAct::Load { materials: materials.iter().copied().map(id).collect(), printer: id(printer) },
        jobs,
    };
    let clear = GatheredAct { act: WaitingAct::ClearBed { printer: id(9) }, jobs: 6 };
    let acts = [clear, load(&[2, 4], 8, 5), load(&[2], 8, 3), load(&[3], 9, 1)];
    let tasks = spool_tasks(&acts);
    let counts = |tasks: &[SpoolTask]| -> Vec<(Id, Vec<Id>, usize, usize)> {
        tasks.iter().map(|task| (task.material, task.printers.clone(), task.jobs, task.further_jobs)).collect()
    };
    let expected = [(id(2), vec![id(8)], 3, 5), (id(3), vec![id(9)], 1, 0), (id(4), vec![id(8)], 0, 5)];
    assert_eq!(counts(&tasks), expected);
    let lacking = |materials: &[u32], printer: u32| -> Vec<usize> {
        let spools: Vec<SpoolToLoad> =
            materials.iter().map(|one| SpoolToLoad { printer: id(printer), material: id(*one) }).collect();
        (0..tasks.len()).filter(|at| tasks[*at].is_lacked_with(&spools)).collect()
    };
    assert_eq!((lacking(&[2], 8), lacking(&[4, 2, 4], 8), lacking(&[4], 8)), (vec![0], vec![0, 2], vec![]));
    assert_eq!((lacking(&[2], 9), lacking(&[3], 9)), (vec![], vec![1]), "at another printer");
    assert_eq!((jobs_waiting_for_bed(&acts, id(9)), jobs_waiting_for_bed(&acts, id(8))), (6, 0));
    assert_eq!(spool_tasks(&[]), []);
    // Each material is one task, no matter which printers need it.
    let several = spool_tasks(&[load(&[2], 8, 7), load(&[3], 8, 5), load(&[2], 9, 4), load(&[2, 3], 9, 1)]);
    assert_eq!(counts(&several), [(id(2), vec![id(8), id(9)], 11, 1), (id(3), vec![id(8), id(9)], 5, 1)]);
}

#[test]
fn a_spool_is_loaded_into_each_printer_that_jobs_need() {
    let types = KnownTypes::default();
    let cube = |side: f64| Some(Dimensions { x: side, y: side, z: side });
    let mut orders = [order(1, &[5, 5, 5])];
    edit(&mut orders[0], 0, |job| job.dimensions = cube(180.0));
    let mut small = loaded(7, &[3]);
    small.fields.build_volume = cube(150.0);
    let printers = [small, loaded(8, &[3])];
    let all: Vec<&Printer> = printers.iter().collect();
    let load = |printer: u32, jobs| GatheredAct {
        act: WaitingAct::Load { materials: vec![id(2)], printer: id(printer) },
        jobs,
    };
    let acts = waiting_acts(&orders, &all, &types, NOW);
    assert_eq!(acts, [load(7, 2), load(8, 1)]);
    let tasks = spool_tasks(&acts);
    assert_eq!(tasks.len(), 1, "one material: {tasks:?}");
    for task in tasks {
        let context = around(&all, &types);
        let lacks = |job: &Job| task.is_lacked_with(&spools_to_load(job, &context));
        let named = orders[0].jobs.values().filter(|job| lacks(job)).count();
        assert_eq!(named, task.jobs, "{task:?}");
    }
}

/// Returns the product and the number of jobs of each group of stuck jobs.
fn stuck(orders: &[Order], printers: &[Printer]) -> Vec<(String, usize)> {
    let printers: Vec<&Printer> = printers.iter().collect();
    let groups = stuck_jobs(orders, &printers, &KnownTypes::default(), NOW);
    groups.iter().map(|jobs| (jobs[0].sku_name.clone(), jobs.len())).collect()
}

#[test]
fn a_job_that_waits_for_its_turn_or_for_another_task_is_no_task() {
    let orders = [order(1, &[5, 5])];
    let busy = printing(7, 71);
    assert_eq!(stuck(&orders, &[loaded(8, &[2])]), [], "it begins at once");
    assert_eq!(stuck(&orders, std::slice::from_ref(&busy)), [], "it waits for its turn");
    assert_eq!(stuck(&orders, &[loaded(8, &[3])]), [], "a spool is to be loaded");
    let change = |change: fn(&mut Printer)| {
        let mut printer = loaded(8, &[2]);
        change(&mut printer);
        printer
    };
    let tasks = [
        change(|printer| printer.bed_not_cleared = true),
        change(|printer| printer.activity = Activity::Paused),
        change(|printer| printer.needs_home = true),
        change(|printer| printer.connection = Connection::Unreachable),
        change(|printer| printer.connection = Connection::WrongKey),
    ];
    for printer in tasks {
        assert_eq!(stuck(&orders, std::slice::from_ref(&printer)), [], "the printer is a task: {:?}", printer.free());
    }
    let mut cancelled = orders;
    cancelled[0].status = OrderStatus::Cancelled;
    assert_eq!(stuck(&cancelled, &[]), [], "it is over");
}

#[test]
fn a_job_that_no_printer_takes_by_itself_is_a_task() {
    let orders = [order(1, &[5, 5])];
    let of_both = [("part".to_owned(), 2)];
    assert_eq!(stuck(&orders, &[]), of_both, "there is no printer");
    let mut small = loaded(7, &[2]);
    small.fields.build_volume = Some(Dimensions { x: 50.0, y: 50.0, z: 50.0 });
    assert_eq!(stuck(&orders, std::slice::from_ref(&small)), of_both, "they fit no printer");
    let service = Printer { maintenance: Some("new nozzle".to_owned()), ..loaded(8, &[2]) };
    let unplugged = Printer { disconnected: true, ..loaded(9, &[2]) };
    assert_eq!(stuck(&orders, &[small.clone(), service.clone(), unplugged]), of_both, "those that suit are out of use");
    assert_eq!(stuck(&orders, &[small, service, printing(6, 71)]), [], "one that suits goes on");
}

#[test]
fn stuck_jobs_that_make_the_same_share_a_task_and_the_most_urgent_is_first() {
    let mut orders = [order(1, &[1, 9, 5, 9])];
    for (n, name) in [(0, "Vase"), (1, "Hook"), (2, "Vase"), (3, "Vase")] {
        edit(&mut orders[0], n, |job| name.clone_into(&mut job.sku_name));
    }
    edit(&mut orders[0], 3, |job| job.dimensions = None);
    let groups = stuck_jobs(&orders, &[], &KnownTypes::default(), NOW);
    let rows: Vec<(&str, Vec<u8>)> =
        groups.iter().map(|jobs| (&*jobs[0].sku_name, jobs.iter().map(|job| job.priority).collect())).collect();
    assert_eq!(rows, [("Hook", vec![9]), ("Vase", vec![9]), ("Vase", vec![5, 1])], "other needs, another task");
}

/// Returns whether a word is written as in a program.
fn is_snake_case(word: &str) -> bool {
    word.trim_matches('_').contains('_')
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, max_shrink_iters: 2000, ..ProptestConfig::default() })]
    #[test]
    fn every_waiting_job_has_a_sentence_that_agrees_with_its_causes(
        fleet in prop::collection::vec(machine(), 0..14),
        jobs in prop::collection::vec(any_job(), 1..5),
        name in select(vec!["Ada", "Curie  XL\nby the window", "Druckmaschine mit einem sehr langen Namen neben der Tür"]),
        named in any::<bool>(),
    ) {
        thread_local! {
            static SAMPLES: (Printer, Order, Vec<Material>) = (
                printer(499),
                order(1, &[5]),
                (0..4).map(|n| material(n, &format!("PLA of a name that hardly fits on a label, number {n}"))).collect(),
            );
        }
        let (prototype, blank, materials) = SAMPLES.with(Clone::clone);
        let mut printers: Vec<Printer> = fleet.iter().enumerate().map(|(n, one)| build(n, &prototype, one)).collect();
        for (n, one) in printers.iter_mut().enumerate() {
            one.fields.name = format!("{name} {n}");
        }
        let orders = queue(&blank, &jobs);
        let all: Vec<&Printer> = printers.iter().collect();
        let materials: Vec<&Material> = materials.iter().filter(|_| named).collect();
        let types = KnownTypes::new([
            ("other", TypeFacts { forms: vec![GcodeForm::Text, GcodeForm::Binary], ..TypeFacts::default() }),
            ("mapping", TypeFacts { forms: vec![GcodeForm::Text, GcodeForm::Binary], maps_slots: true, ..TypeFacts::default() }),
            ("packages", TypeFacts { forms: vec![GcodeForm::Package], ..TypeFacts::default() }),
        ]);
        let context = WaitContext { materials: &materials, ..around(&all, &types) };
        for job in orders.iter().flat_map(|order| order.jobs.values()) {
            let explained = waiting(job, &context).unwrap();
            let text = explained.sentence();
            prop_assert!((1..=MAX_SENTENCE_CHARS).contains(&text.chars().count()), "{}", text);
            prop_assert!(text.starts_with(char::is_uppercase) && text.ends_with(['.', '…']), "{}", text);
            prop_assert!(!text.split(' ').any(is_snake_case) && !text.contains('\n'), "{}", text);
            prop_assert!(!explained.causes.is_empty() && explained.causes.len() <= 8);
            let of_type = printers.iter().filter(|one| one.fields.machine_type == job.machine_type).count();
            let counted: usize = explained.causes.iter().map(|cause| cause.printer_count).sum();
            prop_assert!(counted <= of_type, "no printer counts twice");
            for cause in &explained.causes {
                let distinct: BTreeSet<Id> = cause.printers.iter().map(|(id, _)| *id).collect();
                prop_assert_eq!(distinct.len(), cause.printer_count.min(10));
                prop_assert!(!cause.message().is_empty());
            }
            let first = &explained.causes[0];
            if first.printer_count > 1 && text.contains(" printers ") && !text.ends_with('…') {
                let count = format!("{} printers ", first.printer_count);
                prop_assert!(text.contains(&count), "{} in {}", count, text);
            }
            let ready = match_printers(job, &context).iter().any(|one| {
                one.is_possible() && one.printer.fields.machine_type == job.machine_type
            });
            prop_assert_eq!(ready, first.code == WaitingCode::Turn, "{}", text);
        }
    }
}
