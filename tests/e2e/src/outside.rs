//! The rest of the world, as the browser sees it: a proxy that lets nothing
//! through and notes what was asked for.
//!
//! The page's own requests are in the browser's log, those of its workers are
//! not. A request from anywhere in the browser to anywhere but this machine
//! comes past here.

use std::{
    io::{BufRead, BufReader},
    net::{Ipv4Addr, SocketAddr, TcpListener},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use anyhow::Result;

/// What Chromium asks for by itself, whatever page it shows.
const BROWSER_ITSELF: [&str; 6] = [
    "accounts.google.com",
    "android.clients.google.com",
    "clients2.google.com",
    "content-autofill.googleapis.com",
    "optimizationguide-pa.googleapis.com",
    "update.googleapis.com",
];

/// The proxy and its notes.
#[derive(Debug, Clone)]
pub struct Outside {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Outside {
    /// Listens until the process ends.
    pub fn start() -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let outside = Self { address: listener.local_addr()?, asked: Arc::default() };
        let asked = Arc::clone(&outside.asked);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                drop(stream.set_read_timeout(Some(Duration::from_secs(2))));
                let mut line = String::new();
                // Dropping the connection is the answer: there is no outside.
                if BufReader::new(stream).read_line(&mut line).is_ok() {
                    let target = line.split(' ').nth(1).unwrap_or(&line);
                    if !BROWSER_ITSELF.iter().any(|host| target.contains(host)) {
                        asked.lock().expect("notes").push(target.to_owned());
                    }
                }
            }
        });
        Ok(outside)
    }

    /// Where it listens, for the browser's `--proxy-server`.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What has been asked for so far.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("notes").clone()
    }
}
