//! How much callers may use up. Every limit has a default and can be set.

/// How much one client, and all of them together, may use up.
#[derive(Clone, Debug)]
pub struct Limits {
    /// of the body of a request
    pub body_bytes_max: usize,
    /// of content that is uploaded
    pub blob_bytes_max: usize,
    /// of content that one caller stores in an hour
    pub upload_bytes_hour_max: u64,
    /// of those who bring or take content of more than one piece at a time; more are told to come again
    pub transfers_max: usize,
    /// of all bodies together that have come and are not answered yet, but for the beginning of each
    pub bodies_bytes_max: usize,
    /// of the request line and the headers together
    pub head_bytes_max: usize,
    /// of the path with its query
    pub path_bytes_max: usize,
    /// connections beyond these are closed as they come
    pub connections_max: usize,
    /// requests that are being answered; more are told to come again
    pub in_flight_max: usize,
    /// until the head of a request has come, waiting for the next request included
    pub head_ms_max: u64,
    /// until the body of a request has come, or the next MiB of it
    pub body_ms_max: u64,
    /// until a view has reached the revision it was asked for
    pub wait_ms_max: u64,
    /// steps in one batch
    pub batch_steps_max: usize,
    /// steps of one socket that are begun before one of them is answered
    pub pipeline_max: usize,
    /// clients that follow a feed
    pub followers_max: usize,
    /// a feed in which nothing happens says so this often
    pub heartbeat_ms: u64,
    /// a client that does not read what it is sent for so long is let go
    pub stall_ms_max: u64,
    /// for requests under way when the server is told to stop
    pub stop_ms_max: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            body_bytes_max: 1 << 20,
            blob_bytes_max: 16 << 20,
            upload_bytes_hour_max: 1 << 30,
            transfers_max: 64,
            bodies_bytes_max: 256 << 20,
            head_bytes_max: 16 << 10,
            path_bytes_max: 8 << 10,
            connections_max: 20_000,
            in_flight_max: 4_096,
            head_ms_max: 60_000,
            body_ms_max: 10_000,
            wait_ms_max: 10_000,
            batch_steps_max: 1_000,
            pipeline_max: 256,
            followers_max: 10_000,
            heartbeat_ms: 15_000,
            stall_ms_max: 30_000,
            stop_ms_max: 10_000,
        }
    }
}

impl Limits {
    /// The names of the limits and what they are.
    pub fn all(&self) -> [(&'static str, u64); 18] {
        [
            ("body_bytes_max", self.body_bytes_max as u64),
            ("blob_bytes_max", self.blob_bytes_max as u64),
            ("upload_bytes_hour_max", self.upload_bytes_hour_max),
            ("transfers_max", self.transfers_max as u64),
            ("bodies_bytes_max", self.bodies_bytes_max as u64),
            ("head_bytes_max", self.head_bytes_max as u64),
            ("path_bytes_max", self.path_bytes_max as u64),
            ("connections_max", self.connections_max as u64),
            ("in_flight_max", self.in_flight_max as u64),
            ("head_ms_max", self.head_ms_max),
            ("body_ms_max", self.body_ms_max),
            ("wait_ms_max", self.wait_ms_max),
            ("batch_steps_max", self.batch_steps_max as u64),
            ("pipeline_max", self.pipeline_max as u64),
            ("followers_max", self.followers_max as u64),
            ("heartbeat_ms", self.heartbeat_ms),
            ("stall_ms_max", self.stall_ms_max),
            ("stop_ms_max", self.stop_ms_max),
        ]
    }

    /// Sets one limit by its name, as a setting gives it: `body_bytes_max=65536`.
    pub fn set(&mut self, setting: &str) -> Result<(), String> {
        let (name, value) = setting
            .split_once('=')
            .ok_or_else(|| format!("`{setting}` is no limit, such as `body_bytes_max=65536`"))?;
        let number = |least: u64| match value.parse::<u64>() {
            Ok(number) if number >= least => Ok(number),
            _ => Err(format!("`{name}` is a whole number from {least}, not `{value}`")),
        };
        let size = |least: u64| number(least).map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        match name {
            "body_bytes_max" => self.body_bytes_max = size(1)?,
            "blob_bytes_max" => self.blob_bytes_max = size(1)?,
            "upload_bytes_hour_max" => self.upload_bytes_hour_max = number(0)?,
            "transfers_max" => self.transfers_max = size(1)?,
            "bodies_bytes_max" => self.bodies_bytes_max = size(1)?,
            // what the HTTP library needs at least
            "head_bytes_max" => self.head_bytes_max = size(8 << 10)?,
            "path_bytes_max" => self.path_bytes_max = size(1)?,
            "connections_max" => self.connections_max = size(1)?,
            "in_flight_max" => self.in_flight_max = size(1)?,
            "head_ms_max" => self.head_ms_max = number(1)?,
            "body_ms_max" => self.body_ms_max = number(1)?,
            "wait_ms_max" => self.wait_ms_max = number(1)?,
            "batch_steps_max" => self.batch_steps_max = size(1)?,
            "pipeline_max" => self.pipeline_max = size(1)?,
            "followers_max" => self.followers_max = size(1)?,
            "heartbeat_ms" => self.heartbeat_ms = number(1)?,
            "stall_ms_max" => self.stall_ms_max = number(1)?,
            "stop_ms_max" => self.stop_ms_max = number(0)?,
            _ => {
                let known: Vec<&str> = self.all().iter().map(|(name, _)| *name).collect();
                return Err(format!("no limit `{name}`; there are {}", known.join(", ")));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_can_be_set_by_its_name() {
        let mut limits = Limits::default();
        for (name, _) in Limits::default().all() {
            limits.set(&format!("{name}=12345")).unwrap();
        }
        assert!(limits.all().iter().all(|(_, value)| *value == 12_345), "{limits:?}");
        for (wrong, says) in [
            ("body", "is no limit"),
            ("body_max=1", "no limit `body_max`; there are body_bytes_max,"),
            ("body_bytes_max=many", "`body_bytes_max` is a whole number from 1, not `many`"),
            ("in_flight_max=0", "from 1"),
        ] {
            let said = limits.set(wrong).unwrap_err();
            assert!(said.contains(says), "{said}");
        }
    }
}
