//! HTTP Digest authentication (RFC 7616 with MD5 and `qop=auth`), for printers that require a user name and a password.
//!
//! Every request answers the latest challenge with the next nonce count, so only the first request, and the first one
//! after a nonce has expired, are sent twice.

use std::sync::{Mutex, PoisonError};

use md5::{Digest as _, Md5};
use reqwest::Request;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, WWW_AUTHENTICATE};

use platform::secrets::random::secret_bytes;

/// User name and password, with the printer's latest challenge.
pub(crate) struct Digest {
    user: String,
    password: String,
    challenge: Mutex<Option<Challenge>>,
}

/// Authentication challenge from a rejected request.
#[derive(Clone, PartialEq, Debug, Default)]
struct Challenge {
    realm: String,
    nonce: String,
    opaque: Option<String>,
    /// `true` if `qop=auth` is offered; older servers do not offer it.
    counted: bool,
    /// Number of requests signed for the challenge.
    count: u32,
}

impl Digest {
    /// Creates the credentials from a key of the form `user:password`; `None` for any other key.
    pub(crate) fn of(key: &str) -> Option<Self> {
        let (user, password) = key.split_once(':').filter(|(user, _)| !user.is_empty() && !user.contains('"'))?;
        Some(Self { user: user.to_owned(), password: password.to_owned(), challenge: Mutex::default() })
    }

    /// Signs the request for the latest challenge, if any; returns the nonce used.
    pub(crate) fn sign(&self, request: &mut Request) -> Option<String> {
        let url = request.url();
        let target = url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()));
        let method = request.method().as_str().to_owned();
        let (answer, nonce) = self.answer(&method, &target, &hex::encode(secret_bytes::<8>()))?;
        let mut value = HeaderValue::from_str(&answer).ok()?;
        value.set_sensitive(true);
        request.headers_mut().insert(AUTHORIZATION, value);
        Some(nonce)
    }

    /// Extracts the challenge from a rejected request. Returns `false` if there is none, or if the request already
    /// answered that challenge.
    pub(crate) fn learn(&self, refusal: &HeaderMap, answered: Option<&str>) -> bool {
        let mut offered = refusal.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
        let Some(new) = offered.find_map(challenge) else { return false };
        let other = answered != Some(&new.nonce);
        let mut current = self.challenge.lock().unwrap_or_else(PoisonError::into_inner);
        // Another call may have learnt it before, and counts.
        if current.as_ref().is_none_or(|existing| existing.nonce != new.nonce) {
            *current = Some(new);
        }
        other
    }

    fn answer(&self, method: &str, target: &str, cnonce: &str) -> Option<(String, String)> {
        let mut current = self.challenge.lock().unwrap_or_else(PoisonError::into_inner);
        let challenge = current.as_mut()?;
        challenge.count += 1;
        let Challenge { realm, nonce, opaque, counted, count } = challenge;
        let (user, count) = (&self.user, format!("{count:08x}"));
        let secret = md5(&format!("{user}:{realm}:{}", self.password));
        let request_hash = md5(&format!("{method}:{target}"));
        let (counting, response) = if *counted {
            let counting = format!(", qop=auth, nc={count}, cnonce=\"{cnonce}\"");
            (counting, md5(&format!("{secret}:{nonce}:{count}:{cnonce}:auth:{request_hash}")))
        } else {
            (String::new(), md5(&format!("{secret}:{nonce}:{request_hash}")))
        };
        let opaque = opaque.as_ref().map(|opaque| format!(", opaque=\"{opaque}\"")).unwrap_or_default();
        let header = format!(
            "Digest username=\"{user}\", realm=\"{realm}\", nonce=\"{nonce}\", uri=\"{target}\"{counting}, \
             response=\"{response}\", algorithm=MD5{opaque}"
        );
        Some((header, nonce.clone()))
    }
}

fn md5(text: &str) -> String {
    hex::encode(Md5::digest(text))
}

/// Parses `Digest realm="…", nonce="…", …`; returns `None` for other schemes and algorithms.
fn challenge(header: &str) -> Option<Challenge> {
    let mut rest = header.trim_start().strip_prefix("Digest ")?;
    let mut read = Challenge::default();
    while let Some((name, after)) = rest.split_once('=') {
        let after = after.trim_start();
        let (value, later) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => after.split_once(',').unwrap_or((after, "")),
        };
        rest = later.trim_start_matches([',', ' ']);
        match name.trim().to_ascii_lowercase().as_str() {
            "realm" => value.clone_into(&mut read.realm),
            "nonce" => value.clone_into(&mut read.nonce),
            "opaque" => read.opaque = Some(value.to_owned()),
            "qop" => read.counted = value.split(',').any(|offered| offered.trim() == "auth"),
            "algorithm" if !value.trim().eq_ignore_ascii_case("MD5") => return None,
            _ => {}
        }
    }
    (!read.nonce.is_empty()).then_some(read)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn refusal(header: &str) -> HeaderMap {
        HeaderMap::from_iter([(WWW_AUTHENTICATE, HeaderValue::from_str(header).unwrap())])
    }

    #[test]
    fn the_example_of_the_standard_is_answered_as_it_says() {
        let digest = Digest::of("Mufasa:Circle Of Life").unwrap();
        assert_eq!(digest.answer("GET", "/", "c"), None, "nothing was asked yet");
        let nonce = "dcd98b7102dd2f0e8b11d0f600bfb0c093";
        let offer = format!(
            "Digest realm=\"testrealm@host.com\", qop=\"auth,auth-int\", nonce=\"{nonce}\", \
             opaque=\"5ccc069c403ebaf9f0171e9517f40e41\""
        );
        assert!(digest.learn(&refusal(&offer), None));
        let (answer, used) = digest.answer("GET", "/dir/index.html", "0a4f113b").unwrap();
        assert_eq!(used, nonce);
        assert!(answer.contains("response=\"6629fae49393a05397450978507c4ef1\""), "{answer}");
        assert!(answer.contains("nc=00000001") && answer.contains("opaque=\"5ccc069c403ebaf9f0171e9517f40e41\""));
        assert!(digest.answer("GET", "/", "c").unwrap().0.contains("nc=00000002"));
        assert!(!digest.learn(&refusal(&offer), Some(nonce)), "answered already: the password is wrong");
        assert!(digest.learn(&refusal(&offer.replace("dcd98", "aged0")), Some(nonce)));
        assert!(!digest.learn(&refusal("Basic realm=\"x\""), None));
    }

    #[test]
    fn only_a_name_with_a_password_is_one() {
        assert!(Digest::of("maker:secret").is_some());
        for key in ["0123456789ABCDEF", ":secret", "a\"b:secret"] {
            assert!(Digest::of(key).is_none(), "{key}");
        }
    }
}
