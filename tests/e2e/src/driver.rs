//! The driver's process: started on a port that it chooses, ended by its handle.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    thread,
};

use anyhow::{Context, Result, ensure};
use xtask::browser::Browser;

/// How often it is started before its refusal is believed.
const ATTEMPTS: usize = 5;

/// A running chromedriver. It gives each session a fresh profile in a temporary
/// folder and removes that at the session's end.
#[derive(Debug)]
pub struct Driver {
    child: Child,
    port: u16,
}

impl Driver {
    /// Starts it and waits until it says on which port it listens.
    pub fn start(browser: &Browser) -> Result<Self> {
        // It chooses a free IPv4 port and then wants the same one for IPv6, which now and then is taken: it gives up,
        // and another attempt gets another port.
        let mut outcome = Self::attempt(browser);
        for _ in 1..ATTEMPTS {
            if outcome.is_ok() {
                break;
            }
            outcome = Self::attempt(browser);
        }
        outcome
    }

    fn attempt(browser: &Browser) -> Result<Self> {
        let mut child = Command::new(&browser.driver)
            .args(["--port=0", "--log-level=SEVERE"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("{} could not be started", browser.driver.display()))?;
        let output = child.stdout.take().context("the driver has no output")?;
        let mut lines = BufReader::new(output).lines();
        let mut said = Vec::new();
        let port = lines.by_ref().map_while(Result::ok).find_map(|line| {
            let port = port_in(&line);
            said.push(line);
            port
        });
        // Its later words are of no interest, but it must be able to say them.
        thread::spawn(move || lines.for_each(drop));
        let driver = Self { child, port: port.unwrap_or_default() };
        ensure!(port.is_some(), "the driver ended without listening on a port; it said: {said:#?}");
        Ok(driver)
    }

    /// Where it takes commands.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // This one process, by its handle; its browser has ended with the session.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// "ChromeDriver was started successfully on port 44089." gives 44089.
fn port_in(line: &str) -> Option<u16> {
    let (_, port) = line.split_once("successfully on port ")?;
    port.trim_end_matches('.').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_port_that_the_driver_has_chosen() {
        let line = "ChromeDriver was started successfully on port 44089.";
        assert_eq!(port_in(line), Some(44089));
        assert_eq!(port_in("Starting ChromeDriver 156.0 (abc) on port 0"), None);
    }
}
