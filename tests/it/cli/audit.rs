//! Verification of the audit log on the command line: a head recorded elsewhere reveals what the log alone cannot.

use crate::support::{App, on_both};

fn verify(app: &App, arguments: &[&str]) -> Result<String, String> {
    let mut command = vec!["audit", "verify"];
    command.extend(arguments);
    app.try_command(&command, "")
}

/// SQL that removes all audit entries but the first, and resets the stored head to that entry.
const CUT_OFF: [&str; 2] = [
    "DELETE FROM audit WHERE number > 1",
    "UPDATE writer SET audit_number = 1, audit_chain = (SELECT chain FROM audit WHERE number = 1)",
];

on_both! {
    async fn a_change_of_the_audit_log_is_found_by_command(db: Db) {
        let mut app = App::new(db).await;
        for name in ["PLA", "PETG", "ABS"] {
            app.material(name, 1000.0).await;
        }
        let head = app.command(&["audit", "head"], "");
        let head = head.trim();
        let words = verify(&app, &["--head", head]).unwrap();
        assert!(words.contains(" lines verified, from ") && words.contains(&format!("\nhead: {head}\n")), "{words}");

        // The log grows behind that head, also across a crash.
        app.material("TPU", 1000.0).await;
        app.kill_9();
        app.start().await;
        app.material("PC", 1000.0).await;
        let words = verify(&app, &["--head", head]).unwrap();
        assert!(words.contains(" lines verified, from ") && !words.contains(head), "{words}");
        app.stop().await;

        let check = |app: &App| {
            let (Ok(words) | Err(words)) = app.try_command(&["check"], "");
            words
        };
        let words = check(&app);
        assert!(words.contains("the last lines of the audit log are as the server wrote them"), "{words}");
        app.db.tamper(&app, "UPDATE audit SET actor = 'machine ' WHERE number = 2").await;
        let words = verify(&app, &[]).unwrap_err();
        assert!(words.contains("1 line verified, from ") && words.contains("line 2 does not match"), "{words}");
        assert!(words.contains("(noticed at: ") && words.contains(", machine , "), "{words}");
        let words = check(&app);
        assert!(words.contains("WRONG  audit     ") && words.contains("line 2 does not match"), "{words}");

        // Whoever owns the database can hide it, but not from a head that is elsewhere.
        for sql in CUT_OFF {
            app.db.tamper(&app, sql).await;
        }
        let words = verify(&app, &[]).unwrap();
        assert!(words.contains("1 line verified, from "), "{words}");
        let words = verify(&app, &["--head", head]).unwrap_err();
        assert!(words.contains("lines 2 to "), "{words}");
        assert!(words.contains(" are missing"), "{words}");
    }
}
