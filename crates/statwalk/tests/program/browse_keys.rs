// SPDX-License-Identifier: MIT OR Apache-2.0

//! Keys that were typed before the user saw what they would do.

use super::browse::{remover, tree};
use statwalk_testkit::or_skip;

/// "today", pasted or typed ahead, moved the item under the cursor to the trash: `d` asks,
/// and `y` answered a dialog that was never drawn.
#[test]
fn keys_typed_ahead_do_not_confirm() {
    for ahead in [
        "today",
        "dy",
        "dyyyyyyyyyyyyyyyyyyyyyyy",
        "d\t\t\rsub\r",
        "d\t\ry",
    ] {
        let tree = tree();
        let mut browser = or_skip!(remover(&tree, &["--enable-delete", "tree"]));
        browser.press(ahead);
        browser.wait_for("[Cancel]");
        std::thread::sleep(std::time::Duration::from_millis(200));
        browser.wait_for("[Cancel]");
        assert!(tree.path().join("sub/a").exists(), "{ahead}");
        // A key that comes after the dialog counts.
        browser.press("y");
        browser.wait_for("is in the trash");
        assert!(!tree.path().join("sub").exists());
        browser.press("q");
        assert_eq!(browser.end().0.code(), Some(0));
    }
}

#[test]
fn a_paste_is_text_and_no_key() {
    let tree = tree();
    let mut browser = or_skip!(remover(&tree, &["--enable-delete", "tree"]));
    browser.press("\x1b[200~d\x1b[201~");
    browser.wait_for("a pasted text is no key");
    assert!(!browser.screen().contains("Cancel"));
    browser.press("d");
    browser.wait_for("[Cancel]");
    browser.press("\x1b[200~y\x1b[201~\x1b[200~\r\x1b[201~");
    browser.press("\t\t\r\x1b[200~sub\r\x1b[201~\r");
    browser.wait_for("[Remove forever]");
    assert!(tree.path().join("sub/a").exists());
    browser.press("\x1b");
    browser.wait_for("nothing was removed");
    // Where a line is typed, it is text without control characters.
    browser.press("/");
    browser.press("\x1b[200~la\r\x03rge\x1b[201~");
    browser.wait_for("large");
    wait_for_no(&browser, "sub/");
    browser.press("\rq");
    let (status, _, shown) = browser.end();
    assert_eq!(status.code(), Some(0));
    assert!(shown.contains("\x1b[?2004h") && shown.contains("\x1b[?2004l"));
}

fn wait_for_no(browser: &super::browse::Browser, text: &str) {
    super::run::wait_until(text, || !browser.screen().contains(text));
}
