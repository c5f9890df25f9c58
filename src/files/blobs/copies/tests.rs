#![expect(clippy::unwrap_used, reason = "tests")]
use super::*;

fn open(dir: &tempfile::TempDir, max_bytes: u64) -> Arc<LocalCopies> {
    LocalCopies::open(dir.path(), CopyLimits { max_bytes, min_free_bytes: 0 }).unwrap()
}

/// Adds an unused copy of ten bytes.
fn add(copies: &Arc<LocalCopies>, dir: &Path, digit: char) -> String {
    drop(add_in_use(copies, dir, digit));
    hash(digit)
}

fn add_in_use(copies: &Arc<LocalCopies>, dir: &Path, digit: char) -> LocalContent {
    let (from, sha256) = (dir.join("incoming"), hash(digit));
    fs::write(&from, [0_u8; 10]).unwrap();
    copies.insert(&sha256, &from, dir.join(&sha256[..2]).join(&sha256), 10).unwrap()
}

fn hash(digit: char) -> String {
    digit.to_string().repeat(64)
}

#[test]
fn the_copy_that_was_used_least_recently_makes_room() {
    let dir = tempfile::tempdir().unwrap();
    let copies = open(&dir, 20);
    let (a, b) = (add(&copies, dir.path(), 'a'), add(&copies, dir.path(), 'b'));
    drop(copies.find(&a).unwrap());
    let c = add(&copies, dir.path(), 'c');
    assert!(copies.find(&b).is_none() && !dir.path().join("bb").join(&b).exists());
    assert!(copies.find(&a).is_some() && copies.find(&c).is_some());
    copies.delete(&a);
    assert!(copies.find(&a).is_none());
    fs::remove_file(dir.path().join("cc").join(&c)).unwrap();
    assert!(copies.find(&c).is_none(), "somebody has removed it");
    assert!(copies.spare_bytes() == 0 && !copies.lock().exceeds(0));
}

#[test]
fn a_copy_in_use_stays() {
    let dir = tempfile::tempdir().unwrap();
    let copies = open(&dir, 10);
    let first = add_in_use(&copies, dir.path(), 'a');
    let again = add_in_use(&copies, dir.path(), 'a');
    add(&copies, dir.path(), 'b');
    drop(again);
    assert!(first.path().exists() && copies.find(&hash('b')).is_none());
    copies.delete(&hash('a'));
    let other = add_in_use(&copies, dir.path(), 'a');
    drop(first);
    add(&copies, dir.path(), 'c');
    assert!(other.path().exists(), "the user of the former copy was not one of this copy");
}

#[test]
fn copies_of_an_earlier_process_are_found_and_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let copies = open(&dir, 20);
    let (a, b) = (add(&copies, dir.path(), 'a'), add(&copies, dir.path(), 'b'));
    let copies = open(&dir, 20);
    assert!(copies.find(&a).is_some() && copies.find(&b).is_some());
    let copies = open(&dir, 10);
    assert_eq!(copies.spare_bytes(), 10);
}

#[test]
fn copies_leave_room_on_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let copies = open(&dir, 100);
    let used = add_in_use(&copies, dir.path(), 'a');
    let b = add(&copies, dir.path(), 'b');
    assert_eq!(copies.spare_bytes(), 10);
    copies.make_room(0);
    assert!(copies.has(&b), "there is room");
    copies.make_room(u64::MAX);
    assert!(!copies.has(&b) && used.path().exists(), "the disk never has so much");
    assert_eq!(copies.spare_bytes(), 0);
    drop(used);
    let limits = CopyLimits { max_bytes: 100, min_free_bytes: u64::MAX };
    let copies = LocalCopies::open(dir.path(), limits).unwrap();
    let c = add_in_use(&copies, dir.path(), 'c');
    assert!(!copies.has(&hash('a')) && c.path().exists(), "what is added makes room");
}

#[test]
fn a_copy_that_lost_its_end_is_not_used() {
    let dir = tempfile::tempdir().unwrap();
    let copies = open(&dir, 100);
    let a = add(&copies, dir.path(), 'a');
    fs::write(dir.path().join("aa").join(&a), "half").unwrap();
    assert!(copies.find(&a).is_none() && !copies.has(&a));
}

#[tokio::test]
async fn whoever_ends_a_use_does_not_wait_for_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let copies = open(&dir, 0);
    let content = add_in_use(&copies, dir.path(), 'a');
    let path = content.path().to_owned();
    let disk = copies.lock_disk();
    drop(content);
    assert!(path.exists() && !copies.lock().has("b"), "the index is free");
    drop(disk);
    while path.exists() {
        tokio::task::yield_now().await;
    }
    assert!(!copies.has(&hash('a')));
}

#[tokio::test]
async fn a_copy_that_nobody_uses_yet_keeps_within_the_limits() {
    let dir = tempfile::tempdir().unwrap();
    let from = dir.path().join("incoming");
    for (max_bytes, is_kept) in [(10, true), (9, false)] {
        let copies = open(&dir, max_bytes);
        fs::write(&from, [0_u8; 10]).unwrap();
        let to = dir.path().join("aa").join(hash('a'));
        copies.add_unused(&hash('a'), &from, to.clone(), 10).await.unwrap();
        assert_eq!((copies.get(&hash('a')).await.is_some(), to.exists()), (is_kept, is_kept));
        copies.remove(&hash('a')).await;
        assert!(copies.get(&hash('a')).await.is_none() && !to.exists());
    }
}
