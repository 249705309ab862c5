//! Real processes: several at once, some killed, some on a disk without room or without leave to write.

use super::child::{command, output, playing, run, start, this_program};
use super::*;

/// Keeps the keys that begin with `prefix`.
fn of<'a>(keys: &'a [String], prefix: &str) -> Vec<&'a str> {
    let with = |key: &&'a String| key.starts_with(prefix);
    keys.iter().filter(with).map(String::as_str).collect()
}

fn numbered(prefix: &str, n: usize) -> Vec<String> {
    (0..n).map(|nth| format!("{prefix}{nth}")).collect()
}

fn server_log(base: &Path) -> Vec<String> {
    let log = fs::read_to_string(base.join("server.log")).unwrap_or_default();
    log.lines().map(str::to_owned).collect()
}

#[test]
fn what_several_processes_queue_at_once_is_all_there_and_each_in_its_order() {
    let base = tempfile::tempdir().unwrap();
    let prefixes = ["a", "b", "c"];
    let children = prefixes.map(|prefix| start(&format!("put {prefix} 40"), base.path()));
    for (prefix, child) in prefixes.into_iter().zip(children) {
        assert_eq!(child.rest(), numbered(prefix, 40));
    }
    let sent = all_done(&open(base.path()));
    assert_eq!(sent.len(), 120);
    for prefix in prefixes {
        assert_eq!(of(&sent, prefix), numbered(prefix, 40));
    }
}

#[test]
fn two_that_send_at_once_send_nothing_twice_and_in_order_while_a_third_queues() {
    let base = tempfile::tempdir().unwrap();
    let spool = open(base.path());
    for key in numbered("k", 40) {
        spool.put(&entry(&key)).unwrap();
    }
    let mut queueing = start("put k4 20", base.path());
    let first_line = queueing.line();
    assert_eq!(first_line.as_deref(), Some("k40"));
    let (one, other) = (start("drain", base.path()), start("drain", base.path()));
    queueing.rest();
    let mut sent = one.rest();
    sent.extend(other.rest());
    all_done(&spool);
    let arrived = server_log(base.path());
    assert_eq!(sent.len(), arrived.len());
    let order = [numbered("k", 40), numbered("k4", 20)].concat();
    assert_eq!(arrived, order[..arrived.len()]);
    assert!(arrived.len() >= 40, "at least what was there before");
}

#[test]
fn a_process_that_is_killed_while_it_queues_loses_nothing_that_it_acknowledged() {
    for n_before in [1, 3, 7, 20] {
        let base = tempfile::tempdir().unwrap();
        let mut child = start("put k 100000", base.path());
        let mut acknowledged: Vec<_> = (0..n_before).map_while(|_| child.line()).collect();
        acknowledged.extend(child.kill());
        assert!(acknowledged.len() >= n_before);
        let spool = open(base.path());
        spool.put(&entry("after")).unwrap();
        let mut sent = all_done(&spool);
        assert_eq!(sent.pop().as_deref(), Some("after"));
        // The last one may have been queued and not acknowledged.
        let n_more = sent.len() - acknowledged.len();
        assert!(n_more <= 1, "{n_more} more than acknowledged");
        assert_eq!(sent, numbered("k", sent.len()));
        assert_eq!(spool.state(Timestamp::from_ms(0)).unwrap().n_corrupt, 0);
    }
}

#[test]
fn a_process_that_is_killed_while_it_sends_leads_to_one_sending_more_at_most() {
    let n = 60;
    let base = tempfile::tempdir().unwrap();
    let spool = open(base.path());
    for key in numbered("k", n) {
        spool.put(&entry(&key)).unwrap();
    }
    let mut n_killed = 0;
    for n_before in [1, 2, 5, 9] {
        let mut child = start("drain", base.path());
        // It may have sent everything before it is killed.
        let _: Vec<_> = (0..n_before).map_while(|_| child.line()).collect();
        child.kill();
        n_killed += 1;
    }
    let rest = start("drain", base.path()).rest();
    assert!(!rest.is_empty() || spool.is_empty().unwrap());
    let mut arrived = server_log(base.path());
    assert!(arrived.len() <= n + n_killed, "{} sendings", arrived.len());
    arrived.dedup();
    assert_eq!(arrived, numbered("k", n));
}

#[cfg(unix)]
#[test]
fn a_disk_that_takes_no_more_bytes_is_an_error_and_leaves_nothing_half() {
    let base = tempfile::tempdir().unwrap();
    // Files of 1,024 bytes at most. The shell ignores the signal, and so does what it becomes.
    let script = "trap '' XFSZ; ulimit -f 2; exec \"$0\" \"$@\"";
    let program = this_program();
    let shell = command("sh", &["-c", script, program.to_str().unwrap()]);
    let said = output(playing(shell, "sizes 40 5000 40 900 40", base.path()));
    assert_eq!(said.len(), 5, "{said:?}");
    assert_eq!(
        (&said[0], &said[2], &said[4]),
        (&"k0".into(), &"k2".into(), &"k4".into())
    );
    for nth in [1, 3] {
        assert!(said[nth].starts_with("error true: write new: "), "{said:?}");
    }
    let spool = open(base.path());
    assert!(!spool.place.new_file().exists());
    assert_eq!(all_done(&spool), ["k0", "k2", "k4"]);
}

/// On systems where anybody may mount a file system for himself; elsewhere the tests with a disk that says
/// it is full have to do.
#[cfg(target_os = "linux")]
#[test]
fn a_file_system_that_is_full_takes_nothing_and_gives_everything_back() {
    let base = tempfile::tempdir().unwrap();
    let mounting = "mount -t tmpfs -o size=200k none \"$0\"";
    let script = format!("{mounting} && exec \"$@\"");
    let folder = base.path().to_str().unwrap();
    let unshare = ["-rm", "sh", "-c"];
    let can_mount = command("unshare", &[&unshare[..], &[mounting, folder]].concat())
        .stderr(std::process::Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !can_mount {
        return;
    }
    let program = this_program();
    let arguments = [&unshare[..], &[&script, folder, program.to_str().unwrap()]].concat();
    let said = output(playing(command("unshare", &arguments), "fill", base.path()));
    let expected = ["full", "sent all", "took some", "again"].map(|what| format!("{what} true"));
    assert_eq!(said, expected);
}

#[cfg(unix)]
#[test]
fn a_folder_that_may_not_be_written_to_is_an_error_and_keeps_what_waits() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;
    let base = tempfile::tempdir().unwrap();
    let queues = base.path().join("queues");
    let spool = open(&queues);
    spool.put(&entry("k0")).unwrap();
    let set = |mode| {
        for folder in [spool.folder().to_owned(), spool.place.tray(Tray::Waiting)] {
            fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    set(0o500);
    let is_root = fs::write(spool.folder().join("probe"), "").is_ok();
    let mut child = command(this_program(), &[]);
    if is_root {
        // Permissions do not hold for root: somebody else's eyes are needed, and this program where they see it.
        fs::remove_file(spool.folder().join("probe")).unwrap();
        let copy = base.path().join("program");
        fs::copy(this_program(), &copy).unwrap();
        let open_to_all = fs::Permissions::from_mode(0o755);
        fs::set_permissions(base.path(), open_to_all).unwrap();
        give_away(&queues);
        child = command(copy, &[]);
        child.uid(NOBODY).gid(NOBODY);
    }
    let said = run(playing(child, "put x 2", &queues)).rest();
    set(0o700);
    assert_eq!(said.len(), 2, "{said:?}");
    for line in said {
        assert!(line.starts_with("error false: write new: "), "{line}");
    }
    assert_eq!(all_done(&spool), ["k0"]);
}

#[cfg(unix)]
const NOBODY: u32 = 65_534;

#[cfg(unix)]
fn give_away(path: &Path) {
    std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    if path.is_dir() {
        for file in fs::read_dir(path).unwrap() {
            give_away(&file.unwrap().path());
        }
    }
}
