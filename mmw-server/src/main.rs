//! The program `mmw-server`.

fn main() -> std::process::ExitCode {
    mmw_server::cli::run()
}
