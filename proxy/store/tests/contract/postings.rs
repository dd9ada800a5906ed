//! The ledger as it lies in the database, read past the store, which needs no posting by itself.

use svc_core::money::Micro;

use crate::database::TestDb;

pub(crate) struct Posting {
    /// `debit` or `credit`.
    pub(crate) kind: String,
    /// `org:usage`, or `org:cycle:` and the start of the cycle.
    pub(crate) account: String,
    /// The two postings of a request sum up to zero, in credits and in dollars.
    pub(crate) amount: Micro,
    pub(crate) cost_usd: Micro,
    pub(crate) result: String,
}

/// The postings of a request, debit before credit.
pub(crate) async fn of_request(db: &TestDb, org_id: &str, request_id: &str) -> Vec<Posting> {
    let sql = format!(
        "SELECT kind || '|' || account || '|' || amount_micro || '|' || cost_usd_micro || '|' || result \
         FROM ledger WHERE org_id = '{org_id}' AND mode = 'live' AND request_id = '{request_id}' ORDER BY kind DESC"
    );
    let lines = db.texts(&sql).await;
    let posting = |line: &String| {
        let cells: Vec<&str> = line.split('|').collect();
        Posting {
            kind: cells[0].to_owned(),
            account: cells[1].to_owned(),
            amount: Micro(cells[2].parse().unwrap()),
            cost_usd: Micro(cells[3].parse().unwrap()),
            result: cells[4].to_owned(),
        }
    };
    lines.iter().map(posting).collect()
}

/// Sums of an organization's debits, one of which each request has.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) requests: i64,
    pub(crate) credits: Micro,
    pub(crate) cost_usd: Micro,
    pub(crate) sonnet_equivalent_tokens: i64,
    /// Input, output, read from and written into the cache.
    pub(crate) tokens: [i64; 4],
}

pub(crate) async fn totals(db: &TestDb, org_id: &str) -> Totals {
    let sums = [
        "amount_micro",
        "cost_usd_micro",
        "sonnet_equivalent_tokens",
        "input_tokens",
        "output_tokens",
        "cache_read_tokens",
        "cache_creation_tokens",
    ];
    let sums = sums.map(|column| format!("COALESCE(SUM({column}), 0)"));
    let sql = format!(
        "SELECT COUNT(*) || '|' || {} FROM ledger WHERE org_id = '{org_id}' AND mode = 'live' AND kind = 'debit'",
        sums.join(" || '|' || ")
    );
    let line = db.texts(&sql).await.remove(0);
    let cells: Vec<i64> = line.split('|').map(|cell| cell.parse().unwrap()).collect();
    let [
        requests,
        credits,
        cost_usd,
        sonnet_equivalent_tokens,
        input,
        output,
        read,
        written,
    ] = cells[..]
    else {
        panic!("{line}")
    };
    Totals {
        requests,
        credits: Micro(credits),
        cost_usd: Micro(cost_usd),
        sonnet_equivalent_tokens,
        tokens: [input, output, read, written],
    }
}
