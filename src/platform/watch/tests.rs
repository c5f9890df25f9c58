#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use tokio::task::yield_now;

use super::*;

#[tokio::test]
async fn waiters_wake_in_the_order_in_which_they_began_to_wait() {
    for round in 0..20 {
        let (sender, order) = (WatchSender::new(0), Arc::new(Mutex::new(Vec::new())));
        let waiting = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = (0..100)
            .map(|number| {
                let (mut receiver, order, waiting) = (sender.subscribe(), order.clone(), waiting.clone());
                tokio::spawn(async move {
                    waiting.fetch_add(1, Relaxed);
                    receiver.changed().await.unwrap();
                    order.lock().unwrap().push(number);
                })
            })
            .collect();
        while waiting.load(Relaxed) < tasks.len() {
            yield_now().await;
        }
        sender.send_replace(1);
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), (0..100).collect::<Vec<_>>(), "round {round}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_change_is_missed_and_the_last_value_wins() {
    const LAST: u64 = 10_000;
    let sender = WatchSender::new(0);
    let receivers: Vec<_> = (0..8)
        .map(|_| {
            let mut receiver = sender.subscribe();
            tokio::spawn(async move {
                let mut before = 0;
                while before < LAST {
                    receiver.changed().await.unwrap();
                    let value = *receiver.borrow_and_update();
                    assert!(value >= before, "{value} after {before}");
                    before = value;
                }
            })
        })
        .collect();
    for value in 1..=LAST {
        assert_eq!(sender.send_replace(value), value - 1);
        if value % 64 == 0 {
            yield_now().await;
        }
    }
    for receiver in receivers {
        receiver.await.unwrap();
    }
}

#[tokio::test]
async fn a_receiver_has_seen_the_value_that_it_began_with() {
    let sender = WatchSender::new(1);
    let mut receiver = sender.subscribe();
    assert_eq!(receiver.has_changed(), Ok(false));
    sender.send_modify(|value| *value += 1);
    assert_eq!(receiver.has_changed(), Ok(true));
    assert_eq!((*receiver.borrow(), receiver.has_changed()), (2, Ok(true)));
    assert_eq!(*receiver.borrow_and_update(), 2);
    assert_eq!(receiver.has_changed(), Ok(false));
    receiver.mark_changed();
    assert_eq!(receiver.changed().await, Ok(()));
    sender.send_replace(3);
    receiver.mark_unchanged();
    assert_eq!(receiver.has_changed(), Ok(false));
}

#[tokio::test]
async fn a_clone_has_seen_what_its_original_has() {
    let sender = WatchSender::<u64>::default();
    let mut receiver = sender.subscribe();
    sender.send_replace(1);
    let behind = receiver.clone();
    assert_eq!(*receiver.borrow_and_update(), 1);
    assert_eq!((behind.has_changed(), receiver.clone().has_changed()), (Ok(true), Ok(false)));
}

#[tokio::test]
async fn only_a_modification_wakes_waiters() {
    let sender = WatchSender::new(0);
    let mut receiver = sender.subscribe();
    assert!(!sender.send_if_modified(|_| false));
    assert_eq!(receiver.has_changed(), Ok(false));
    assert!(sender.send_if_modified(|value| std::mem::replace(value, 4) != 4));
    assert_eq!(receiver.changed().await, Ok(()));
    assert_eq!(*sender.borrow(), 4);
}

#[tokio::test]
async fn a_wait_for_a_condition_ends_with_the_value_that_meets_it() {
    let sender = WatchSender::new(5);
    let mut receiver = sender.subscribe();
    assert_eq!(receiver.wait_for(|value| *value == 5).await.map(|value| *value), Ok(5));
    let wait = tokio::spawn(async move { receiver.wait_for(|value| *value >= 8).await.map(|value| *value) });
    for value in 6..=8 {
        yield_now().await;
        sender.send_replace(value);
    }
    assert_eq!(wait.await.unwrap(), Ok(8));
}

#[tokio::test]
async fn a_closed_channel_ends_every_wait_after_its_last_value() {
    let sender = WatchSender::new(0);
    let (mut current, mut behind, mut waiter) = (sender.subscribe(), sender.subscribe(), sender.subscribe());
    let other = sender.clone();
    drop(sender);
    let wait = tokio::spawn(async move { waiter.wait_for(|value| *value == 2).await.is_err() });
    other.send_replace(1);
    current.mark_unchanged();
    yield_now().await;
    drop(other);
    assert!(wait.await.unwrap());
    assert_eq!(current.changed().await, Err(WatchClosed));
    assert_eq!(behind.changed().await, Ok(()));
    assert_eq!(behind.changed().await, Err(WatchClosed));
    assert_eq!(behind.wait_for(|value| *value == 1).await.map(|value| *value), Ok(1));
    assert_eq!(behind.has_changed(), Err(WatchClosed));
}
