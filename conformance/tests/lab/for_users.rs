//! The examples for people who test their own Rust code, as `client/README.md` and `LAB.md` show them.

use std::path::Path;

use sallyport_client::{Client, Error};
use sallyport_conformance::lab::{Sandbox, SandboxTokens};

/// The function under test.
async fn group_names(client: &Client) -> Result<Vec<String>, Error> {
    Ok(client.groups().await?.into_iter().map(|group| group.name).collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn my_code_waits_for_a_busy_service() -> Result<(), Box<dyn std::error::Error>> {
    let sandbox = Sandbox::start("[[default.groups]]\nstatus = 429\nretry-after = 1").await?;
    let client = Client::builder().base_url(sandbox.base_url()).token(sandbox.token()).build()?;
    assert!(group_names(&client).await?.contains(&"warehouse".to_owned()));
    assert_eq!(sandbox.journal().entries().len(), 2, "the first listing was throttled");
    let shown = format!("{:?} {:?}", sandbox.journal(), sandbox.journal().entries());
    assert!(!shown.contains(&sandbox.token()[..sandbox.token().len() / 2]), "{shown}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn my_code_sees_a_whitelist_expire() -> Result<(), Box<dyn std::error::Error>> {
    let sandbox = Sandbox::start("").await?;
    let token = sandbox.server().sample().tokens.second.expose();
    let client = Client::builder().base_url(sandbox.base_url()).token(token).build()?;
    assert_eq!(client.extract(1).await?.endpoints.len(), 1);
    sandbox.server().set_time("2400-03-01T00:00:00Z".parse()?).await?;
    assert!(matches!(client.extract(1).await, Err(Error::Rejected(_))));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_can_be_fixed() -> Result<(), Box<dyn std::error::Error>> {
    let sandbox = Sandbox::with_tokens("", SandboxTokens::FIXED, |lab| lab).await?;
    let again = Sandbox::with_tokens("", SandboxTokens::FIXED, |lab| lab).await?;
    assert_eq!(again.token(), sandbox.token());
    Ok(())
}

/// Every line of the examples that the pages show and no compiler sees stands here or in the docs of [`Sandbox`].
#[test]
fn the_pages_show_what_runs_here() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(root.join(path)).expect("a file of the repository");
    let ran = format!("{}{}", include_str!("for_users.rs"), read("lab/src/sandbox.rs").replace("/// ", ""));
    let is_run = |line: &str| line.is_empty() || ran.lines().any(|other| other.trim() == line);
    let mut shown = 0;
    for (page, mark) in [("../client/README.md", "```rust,ignore"), ("LAB.md", "```rust")] {
        let text = read(page);
        for block in text.split(&format!("{mark}\n")).skip(1) {
            let block = block.split("```").next().unwrap_or_default();
            for line in block.lines().map(str::trim) {
                assert!(is_run(line), "{page}: `{line}` is not run");
                shown += 1;
            }
        }
    }
    assert!(shown > 20, "{shown}");
}
