//! Random generators derived from a seed, one per purpose: numbers drawn for one purpose do not affect another, so that
//! a story without one of its faults or orders is otherwise unchanged.

use fastrand::Rng;

/// Returns the random generator of a seed for one purpose.
pub fn branch(seed: u64, purpose: &str) -> Rng {
    // FNV-1a, which is the same on every machine and in every release.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for byte in purpose.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    Rng::with_seed(hash)
}
