//! What people see: signing in, consent, and the dashboard under `/ui`.
