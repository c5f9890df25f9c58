//! The list of users: the most frequent actions are available in its rows.

use super::settings::boss;
use super::{SAM, is_sound};
use crate::api::{id, sign_in, staff};
use crate::billing::pages::{send, token};
use crate::support::{App, on_sqlite};

/// Path of the list.
const PATH: &str = "/shop/settings/users";

on_sqlite! {
    async fn people_are_changed_from_their_rows(db: Db) {
        let app = App::new(db).await;
        let boss = boss(&app).await;
        let admin = id(&boss.get("/api/auth/me").await.expect(200)["user"]);
        let sam = staff(&app, SAM, "operator").await;
        let list = boss.get(PATH).await;
        is_sound(&list);
        for act in ["password", "role", "disable"] {
            let form = |user: &str| format!("action=\"{PATH}/{user}/{act}\"");
            assert!(list.text.contains(&form(&sam)), "{act} in {}", list.text);
            assert!(!list.text.contains(&form(&admin)), "{act} of their own: {}", list.text);
        }
        // Boss is here; nobody has signed in as Sam.
        let row = |user: &str| {
            let row = list.text.split_once(&format!("<a href=\"{PATH}/{user}\">")).expect("a row").1;
            row.split("</tr>").next().unwrap().to_owned()
        };
        let (of_boss, of_sam) = (row(&admin), row(&sam));
        assert!(of_boss.contains(">Admin</td>") && of_boss.contains("data-label=\"Last seen\"><time "), "{of_boss}");
        assert!(of_sam.contains(">Operator</td>") && of_sam.contains(">Not signed in</span>"), "{of_sam}");
        assert!(of_sam.contains("data-label=\"Two-step sign-in\"><span class=\"soft\">Off</span>"), "{of_sam}");
        // An admin may do everything: that one signs in without a second step is a warning.
        let off = "data-label=\"Two-step sign-in\"><span class=\"state attention\">Off</span>";
        assert!(of_boss.contains(off), "{of_boss}");
        // One is added by the button beside the heading, and users are what is counted.
        let place = |text: &str| list.text.find(text).unwrap_or_else(|| panic!("no {text} in {}", list.text));
        let add = place(&format!("<a class=\"btn primary\" href=\"{PATH}/new\">"));
        assert!(place("<h1>Users</h1>") < add && add < place("</svg>Add user</a>"), "{}", list.text);
        assert!(place("</svg>Add user</a>") < place("<table>"), "{}", list.text);
        let count = boss.get("/api/users").await.expect(200)["users"].as_array().unwrap().len();
        assert!(list.text.contains(&format!(">{count} users</p>")), "{}", list.text);
        let form = boss.get(&format!("{PATH}/new")).await;
        assert!(form.text.contains(&format!("method=\"post\" action=\"{PATH}/new\"")), "{}", form.text);
        let own = token(&list);
        let act = async |word: &str, (name, text): (&str, &str)| {
            let fields = [("form_token", own.as_str()), ("from", "0"), (name, text)];
            let page = send(&boss, &format!("{PATH}/{sam}/{word}"), &fields).await;
            is_sound(&page);
            page
        };
        // Each leads back to the list, which shows what came of it.
        for (word, field, words) in [
            ("role", ("role", "admin"), "Make Sam an operator</button>"),
            ("disable", ("", ""), "Enable Sam</button>"),
            ("enable", ("", ""), "Disable Sam</button>"),
            ("password", ("password", "battery horse correct"), "Reset password for Sam</button>"),
        ] {
            let page = act(word, field).await;
            assert!(page.status == 200 && page.text.contains("<h1>Users</h1>"), "{word}: {}", page.text);
            assert!(page.text.contains(words), "{words} in {}", page.text);
        }
        sign_in(&app, SAM, "battery horse correct").await;
        let short = act("password", ("password", "short")).await;
        assert!(short.status == 400 && short.text.contains("New password: "), "{}", short.text);
    }
}
