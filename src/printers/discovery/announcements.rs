//! Listens for printers that announce themselves on the local network. Sends nothing.

use std::net::{IpAddr, Ipv4Addr};

use tokio::net::UdpSocket;
use tokio::time::{Instant, timeout_at};

use super::{Search, SearchResults, SearchStep, found_printer};
use crate::PrinterType;
use crate::probes::Announcement;
use platform::io_words::io_words;

/// Maximum packet size in bytes; longer packets are truncated.
const MAX_PACKET_BYTES: usize = 4096;

impl Search {
    /// Receives announcements from printers of one type until the listening time is over.
    pub(super) async fn listen(
        &self,
        declared: &'static PrinterType,
        announced: &Announcement,
        finds: &SearchResults<'_>,
    ) {
        let until = Instant::now() + self.listening;
        // Whoever may only look at this machine hears nobody else either.
        let at = if self.whole_network { Ipv4Addr::UNSPECIFIED } else { Ipv4Addr::LOCALHOST };
        let socket = match UdpSocket::bind((at, self.moved(announced.port))).await {
            Ok(socket) => socket,
            Err(error) => {
                let words = format!(
                    "cannot listen for announcements from {} printers on port {}: {}",
                    declared.word,
                    announced.port,
                    io_words(&error)
                );
                finds.tell(SearchStep::Note(words)).await;
                return;
            }
        };
        let mut packet = [0; MAX_PACKET_BYTES];
        while let Ok(received) = timeout_at(until, socket.recv_from(&mut packet)).await {
            // An error is that of one packet.
            let Ok((length, from)) = received else { continue };
            // Where it came from counts, not what it says: it may say anything.
            let IpAddr::V4(host) = from.ip() else { continue };
            if !(host.is_private() || host.is_loopback()) {
                continue;
            }
            if let Some(recognised) = (announced.read)(&packet[..length]) {
                let base_url = (announced.base_url)(host);
                finds.note(found_printer(declared, host, base_url, declared.default_port, recognised)).await;
            }
        }
    }
}
