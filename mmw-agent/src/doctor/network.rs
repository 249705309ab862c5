//! Whether a connection was opened: in embedded mode there is nobody to talk to.

use super::Finding;
use crate::local::Local;

pub(super) fn examine(local: &Local) -> Vec<Finding> {
    if local.asks_elsewhere() {
        let said = "MMW_EMBEDDINGS_URL is set: what is saved and asked goes to that server too";
        return vec![Finding::skipped("network", said)];
    }
    vec![match connections() {
        None => Finding::skipped("network", "connections can't be counted on this system"),
        Some(0) => Finding::good(
            "network",
            "no connection was opened: 0 sockets of the network",
        ),
        Some(n) => {
            let said = format!("{n} sockets of the network are open, and none should be");
            Finding::bad(
                "network",
                said,
                "please report it, with the output of --json",
            )
        }
    }]
}

/// Counts this process's sockets of the network.
#[cfg(target_os = "linux")]
fn connections() -> Option<usize> {
    use std::collections::HashSet;

    let mut own = HashSet::new();
    for entry in std::fs::read_dir("/proc/self/fd").ok()?.flatten() {
        let target = std::fs::read_link(entry.path()).unwrap_or_default();
        let target = target.to_string_lossy().into_owned();
        if let Some(inode) = target.strip_prefix("socket:[") {
            own.insert(inode.trim_end_matches(']').to_owned());
        }
    }
    let mut n = 0;
    for table in ["tcp", "tcp6", "udp", "udp6"] {
        let text = std::fs::read_to_string(format!("/proc/self/net/{table}"));
        let text = text.unwrap_or_default();
        // The tenth column is the inode.
        let inodes = text
            .lines()
            .skip(1)
            .filter_map(|line| line.split_whitespace().nth(9));
        n += inodes.filter(|inode| own.contains(*inode)).count();
    }
    Some(n)
}

#[cfg(not(target_os = "linux"))]
fn connections() -> Option<usize> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_listening_socket_is_counted() {
        let before = connections().unwrap();
        let _open = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        assert!(connections().unwrap() > before);
    }
}
