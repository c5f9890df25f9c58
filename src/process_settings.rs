//! Operating system settings for this process: small pages of memory, and room for many connections.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::disable_transparent_huge_pages;

/// Number of files and connections that are enough for every shop.
const OPEN_FILES: u64 = 1 << 20;

/// Applies the settings to this process and to the programs that it starts. A system that refuses one of them is used
/// as it is.
pub fn apply() {
    // Systems that give huge pages to everybody (`always`) would make 2 MiB resident for each stack and each corner of
    // the heap that is touched once.
    let _ = disable_transparent_huge_pages(true);
    allow_open_files();
}

/// Raises the number of files and connections that this process may have open as far as the system allows. Each watched
/// printer is a connection, and the usual limit in a shell is 1,024.
fn allow_open_files() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    // `None` is no limit.
    let limit = maximum.map_or(OPEN_FILES, |most| most.min(OPEN_FILES));
    if current.is_some_and(|current| current < limit) {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(limit), maximum });
    }
}

#[cfg(test)]
mod tests {
    use rustix::thread::transparent_huge_pages_are_disabled;

    use super::*;

    #[test]
    fn this_process_takes_small_pages_and_may_open_what_the_system_allows() {
        apply();
        assert_eq!(transparent_huge_pages_are_disabled(), Ok(true));
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        let possible = maximum.map_or(OPEN_FILES, |most| most.min(OPEN_FILES));
        assert!(current.is_none_or(|current| current >= possible), "{current:?} of {maximum:?}");
    }
}
