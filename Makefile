# Thin on purpose: each target calls one script or one cargo command.

# Where rustup puts cargo, for shells that have not read its profile.
export PATH := $(PATH):$(HOME)/.cargo/bin

# Whatever is asked for together is set up by one and the same script.
.NOTPARALLEL:

.PHONY: setup run demo release test soak bench fuzz train

# What a build needs: C compiler, cmake, the wasm target; PostgreSQL for tests. Harmless to repeat.
setup:
	tests/scripts/setup

# Build and serve; without provider keys, on the bundled fake providers.
run: setup
	cargo run --release --locked -p svc-gateway -- serve --welcome

# Start a gateway of its own, send the printed request, stop.
demo: setup
	tests/scripts/demo

# The gateway to deploy, compiled for the traffic that it is for, in target/deploy.
release:
	tests/scripts/setup --for-release
	tests/scripts/release

# Everything that must pass before a merge.
test:
	tests/scripts/setup --for-tests
	tests/scripts/test

# The crash campaigns at full length, of which `make test` runs short versions.
soak: setup
	tests/scripts/soak

# CPU, latency and memory of what `make release` builds, beside nginx and the bare upstream.
bench: setup release
	tests/bench/run

# The models of the detector phi-context, anew from its texts: for English and Spanish, and for other languages.
train:
	cargo run --release --locked --manifest-path plugins/Cargo.toml -p context-trainer -- \
		train own plugins/context-trainer/texts plugins/phi-context/own.bin
	cargo run --release --locked --manifest-path plugins/Cargo.toml -p context-trainer -- \
		train other plugins/context-trainer/texts plugins/phi-context/other.bin

# Random input against every decoder, many times over.
fuzz: setup
	tests/scripts/fuzz
