//! What operators see and run: health, metrics, the command line, traces.

mod admin_pages;
mod command_line;
mod starting;
mod traces;
mod welcome;
