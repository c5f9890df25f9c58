//! Chance of a seed, branched by purpose: what is drawn for one purpose shifts nothing of another, so a story without
//! one of its faults, or without one of its orders, is otherwise the same story.

use fastrand::Rng;

/// Returns the chance of a seed for one purpose.
pub fn branch(seed: u64, purpose: &str) -> Rng {
    // FNV-1a, which is the same on every machine and in every release.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for byte in purpose.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    Rng::with_seed(hash)
}
