//! Callers who take their time: nginx hangs up on them, and the others never notice.

use std::io::Write;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::caller::{ask, encrypted, plain, rest};
use super::proxy::installed;
use super::{CALLER, assert_quiet, behind, groups, search};

/// The preface of HTTP/2 and settings that change nothing.
const HTTP_2: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/// Sends one byte after the other, each in time for a limit that only looks at pauses. Whether it was hung up on.
fn drip(mut stream: impl Write + Send + 'static) -> JoinHandle<bool> {
    thread::spawn(move || {
        for _ in 0..120 {
            if stream.write_all(b"X").and_then(|()| stream.flush()).is_err() {
                return true;
            }
            thread::sleep(Duration::from_millis(500));
        }
        false
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_and_idle_callers_are_hung_up_on() {
    let Some(program) = installed() else { return };
    let (server, nginx) = behind(&program).await;

    let silent = plain(&nginx, CALLER).await;
    let mut half_a_handshake = plain(&nginx, CALLER).await;
    half_a_handshake.write_all(b"\x16\x03\x01\x02\x00\x01\x00").expect("written");
    // The first bytes promise a long greeting, of which each byte comes late.
    let mut slow_handshake = plain(&nginx, CALLER).await;
    slow_handshake.write_all(b"\x16\x03\x01\x02\x00\x01\x00").expect("written");
    let mut slow_head = encrypted(&nginx, CALLER, "http/1.1").await;
    write!(slow_head, "{}\r\nX: ", groups(&server)).expect("written");
    let dripping = [drip(slow_handshake), drip(slow_head)];
    let mut half_a_head = encrypted(&nginx, CALLER, "http/1.1").await;
    write!(half_a_head, "{}\r\nHost: loc", groups(&server)).expect("written");
    let mut half_a_body = encrypted(&nginx, CALLER, "http/1.1").await;
    write!(half_a_body, "{}\r\nHost: localhost\r\n\r\n{{", search(&server, 9)).expect("written");
    let mut idle = encrypted(&nginx, CALLER, "http/1.1").await;
    write!(idle, "{}\r\nHost: localhost\r\n\r\n", groups(&server)).expect("written");
    let mut idle_2 = encrypted(&nginx, CALLER, "h2").await;
    idle_2.write_all(HTTP_2).expect("written");

    assert_eq!(ask(&nginx, CALLER, &groups(&server), b"").await.status, 200);
    let mut waiting: Vec<Box<dyn std::io::Read + Send>> = vec![
        Box::new(silent),
        Box::new(half_a_handshake),
        Box::new(half_a_head),
        Box::new(half_a_body),
        Box::new(idle_2),
    ];
    // `rest` fails when an end does not come.
    let ended = tokio::task::spawn_blocking(move || {
        for stream in &mut waiting {
            rest(stream);
        }
        for slow in dripping {
            assert!(slow.join().expect("no panic"), "slow bytes keep a connection open");
        }
        rest(&mut idle)
    });
    assert!(ended.await.expect("all ended").starts_with("HTTP/1.1 200"), "the idle one was served before");
    assert_eq!(ask(&nginx, CALLER, &groups(&server), b"").await.status, 200);
    assert_quiet(&nginx, &server);
    server.close().await;
}
