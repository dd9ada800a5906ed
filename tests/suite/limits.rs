//! Rate limits and places in flight across replicas and stores (contract 6, 19.5).

mod outage;
mod replicas;
mod vectors;
