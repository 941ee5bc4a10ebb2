//! What one run of another program costs.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use wait4::Wait4;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub wall: Duration,
    /// User and system time of the program and of everything that it waited for.
    pub cpu: Duration,
    /// The most memory that was resident at once. The kernel counts from before the program
    /// replaced this one, so a few MiB are the floor.
    pub resident_bytes_max: u64,
    pub stdout: String,
}

/// Runs a program to its end. What it prints as errors goes straight to the terminal.
pub fn run(command: &mut Command) -> Result<Run, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let start = Instant::now();
    let mut child = command.spawn().map_err(|e| format!("cannot start `{name}`: {e}"))?;
    let mut stdout = String::new();
    if let Some(mut pipe) = child.stdout.take() {
        pipe.read_to_string(&mut stdout).map_err(|e| format!("`{name}` printed no text: {e}"))?;
    }
    let used = child.wait4().map_err(|e| format!("cannot wait for `{name}`: {e}"))?;
    let wall = start.elapsed();
    if !used.status.success() {
        return Err(format!("`{name}` failed: {}", used.status));
    }
    let cpu = used.rusage.utime + used.rusage.stime;
    Ok(Run { wall, cpu, resident_bytes_max: used.rusage.maxrss, stdout })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Result<Run, String> {
        run(Command::new("sh").args(["-c", script]))
    }

    #[test]
    fn sleeping_takes_time_and_no_processor() {
        let run = shell("sleep 0.2; echo done").unwrap();
        assert_eq!(run.stdout, "done\n");
        assert!(run.wall >= Duration::from_millis(200), "{run:?}");
        assert!(run.cpu < run.wall / 2, "{run:?}");
        assert!(run.resident_bytes_max > 100_000, "{run:?}");
    }

    #[test]
    fn working_takes_processor() {
        let run = shell("i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done").unwrap();
        assert!(run.cpu > Duration::from_millis(20), "{run:?}");
        assert!(run.cpu <= run.wall + Duration::from_millis(50), "{run:?}");
    }

    #[test]
    fn memory_is_of_this_run_and_not_of_an_earlier_one() {
        let large = shell("x=$(head -c 40000000 /dev/zero | tr '\\0' a); echo ${#x}").unwrap();
        let small = shell("echo small").unwrap();
        assert_eq!(large.stdout, "40000000\n");
        assert!(large.resident_bytes_max > 40_000_000, "{}", large.resident_bytes_max);
        assert!(small.resident_bytes_max < large.resident_bytes_max / 2);
    }

    #[test]
    fn a_program_that_fails_is_no_measurement() {
        assert!(shell("exit 3").unwrap_err().contains("failed"));
        assert!(run(&mut Command::new("no-such-program-here")).unwrap_err().contains("start"));
    }
}
