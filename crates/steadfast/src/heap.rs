//! How the program asks the system for memory.

/// One heap for all threads. Glibc gives each thread its own and keeps there what was freed: a check,
/// which starts threads again and again and whose tables move when they grow, held up to a fifth more
/// than its budget. What a search asks for comes in large pieces, so its threads do not wait for each
/// other.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn share() {
    // SAFETY: it takes two numbers, no pointer, and is called before there is a second thread.
    #[expect(unsafe_code, reason = "the standard library has no word in this")]
    let taken = unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
    debug_assert_eq!(taken, 1, "glibc knows the setting");
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn share() {}
