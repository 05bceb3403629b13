import Crypto
import JOSE
import Testing

@Suite struct HTUTests {
    @Test(arguments: [
        ("https://example.com", "https://example.com/"),
        ("HTTPS://Example.COM/Path", "https://example.com/Path"),
        ("https://example.com:443/a", "https://example.com/a"),
        ("https://example.com:/a", "https://example.com/a"),
        ("http://example.com:80", "http://example.com/"),
        ("http://example.com:443/", "http://example.com:443/"),
        ("https://example.com:00443/", "https://example.com/"),
        ("https://example.com/a?b=c", "https://example.com/a"),
        ("https://example.com?b", "https://example.com/"),
        ("https://example.com/a#b", "https://example.com/a"),
        ("https://example.com#b", "https://example.com/"),
        ("https://example.com/a?b@c:d", "https://example.com/a"),
        ("https://example.com/%7euser/%2f%3A", "https://example.com/~user/%2F%3A"),
        ("https://example.com/a/./b/../c", "https://example.com/a/c"),
        ("https://example.com/a/%2e%2E/c", "https://example.com/c"),
        ("https://example.com/a/..", "https://example.com/"),
        ("https://example.com/a/b/.", "https://example.com/a/b/"),
        ("https://example.com/../../a", "https://example.com/a"),
        ("https://example.com/a/", "https://example.com/a/"),
        ("https://example.com/a//b", "https://example.com/a//b"),
        ("https://example.com//", "https://example.com//"),
        ("https://example.com/a.b/..c/...", "https://example.com/a.b/..c/..."),
        ("https://[::1]:8443/a", "https://[::1]:8443/a"),
        ("https://[2001:DB8::1]", "https://[2001:db8::1]/"),
        ("http://127.0.0.1:7421/acme/oauth2/challenge", "http://127.0.0.1:7421/acme/oauth2/challenge"),
        ("https://ex%41mple.com/", "https://example.com/"),
        ("https://example.com/a:b@c;d=e,f", "https://example.com/a:b@c;d=e,f"),
    ])
    func `a URL has one normal form`(url: String, normal: String) throws {
        #expect(try HTU.normalized(url) == normal)
        #expect(try HTU.normalized(normal) == normal)
        #expect(HTU.matches(url, normal))
    }

    @Test(arguments: [
        "", "example.com", "/path", "//example.com/", "https:", "https:/example.com", "https://", "https:///path",
        "https://:443/", "ftp://example.com/", "javascript:alert(1)", "https://user@example.com/",
        "https://user:pass@example.com/", "https://@example.com/", "https://example.com:x/",
        "https://example.com:65536/",
        "https://example.com:443443/", "https://example.com:-1/", "https://example.com:+443/", "https://[::1/",
        "https://[]/", "https://[::1]x/", "https://[g]/", "https://exa mple.com/", "https://example.com/a b",
        "https://example.com/%", "https://example.com/%4", "https://example.com/%zz", "https://example.com/\n",
        "https://example.com/é", "https://exämple.com/", "https://example.com/\\", "https://example.com/a|b",
        " https://example.com/", "https://example.com/\0", "https://a:b:c/",
    ])
    func `what is no plain http URL is refused`(url: String) {
        #expect(throws: JOSEError.self) { try HTU.normalized(url) }
        #expect(!HTU.matches(url, url))
    }

    @Test(arguments: [
        ("https://example.com/a", "https://example.com/a/"), ("https://example.com/a", "https://example.com/A"),
        ("https://example.com/a", "http://example.com/a"), ("https://example.com/a", "https://example.org/a"),
        ("https://example.com/a", "https://example.com:8443/a"),
        ("https://example.com/a/b", "https://example.com/a//b"),
        ("https://example.com/a/b", "https://example.com/a%2Fb"), ("https://example.com/", "https://example.com//"),
        ("https://example.com/a", "https://www.example.com/a"), ("https://example.com/a", "https://example.com./a"),
    ])
    func `different addresses do not match`(left: String, right: String) {
        #expect(!HTU.matches(left, right))
        #expect(!HTU.matches(right, left))
    }

    @Test func `a client drops query and fragment and nothing else`() {
        #expect(HTU.withoutQuery("HTTPS://Example.com:443/a/../b?c=d#e") == "HTTPS://Example.com:443/a/../b")
        #expect(HTU.withoutQuery("https://example.com/a#b?c") == "https://example.com/a")
        #expect(HTU.withoutQuery("https://example.com/a") == "https://example.com/a")
        #expect(HTU.withoutQuery("") == "")
    }

    @Test func `normalising never crashes and changes nothing the second time`() throws {
        var stream = EntropyStream(seed: [1])
        let pieces = Array("https://aA./../%2e%2F%41:443?#[]@é\\ 9".unicodeScalars).map { String($0) }
        for round in 0..<5000 {
            let text = "https://h" + stream.bytes(round % 24).map { pieces[Int($0) % pieces.count] }.joined()
            guard let normal = try? HTU.normalized(text) else { continue }
            #expect(try HTU.normalized(normal) == normal)
        }
    }
}
