//! Names: no item or variable is named by a past participle alone, no function by a word that hides what it does, and
//! no two types outside tests share a name. No rule has an exception.

use std::collections::{BTreeMap, BTreeSet};

use super::text::{File, words};
use super::{Rule, Scope, all_files, planted_and_innocent};

/// Participles that hide what a value is (a status, a body, an answer) or what a function does.
const PARTICIPLES: [&str; 13] =
    ["known", "found", "told", "said", "kept", "made", "shown", "seen", "asked", "wanted", "given", "heard", "taken"];

/// Function names that hide what the function does, such as `stands` for `apply_claim_answer`.
const VAGUE_FUNCTIONS: [&str; 4] = ["calm", "looked", "put", "stands"];

/// First words of function names that hide what the function does, such as `told_pdf` for `describe_pdf`.
const VAGUE_BEGINNINGS: [&str; 3] = ["told_", "said_", "looked_"];

/// Type names that `SeaORM` requires in the module of each table or migration.
const REQUIRED_BY_SEA_ORM: [&str; 4] = ["Model", "Relation", "Entity", "Migration"];

/// A word or punctuation mark of the code, with its line number.
#[derive(Clone, Copy)]
struct Token<'a> {
    text: &'a str,
    line: usize,
}

/// Pairs of punctuation marks that form one token.
const DOUBLE_MARKS: [&str; 10] = ["=>", "::", "->", "==", "<=", ">=", "!=", "..", "||", "&&"];

/// Splits code without comments and literals into words and punctuation marks.
fn tokens(code: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    for (text, line) in code.lines().zip(1..) {
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = match rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len()) {
                0 if DOUBLE_MARKS.iter().any(|mark| rest.starts_with(*mark)) => 2,
                0 => first.len_utf8(),
                word => word,
            };
            let (token, behind) = rest.split_at(length);
            tokens.push(Token { text: token, line });
            rest = behind.trim_start();
        }
    }
    tokens
}

/// Tokens of a file, and the positions among them that declare a participle.
struct Declarations<'a> {
    tokens: Vec<Token<'a>>,
    places: BTreeSet<usize>,
}

impl<'a> Declarations<'a> {
    /// Collects the declarations of code without comments and literals.
    fn of(code: &'a str) -> Self {
        let mut all = Self { tokens: tokens(code), places: BTreeSet::new() };
        all.add_fields();
        for at in 0..all.tokens.len() {
            match all.text(at) {
                "fn" => all.add_function(at),
                "mod" | "as" => all.add_pattern(at + 1, at + 2),
                "let" => all.add_pattern(at + 1, all.end(at + 1, &["=", ":", ";"])),
                "for" => all.add_pattern(at + 1, all.end(at + 1, &["in", "{", ">"])),
                "=>" => all.add_pattern(all.start_of_arm(at), at),
                "|" if all.opens_closure(at) => all.add_parameters(at + 1, all.end(at + 1, &["|"])),
                _ => {}
            }
        }
        all
    }

    /// Returns a token's text; empty where there is none.
    fn text(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| token.text)
    }

    /// Returns the position of the first of these tokens that is not inside brackets, or the end of the enclosing
    /// bracket.
    fn end(&self, start: usize, ends: &[&str]) -> usize {
        let mut depth = 0_usize;
        for at in start..self.tokens.len() {
            match self.text(at) {
                text if depth == 0 && ends.contains(&text) => return at,
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" if depth == 0 => return at,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
        }
        self.tokens.len()
    }

    /// Returns the position at which the pattern of a match arm begins, given that of its arrow.
    fn start_of_arm(&self, arrow: usize) -> usize {
        let mut depth = 0_usize;
        for at in (0..arrow).rev() {
            match self.text(at) {
                "}" if depth == 0 && at + 1 < arrow && !self.ends_pattern(at) => return at + 1,
                ")" | "]" | "}" => depth += 1,
                "(" | "[" | "{" | "," | ";" if depth == 0 => return at + 1,
                "(" | "[" | "{" => depth -= 1,
                _ => {}
            }
        }
        0
    }

    /// Returns whether a closing brace belongs to a pattern rather than ending the previous arm.
    fn ends_pattern(&self, brace: usize) -> bool {
        matches!(self.text(brace + 1), "=>" | "|" | "if" | ")" | ",")
    }

    /// Returns whether a vertical bar opens the parameters of a closure.
    fn opens_closure(&self, bar: usize) -> bool {
        let before = bar.checked_sub(1).map_or("", |at| self.text(at));
        matches!(before, "(" | "," | "=" | "{" | "}" | ";" | "move" | "=>" | "return" | ":" | "&" | "else")
            && self.tokens.get(bar + 1..).is_some_and(|rest| rest.iter().take(24).any(|token| token.text == "|"))
    }

    /// Adds the participles that a pattern binds, stopping at its guard.
    fn add_pattern(&mut self, start: usize, end: usize) {
        for at in start..end {
            let before = at.checked_sub(1).map_or("", |at| self.text(at));
            if self.text(at) == "if" {
                return;
            }
            let is_name = !matches!(self.text(at + 1), ":" | "::" | "(" | "!" | ".") || at + 1 == end;
            if PARTICIPLES.contains(&self.text(at)) && is_name && !matches!(before, "." | "::" | "$") {
                self.places.insert(at);
            }
        }
    }

    /// Adds the participles among parameters, each of which may be a pattern with a type.
    fn add_parameters(&mut self, start: usize, end: usize) {
        let mut at = start;
        while at < end {
            let next = self.end(at, &[","]).min(end);
            let pattern = self.end(at, &[":", ","]).min(next);
            self.add_pattern(at, pattern);
            at = next + 1;
        }
    }

    /// Adds the participles among a function's name and parameters.
    fn add_function(&mut self, at: usize) {
        let is_name = |text: &str| text.starts_with(|c: char| c.is_alphabetic() || c == '_');
        if !is_name(self.text(at + 1)) {
            return;
        }
        if PARTICIPLES.contains(&self.text(at + 1)) {
            self.places.insert(at + 1);
        }
        // Parameters of types in angle brackets come first: `fn f<F: Fn(u32)>(told: F)`.
        let (mut depth, mut open) = (0_usize, at + 2);
        while open < self.tokens.len() {
            match self.text(open) {
                "<" => depth += 1,
                ">" => depth = depth.saturating_sub(1),
                "(" if depth == 0 => break,
                ";" | "{" => return,
                _ => {}
            }
            open += 1;
        }
        self.add_parameters(open + 1, self.end(open + 1, &[]));
    }

    /// Adds the participles among the fields of structs and enum variants.
    fn add_fields(&mut self) {
        let mut is_type = false;
        let mut braces: Vec<bool> = Vec::new();
        for at in 0..self.tokens.len() {
            match self.text(at) {
                "struct" | "enum" => is_type = true,
                ";" => is_type = false,
                "{" => {
                    braces.push(is_type || braces.last() == Some(&true));
                    is_type = false;
                }
                "}" => {
                    braces.pop();
                }
                name if PARTICIPLES.contains(&name) && self.text(at + 1) == ":" && braces.last() == Some(&true) => {
                    self.places.insert(at);
                }
                _ => {}
            }
        }
    }
}

/// Returns the declarations in a file that are named by a participle alone, with their line numbers.
fn participles(file: &File) -> Vec<(usize, String)> {
    let all = Declarations::of(file.code());
    all.places.iter().map(|at| (all.tokens[*at].line, all.tokens[*at].text.to_owned())).collect()
}

const NO_PARTICIPLES: Rule = Rule {
    holds: "no participle is a name of its own: a value is called by what it is, a function by what it does",
    scope: Scope::Everywhere,
    check: participles,
    planted: &[
        ("src/domain/order.rs", "let told = status();"),
        ("src/domain/order.rs", "let (mut kept, other) = both;"),
        ("src/domain/order.rs", "let Some(found) = first else { return };"),
        ("src/domain/order.rs", "if let Ok(Some(seen)) = first {}"),
        ("src/domain/order.rs", "let Form { said, .. } = form;"),
        ("src/domain/order.rs", "struct Order {\n    pub known: bool,\n}"),
        ("src/domain/order.rs", "enum Answer {\n    Heard { wanted: bool },\n}"),
        ("src/domain/order.rs", "fn find(id: Id, found: &mut Vec<Id>) {}"),
        ("src/domain/order.rs", "fn find<F: Fn(u32) -> u32>(State(asked): State<F>) {}"),
        ("src/domain/order.rs", "const fn shown() {}"),
        ("src/domain/order.rs", "mod heard;"),
        ("src/domain/order.rs", "match all {\n    A => {}\n    Some(given) if given > 0 => {}\n}"),
        ("src/domain/order.rs", "match all {\n    Body { made, .. } | Form { made } => {}\n}"),
        ("src/domain/order.rs", "let all = list.map(|(at, taken)| at);"),
        ("src/domain/order.rs", "let all = list.map(move |made: &Order| 1);"),
        ("src/domain/order.rs", "for (at, kept) in all {}"),
    ],
    innocent: &[
        ("src/domain/order.rs", "// let told = 1;\nlet text = \"let told = 1;\";"),
        ("src/domain/order.rs", "let found_at = order.seen;\nlet state = order.told();"),
        ("src/domain/order.rs", "let Form { said: body, .. } = form;\nlet form = Form { said: body };"),
        ("src/domain/order.rs", "match state {\n    _ if told => kept,\n    State { made: true } => made(),\n}"),
        ("src/domain/order.rs", "enum Answer {\n    Told,\n}\nfn kept_until(is_known: bool) {}"),
        ("src/domain/order.rs", "let open = first | known | last;"),
    ],
};

/// Returns the functions of a file whose names hide what they do, with their line numbers.
fn vague_functions(file: &File) -> Vec<(usize, String)> {
    let tokens = tokens(file.code());
    let names = tokens.windows(2).filter(|pair| pair[0].text == "fn").map(|pair| pair[1]);
    let is_vague = |name: &str| {
        VAGUE_FUNCTIONS.contains(&name) || VAGUE_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
    };
    names.filter(|name| is_vague(name.text)).map(|name| (name.line, name.text.to_owned())).collect()
}

const NO_VAGUE_FUNCTIONS: Rule = Rule {
    holds: "a function is a verb for what it does: none is called `stands`, `calm`, `looked` or `put`, and none begins \
            with `told_`, `said_` or `looked_`",
    scope: Scope::Everywhere,
    check: vague_functions,
    planted: &[
        ("src/domain/order.rs", "pub(super) async fn stands(&self) -> bool {}"),
        ("src/domain/order.rs", "impl Connection {\n    pub async fn calm(&self) {}\n}"),
        ("src/domain/order.rs", "fn looked<T>(at: T) {}"),
        ("tests/it/api/orders.rs", "fn put(claim: Claim) {}"),
        ("src/domain/order.rs", "fn told_pdf(op: Operation) -> Operation {}"),
        ("src/domain/order.rs", "fn said_after(lines: Vec<Line>) {}"),
        ("tests/it/api/orders.rs", "async fn looked_again() {}"),
    ],
    innocent: &[
        ("src/domain/order.rs", "// fn stands() {}\nlet text = \"fn put() {}\";"),
        ("src/domain/order.rs", "fn put_link(link: StockLink) {}\nfn outstands() {}"),
        ("src/domain/order.rs", "let calm = client.put(url);\nlet looked_at = order.looked_at;"),
        ("src/domain/order.rs", "fn write(put: impl Fn(u8)) {}"),
    ],
};

/// Returns the name of the type that an unindented line declares; `None` if it declares none.
fn type_name(line: &str) -> Option<&str> {
    let rest = match line.strip_prefix("pub(") {
        Some(scoped) => scoped.split_once(") ")?.1,
        None => line.strip_prefix("pub ").unwrap_or(line),
    };
    let rest = ["struct ", "enum ", "trait ", "type "].iter().find_map(|keyword| rest.strip_prefix(keyword))?;
    words(rest).next()
}

/// Returns whether a file contains only tests or test support.
fn is_for_tests(file: &File) -> bool {
    let is_support = file.path.ends_with("/testing.rs") || file.path.contains("/testing/");
    file.is_tests() || file.within("tests/it/") || is_support
}

/// Returns the type names that are defined more than once, as `name: file, file`.
fn shared_names(files: &[File]) -> BTreeSet<String> {
    let mut defined: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for file in files.iter().filter(|file| !is_for_tests(file)) {
        let tests = file.text.lines().position(|line| line == "mod tests {").unwrap_or(usize::MAX);
        for (line, name) in file.in_code(|line| type_name(line).map(str::to_owned)) {
            if line <= tests && !REQUIRED_BY_SEA_ORM.contains(&name.as_str()) {
                defined.entry(name).or_default().push(&file.path);
            }
        }
    }
    let several = defined.into_iter().filter(|(_, places)| places.len() > 1);
    several.map(|(name, places)| format!("{name}: {}", places.join(", "))).collect()
}

pub(super) const RULES: &[&Rule] = &[&NO_PARTICIPLES, &NO_VAGUE_FUNCTIONS];

#[test]
fn each_type_has_a_name_of_its_own() {
    let shared = shared_names(&all_files());
    assert!(shared.is_empty(), "one name, one type: the second gets another name\n{shared:#?}");
}

#[test]
fn the_rules_of_names_find_what_breaks_them() {
    planted_and_innocent(RULES);
    let text = "pub(crate) enum Place {}\nimpl A {\n    type Kind = u32;\n}\n#[cfg(test)]\nmod tests {\nstruct Row;\n}";
    let paths = ["src/a.rs", "tools/demo/src/b.rs", "src/b/tests.rs", "tests/it/b.rs", "src/b/testing.rs"];
    let twice = paths.map(|path| File::new(path, text));
    assert_eq!(shared_names(&twice).into_iter().collect::<Vec<_>>(), ["Place: src/a.rs, tools/demo/src/b.rs"]);
    assert!(shared_names(&twice[1..]).is_empty());
    let simulated = [File::new("tests/sim/src/a.rs", text), File::new("benches/shop/b.rs", text)];
    assert_eq!(shared_names(&simulated).len(), 1);
}
