//! Responses to callers when nothing crashes.

use printfloor::actors::kernel::directory::ASK_TIMEOUT;
use printfloor::actors::kernel::envelope::{CommandOrigin, IdempotencyKey};
use printfloor::actors::kernel::handle::AskError;
use printfloor::actors::kernel::restart_policy::RestartPolicy;
use printfloor::domain::refusal::Class;
use printfloor::domain::time::Timestamp;

use crate::store::rig::Rig;
use crate::store::submit::gate;
use crate::store::tally::Do;
use crate::support::database::{TestDatabase, on_both_databases, until};

on_both_databases!(
    all_that_waited_is_one_commit,
    a_stale_version_is_refused_and_changes_nothing,
    too_many_waiting_is_overloaded_and_nothing_happened,
    more_refusals_than_one_commit_holds_are_all_answered,
    only_the_command_with_the_taken_code_is_refused,
    a_key_used_twice_at_once_is_one_change,
    a_repeated_key_is_found_once_its_answer_is_stored,
    a_keyed_refusal_is_kept_and_changes_nothing,
    a_change_behind_our_back_is_decided_on,
    a_mail_of_a_commit_is_sent,
    a_closing_directory_finishes_what_it_was_told,
);

fn keyed(key: &str) -> CommandOrigin {
    let key = IdempotencyKey { key: key.to_owned(), body_hash: "hash".to_owned(), expires_at: Timestamp(i64::MAX) };
    CommandOrigin { key: Some(key), ..CommandOrigin::system() }
}

async fn all_that_waited_is_one_commit(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let tallies = rig.tallies(RestartPolicy::default()).await;
    let id = rig.make(&tallies, 1).await[0];
    let handle = tallies.resident(id).unwrap();
    let gate = gate(&rig).await;
    let asks: Vec<_> = (0..100)
        .map(|_| {
            let handle = handle.clone();
            tokio::spawn(async move { handle.ask(CommandOrigin::system(), Do::Add(1), ASK_TIMEOUT).await })
        })
        .collect();
    until("all wait", async || handle_waits(&tallies) == 100).await;
    drop(gate);
    let mut answers = Vec::new();
    for ask in asks {
        answers.push(ask.await.unwrap().unwrap().answer);
    }
    answers.sort_unstable();
    assert!(answers.into_iter().eq(1..=100), "each heard its own count");
    // The first was on its way alone; those that waited for it went together.
    let version = rig.on_disk(id).await.version;
    assert!(version <= 4, "{version} commits");
    assert_eq!(rig.stored(&[id]).await, 100);
}

fn handle_waits(tallies: &printfloor::actors::kernel::directory::Directory<crate::store::tally::Tally>) -> usize {
    tallies.observe().iter().map(|line| line.waiting).sum()
}

async fn a_stale_version_is_refused_and_changes_nothing(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let tallies = rig.tallies(RestartPolicy::default()).await;
    let id = rig.make(&tallies, 1).await[0];
    let handle = tallies.resident(id).unwrap();
    let asks: Vec<_> = (0..8)
        .map(|_| {
            let handle = handle.clone();
            tokio::spawn(async move { handle.ask(CommandOrigin::system(), Do::AddAt(1), ASK_TIMEOUT).await })
        })
        .collect();
    let mut done = 0;
    for ask in asks {
        match ask.await.unwrap() {
            Ok(answered) => done += answered.answer,
            Err(AskError::Refused(refusal)) => assert_eq!(refusal.class, Class::Stale),
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!((done, rig.stored(&[id]).await), (1, 1));
    assert_eq!(handle.ask(CommandOrigin::system(), Do::AddAt(2), ASK_TIMEOUT).await.unwrap().version, 3);
}

async fn too_many_waiting_is_overloaded_and_nothing_happened(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let tallies = rig.crowded_tallies(RestartPolicy::default(), 20).await;
    let id = rig.make(&tallies, 1).await[0];
    let handle = tallies.resident(id).unwrap();
    let gate = gate(&rig).await;
    let asks: Vec<_> = (0..50)
        .map(|_| {
            let handle = handle.clone();
            tokio::spawn(async move { handle.ask(CommandOrigin::system(), Do::Add(1), ASK_TIMEOUT).await })
        })
        .collect();
    until("thirty were refused", async || asks.iter().filter(|ask| ask.is_finished()).count() == 30).await;
    drop(gate);
    let (mut done, mut overloaded) = (0, 0);
    for ask in asks {
        match ask.await.unwrap() {
            Ok(_) => done += 1,
            Err(AskError::Overloaded) => overloaded += 1,
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!((done, overloaded, rig.stored(&[id]).await), (20, 30, 20));
}

async fn more_refusals_than_one_commit_holds_are_all_answered(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let tallies = rig.tallies(RestartPolicy { max_commands_per_commit: 8, ..RestartPolicy::default() }).await;
    let id = rig.make(&tallies, 1).await[0];
    let handle = tallies.resident(id).unwrap();
    let gate = gate(&rig).await;
    let asks: Vec<_> = (0..100)
        .map(|n| {
            let (handle, command) = (handle.clone(), if n == 0 { Do::Add(1) } else { Do::Refuse });
            tokio::spawn(async move { handle.ask(CommandOrigin::system(), command, ASK_TIMEOUT).await })
        })
        .collect();
    until("all wait or are answered", async || {
        handle_waits(&tallies) + asks.iter().filter(|ask| ask.is_finished()).count() == 100
    })
    .await;
    drop(gate);
    let mut refused = 0;
    for ask in asks {
        refused += i32::from(matches!(ask.await.unwrap(), Err(AskError::Refused(_))));
    }
    assert_eq!(refused, 99);
}

async fn only_the_command_with_the_taken_code_is_refused(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let tallies = rig.tallies(RestartPolicy::default()).await;
    let ids = rig.make(&tallies, 2).await;
    let [first, second] = [ids[0], ids[1]].map(|id| tallies.resident(id).unwrap());
    first.ask(CommandOrigin::system(), Do::Rename("taken".to_owned()), ASK_TIMEOUT).await.unwrap();
    let gate = gate(&rig).await;
    let asks: Vec<_> = (0..20)
        .map(|n| {
            let command = match n {
                10 => Do::Rename("taken".to_owned()),
                15 => Do::Refuse,
                _ => Do::Add(1),
            };
            let second = second.clone();
            tokio::spawn(async move { second.ask(CommandOrigin::system(), command, ASK_TIMEOUT).await })
        })
        .collect();
    until("all wait", async || handle_waits(&tallies) == 20).await;
    drop(gate);
    for (n, ask) in asks.into_iter().enumerate() {
        let answer = ask.await.unwrap();
        match (n, answer) {
            (10, Err(AskError::Refused(refusal))) => {
                assert_eq!((&*refusal.code, &*refusal.message), ("taken", "skus.code"));
            }
            (15, Err(AskError::Refused(refusal))) => assert_eq!(refusal.code, "no"),
            (_, Ok(_)) => {}
            (n, other) => panic!("{n}: {other:?}"),
        }
    }
    assert_eq!(rig.stored(&ids).await, 18);
}

async fn a_key_used_twice_at_once_is_one_change(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let tallies = rig.tallies(RestartPolicy::default()).await;
    let ids = rig.make(&tallies, 2).await;
    let gate = gate(&rig).await;
    // The same key on one aggregate and on another, among others that must not notice.
    let asks: Vec<_> = (0..24)
        .map(|n| {
            let handle = tallies.resident(ids[n % 2]).unwrap();
            let caller = if n < 6 { keyed("same") } else { keyed(&format!("own {n}")) };
            tokio::spawn(async move { handle.ask(caller, Do::Add(1), ASK_TIMEOUT).await })
        })
        .collect();
    until("all wait", async || handle_waits(&tallies) == 24).await;
    drop(gate);
    let (mut done, mut duplicates) = (0, 0);
    for (n, ask) in asks.into_iter().enumerate() {
        match ask.await.unwrap() {
            Ok(_) => done += 1,
            Err(AskError::KeyTaken) if n < 6 => duplicates += 1,
            other => panic!("{n}: {other:?}"),
        }
    }
    assert_eq!((done, duplicates, rig.stored(&ids).await), (19, 5, 19));
    assert_eq!(database.number("SELECT COUNT(*) FROM idempotency").await, 19);
}

async fn a_repeated_key_is_found_once_its_answer_is_stored(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let tallies = rig.tallies(RestartPolicy::default()).await;
    let id = rig.make(&tallies, 1).await[0];
    let handle = tallies.resident(id).unwrap();
    let gate = gate(&rig).await;
    let asks = futures::future::join_all((0..3).map(|_| async {
        match handle.ask(keyed("same"), Do::Add(1), ASK_TIMEOUT).await {
            Ok(_) => 1,
            Err(AskError::KeyTaken) => {
                assert_eq!(database.number("SELECT COUNT(*) FROM idempotency").await, 1, "to be read by the repeat");
                0
            }
            Err(other) => panic!("{other:?}"),
        }
    }));
    let open = async {
        until("all wait", async || handle_waits(&tallies) == 3).await;
        drop(gate);
    };
    let (done, ()) = tokio::join!(asks, open);
    assert_eq!((done.into_iter().sum::<i32>(), rig.stored(&[id]).await), (1, 1));
}

async fn a_keyed_refusal_is_kept_and_changes_nothing(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let tallies = rig.tallies(RestartPolicy::default()).await;
    let id = rig.make(&tallies, 1).await[0];
    let handle = tallies.resident(id).unwrap();
    let answer = handle.ask(keyed("key"), Do::Refuse, ASK_TIMEOUT).await;
    assert!(matches!(answer, Err(AskError::Refused(_))), "{answer:?}");
    assert_eq!(rig.on_disk(id).await.version, 1);
    let rows = database.rows("SELECT answer FROM idempotency").await;
    let answer: String = rows[0].try_get_by_index(0).unwrap();
    assert!(answer.contains("the rules say no"), "{answer}");
    assert!(matches!(handle.ask(keyed("key"), Do::Refuse, ASK_TIMEOUT).await, Err(AskError::KeyTaken)));
    assert_eq!(rig.events().await.len(), 0);
}

async fn a_change_behind_our_back_is_decided_on(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let tallies = rig.tallies(RestartPolicy::default()).await;
    let ids = rig.make(&tallies, 4).await;
    // The version that our next commit would have: it must not be taken for ours.
    let doc = format!(r#"{{"id":"{}","code":"behind","count":40}}"#, ids[2]);
    database.execute(&format!("UPDATE skus SET version = 2, doc = '{doc}' WHERE id = '{}'", ids[2])).await;
    let asks = ids.iter().map(|id| tallies.ask(*id, CommandOrigin::system(), Do::Add(1)));
    let answers: Vec<_> = futures::future::join_all(asks).await.into_iter().map(|h| h.unwrap().answer).collect();
    assert_eq!(answers, [1, 1, 41, 1]);
    let stale = tallies.ask(ids[2], CommandOrigin::system(), Do::AddAt(1)).await;
    assert!(matches!(stale, Err(AskError::Refused(refusal)) if refusal.class == Class::Stale));
    assert!(tallies.observe().iter().all(|line| line.restarts == 0));
    assert_eq!(rig.on_disk(ids[2]).await.version, 3);
}

async fn a_mail_of_a_commit_is_sent(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let tallies = rig.tallies(RestartPolicy::default()).await;
    let id = rig.make(&tallies, 1).await[0];
    tallies.ask(id, CommandOrigin::system(), Do::Mail).await.unwrap();
    until("the mail is sent", async || {
        database.number("SELECT COUNT(*) FROM mails WHERE state = 'sent' AND version = 2").await == 1
    })
    .await;
}

async fn a_closing_directory_finishes_what_it_was_told(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let tallies = rig.tallies(RestartPolicy::default()).await;
    let ids = rig.make(&tallies, 4).await;
    let gate = gate(&rig).await;
    let callers: Vec<_> = (0..32)
        .map(|n| {
            let handle = tallies.resident(ids[n % 4]).unwrap();
            tokio::spawn(async move {
                let mut done = 0;
                loop {
                    match handle.ask(CommandOrigin::system(), Do::Add(1), ASK_TIMEOUT).await {
                        Ok(_) => done += 1,
                        Err(AskError::Closed) => return done,
                        Err(other) => panic!("{other:?}"),
                    }
                }
            })
        })
        .collect();
    until("all wait", async || handle_waits(&tallies) == 32).await;
    let _ = ractor::call!(rig.root, printfloor::actors::kernel::root::RootMsg::Closing);
    let closing = tallies.clone();
    let closed = tokio::spawn(async move { closing.close(ASK_TIMEOUT).await });
    until("it closes", async || tallies.observe().iter().all(|line| line.status == "closed")).await;
    drop(gate);
    closed.await.unwrap();
    let mut done = 0;
    for caller in callers {
        done += caller.await.unwrap();
    }
    assert!(done >= 32, "all that was told before is done: {done}");
    assert_eq!(rig.stored(&ids).await, done);
    assert!(matches!(tallies.create(CommandOrigin::system(), Do::Make).await, Err(AskError::Closed)));
}
