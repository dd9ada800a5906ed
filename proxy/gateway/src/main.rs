mod fake_provider;

fn main() {}
