//! `fake-model [port] [key]` is the model of the acceptance tests, to be tried by hand: point an agent at the address it
//! prints. Each request is a line on stdout.

use std::time::Duration;

use hedgerow_testkit::outside::model::FakeModel;

#[tokio::main]
#[expect(clippy::print_stdout, reason = "this program's words to a person")]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let port = arguments.first().map_or(Ok(0), |port| port.parse())?;
    let key = arguments.get(1).map_or("dummy", String::as_str);
    let model = FakeModel::start_at(key, port).await?;
    println!("{}", model.url());
    let (mut told, mut warned) = (0, 0);
    loop {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let (requests, faults) = (model.requests(), model.faults());
        for request in &requests[told..] {
            println!("{} {} {} {:?} {:?}", request.status, request.method, request.path, request.key, request.model);
        }
        for fault in &faults[warned..] {
            println!("fault: {fault}");
        }
        (told, warned) = (requests.len(), faults.len());
    }
}
