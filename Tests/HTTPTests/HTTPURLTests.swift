import Encoding
import HTTP
import Testing

struct HTTPURLTests {
    @Test(arguments: [
        ("https://idp.test", "https://idp.test", "/", 443),
        ("HTTPS://IdP.Test:443/", "https://idp.test", "/", 443),
        ("http://idp.test:80/a", "http://idp.test", "/a", 80),
        ("https://idp.test:80/a", "https://idp.test:80", "/a", 80),
        ("http://h:65535?q=/?", "http://h:65535", "/?q=/?", 65535),
        ("https://h/u/a%40b/%7e/.././/;p=1?x=%2F#top", "https://h", "/u/a%40b/%7e/.././/;p=1?x=%2F", 443),
        ("http://127.0.0.1:08080/", "http://127.0.0.1:8080", "/", 8080),
        ("https://[2001:DB8:0:0:1:0:0:1]/", "https://[2001:db8::1:0:0:1]", "/", 443),
        ("http://[::1]:8443", "http://[::1]:8443", "/", 8443),
        ("http://[::ffff:192.0.2.1]", "http://[::ffff:c000:201]", "/", 80),
        ("http://[::]", "http://[::]", "/", 80),
        ("http://[1:2:3:4:5:6:7::]", "http://[1:2:3:4:5:6:7:0]", "/", 80),
        ("http://my_host.internal.", "http://my_host.internal.", "/", 80),
    ])
    func `a URL is read and its target kept byte for byte`(
        text: String, origin: String, target: String, port: Int
    ) throws {
        let url = try HTTPURL(text)
        #expect(url.origin == origin)
        #expect(url.target == target)
        #expect(url.port == port)
        #expect(url.text == origin + target)
        #expect(try HTTPURL(url.text) == url)
    }

    @Test(
        arguments: [
            ("", .scheme), ("idp.test", .scheme), ("/path", .scheme), ("ftp://h/", .scheme), ("http", .scheme),
            (" http://h/", .scheme), ("http:h", .missingHost), ("http:/h", .missingHost), ("http://", .missingHost),
            ("http:///p", .missingHost), ("https://?q", .missingHost), ("https://#f", .missingHost),
            ("https://u@h/", .userInformation), ("https://u:p@h/", .userInformation),
            ("https://h@/", .userInformation), ("https://h:0/", .port), ("https://h:65536/", .port),
            ("https://h:/", .port), ("https://h:8x/", .port), ("https://h:-1/", .port), ("https://h:000080/", .port),
            ("https://:80/", .host), ("https://h h/", .host), ("https://é.test/", .host), ("https://a%2eb/", .host),
            ("https://a,b/", .host), ("https://a..b/", .host), ("https://.a/", .host), ("https://127.1/", .host),
            ("https://2130706433/", .host), ("https://0x7f.0.0.1/", .host), ("https://1.2.3.256/", .host),
            ("https://1.2.3.04/", .host), ("https://a.0x1/", .host), ("https://[::1/", .host), ("https://::1/", .host),
            ("https://[]/", .host), ("https://[1::2::3]/", .host), ("https://[:::]/", .host),
            ("https://[1:2:3:4:5:6:7:8:9]/", .host), ("https://[1:2:3:4:5:6:7:8::]/", .host),
            ("https://[12345::]/", .host), ("https://[::1%25eth0]/", .host), ("https://[v1.a]/", .host),
            ("https://[1.2.3.4::]/", .host), ("https://[::1]x/", .host), ("https://h\\a/", .host),
            ("https://h/a b", .path), ("https://h/é", .path), ("https://h/%", .path), ("https://h/%4", .path),
            ("https://h/%4g", .path), ("https://h/a\\b", .path), ("https://h/\"", .path), ("https://h/[", .path),
            ("https://h/?a b", .query), ("https://h/?%zz", .query), ("https://h/?a|b", .query),
            ("https://h/#a b", .fragment), ("https://h/#a#b", .fragment), ("https://h/\r\nX: y", .path),
            ("https://h/" + String(repeating: "a", count: 8000), .tooLong(limit: 8000)),
        ] as [(String, HTTPURLError)])
    func `a URL that breaks a rule is refused by the name of the part`(text: String, error: HTTPURLError) {
        #expect(throws: error) { try HTTPURL(text) }
    }

    @Test(arguments: [
        ("http://127.0.0.1", true), ("http://127.255.0.3:99", true), ("http://[::1]", true),
        ("http://[0:0:0:0:0:0:0:1]", true), ("http://LOCALHOST", true), ("http://a.b.localhost", true),
        ("http://128.0.0.1", false), ("http://localhost.test", false), ("http://127.0.0.1.test", false),
        ("http://notlocalhost", false), ("http://[::2]", false), ("http://[::ffff:127.0.0.1]", false),
        ("http://0.0.0.0", false),
    ])
    func `only names and addresses of this machine are loopback`(text: String, isLoopback: Bool) throws {
        #expect(try HTTPURL(text).isLoopback == isLoopback)
    }

    @Test func `equal URLs are those with equal origin and raw target`() throws {
        #expect(try HTTPURL("HTTP://A.test:80") == HTTPURL("http://a.test/"))
        #expect(try HTTPURL("http://a.test/%7E") != HTTPURL("http://a.test/~"))
        #expect(try HTTPURL("http://a.test/x") != HTTPURL("http://a.test/x/"))
        #expect(try HTTPURL("http://a.test/") != HTTPURL("https://a.test:80/"))
    }

    @Test(arguments: [
        ("https://h", "par", "https://h/par"), ("https://h/", "/par", "https://h/par"),
        ("https://h/a", "b/c", "https://h/a/b/c"), ("https://h/a/", "/b?x=1", "https://h/a/b?x=1"),
        ("https://h/a?q=1", "b", "https://h/a/b"), ("http://[::1]:1/a%2F", "%2F", "http://[::1]:1/a%2F/%2F"),
    ])
    func `a path is appended with one slash between`(base: String, path: String, result: String) throws {
        #expect(try HTTPURL(base).appending(path: path).text == result)
        #expect(throws: HTTPURLError.path) { try HTTPURL(base).appending(path: "a b") }
    }

    @Test func `a target is replaced as a whole`() throws {
        let url = try HTTPURL("https://h:1/a?b")
        #expect(try url.replacing(target: "/c%20?d").text == "https://h:1/c%20?d")
        #expect(throws: HTTPURLError.path) { try url.replacing(target: "c") }
        #expect(throws: HTTPURLError.path) { try url.replacing(target: "") }
    }

    @Test func `the description leaves the query out`() throws {
        #expect(try HTTPURL("https://h/cb?code=secret").description == "https://h/cb")
    }

    @Test func `random text is either refused or reads the same again`() throws {
        var dice = Dice(seed: 7)
        let alphabet = Array("htps:/[]@#?%.0179afAF-_~:::///".utf8)
        var read = 0
        for _ in 0..<20_000 {
            let tail = (0..<Int.random(in: 0...14, using: &dice)).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &dice)]
            }
            let text = "http://" + String(decoding: tail, as: UTF8.self)
            guard let url = try? HTTPURL(text) else { continue }
            read += 1
            #expect(try HTTPURL(url.text) == url, "\(text)")
        }
        #expect(read > 100)
    }
}
