//! The program `mmw-hooks`, started by a coding agent for each of its events.

fn main() -> std::process::ExitCode {
    mmw_hooks::program::main()
}
