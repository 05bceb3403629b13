import Crypto
import Encoding
import HTTP
import Testing

@testable import ReferenceIdP

/// Whatever is sent, the answer is a refusal with a reason: never a 5xx (``World/send`` looks), never a
/// crash, and never without a finding.
@Suite struct NonsenseTests {
    static let formPaths = ["/acme/oauth2/challenge", "/acme/oauth2/token", "/acme/oauth2/revoke"]
    static let ceremonyPaths = ["face-token", "attempt", "abort", "enroll", "signup"].map {
        "/acme/device-ceremony/\($0)"
    }
    static let managePaths = [
        "tenants", "tenants/acme/applications", "tenants/acme/users", "tenants/acme/users/x/import",
    ].map { "/manage/\($0)" }
    static let form = "application/x-www-form-urlencoded"

    static let bodies: [[UInt8]] = [
        [], [0], [0xFF, 0xFE], Array("client_id=%ZZ".utf8), Array("client_id=%FF".utf8), Array("%".utf8),
        Array("=".utf8), Array("&&&&".utf8), Array("client_id".utf8), Array("client_id=a&client_id=b".utf8),
        Array("response_type=code&client_id=\u{1F600}".utf8), Array(String(repeating: "a=b&", count: 300).utf8),
        Array("grant_type=refresh_token&client_id=app_demo&refresh_token=\(String(repeating: "x", count: 5000))".utf8),
        Array("{".utf8), Array("null".utf8), Array("[]".utf8), Array("\"x\"".utf8), Array("1e999".utf8),
        Array("{}".utf8), Array(#"{"request":null}"#.utf8), Array(#"{"request":1}"#.utf8),
        Array(#"{"request":""}"#.utf8), Array(#"{"request":"a.b.c"}"#.utf8), Array(#"{"request":"..."}"#.utf8),
        Array(#"{"request":"eyJhbGciOiJub25lIn0.e30."}"#.utf8), Array(#"{"request":["x"]}"#.utf8),
        Array(#"{"request":"x","request":"y"}"#.utf8), Array(#"{"email":"x","email":"y"}"#.utf8),
        Array(#"{"email":{"a":1}}"#.utf8), Array(#"{"email":""}"#.utf8), Array(#"{"ticket":7,"enrollment":[]}"#.utf8),
        Array(String(repeating: "[", count: 100_000).utf8),
        Array((String(repeating: #"{"a":"#, count: 5000) + "1" + String(repeating: "}", count: 5000)).utf8),
        Array(#"{"request":"\#(String(repeating: "a", count: 100_000))"}"#.utf8),
        Array(#"{"request":"\#(String(repeating: "A", count: 20)).\#(String(repeating: "A", count: 20)).AAAA"}"#.utf8),
        [0xEF, 0xBB, 0xBF] + Array("{}".utf8), Array(#"{"request":"\uD800"}"#.utf8),
    ]

    @Test(arguments: formPaths + ceremonyPaths + managePaths)
    func `nonsense bodies of every content type are refused with a finding`(path: String) throws {
        let world = try World()
        for body in Self.bodies {
            for type in [Self.form, "application/json", "text/plain", "multipart/form-data; boundary=x", ";;", ""] {
                let before = world.idp.findings.total
                let response = world.send(
                    "POST", path, fields: type.isEmpty ? [] : [("Content-Type", type)], body: body)
                guard (200..<300).contains(response.status) else {
                    #expect((400..<500).contains(response.status))
                    #expect(world.idp.findings.total == before + 1)
                    continue
                }
                #expect(path.hasSuffix("applications"), "an empty application is one with defaults")
            }
        }
    }

    @Test(arguments: formPaths + ceremonyPaths + managePaths + ["/acme/oauth2/token?x=%"])
    func `a body of twenty megabytes is refused before it is read`(path: String) throws {
        let world = try World()
        let body = [UInt8](repeating: 0x61, count: 20 << 20)
        for type in [Self.form, "application/json"] {
            #expect(world.send("POST", path, fields: [("Content-Type", type)], body: body).status == 413)
        }
        #expect(world.brokenRules.allSatisfy { $0 == "request.size" })
    }

    @Test func `two content types are none`() throws {
        let world = try World()
        let fields = [("Content-Type", Self.form), ("Content-Type", "application/json")]
        #expect(world.send("POST", "/acme/oauth2/token", fields: fields).summary == "400 invalid_request")
    }

    @Test(arguments: [
        "", "*", "x", "//", "/%00", "/%", "/acme/%2e%2e/manage/tenants", "/acme/../manage", "/manage%2Ftenants",
        "/.well-known", "/.well-known/oauth-authorization-server", "/.well-known/oauth-authorization-server/",
        "/manage/", "/manage/tenants/%2e%2e", "/manage/tenants/acme/users?after=%00&limit=1",
        "http://127.0.0.1:7421/acme/nowhere", "/\u{1F600}", "/acme?x", "?",
    ])
    func `odd targets are answered`(target: String) throws {
        let world = try World()
        for surface in [IdPSurface.identityProvider, .resourceAPI] {
            for method in ["GET", "POST", "", "\u{0}", "CONNECT"] {
                _ = world.send(method, target, surface: surface)
            }
        }
    }

    @Test func `a DPoP field of any shape is answered`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().signIn()
        let oversized = String(repeating: "a", count: 60_000)
        for value in ["", " ", ",", ".", "..", "a.b.c", "a.b.c.d", "eyJ9.e30.AAAA", oversized, "\u{1F600}", "=.=.="] {
            for endpoint in MutationTests.Endpoint.allCases where endpoint != .token {
                let response = try endpoint.call(phone, .init(values: { _ in [value] }))
                #expect(response.error == "invalid_dpop_proof")
            }
        }
    }

    /// Every byte of a good request replaced in turn by others: what still works must not be a surprise, and
    /// what does not must be a refusal.
    @Test func `a good request with one byte changed never surprises`() throws {
        let world = try World()
        let phone = try Phone(world).enrol().begin()
        let jws = try phone.ceremony("face-token")
        let body = JSON.object([("request", .string(jws))]).serialized()
        let fields = [("Content-Type", "application/json")]
        var accepted = 0
        for index in body.indices {
            for replacement in [body[index] ^ 1, 0x00, 0xFF, UInt8(ascii: "\"")] where replacement != body[index] {
                var changed = body
                changed[index] = replacement
                let response = world.send("POST", "/acme/device-ceremony/face-token", fields: fields, body: changed)
                if response.status == 200 { accepted += 1 }
            }
        }
        #expect(accepted == 0)
    }

    @Test func `random bytes as forms, proofs and tokens are refused`() throws {
        let world = try World()
        var entropy = EntropyStream(seed: [9])
        for round in 0..<400 {
            let bytes = entropy.bytes(round % 97)
            let text = String(decoding: bytes, as: UTF8.self)
            for path in Self.formPaths {
                _ = world.send("POST", path, fields: [("Content-Type", Self.form), ("DPoP", text)], body: bytes)
                _ = world.post(
                    path, form: [("client_id", "app_demo"), ("grant_type", text), ("token", text), ("code", text)],
                    proofs: [text])
            }
            _ = world.send(
                "GET", "/acme/accounts", fields: [("Authorization", "DPoP " + text), ("DPoP", text)],
                surface: .resourceAPI)
        }
        #expect(try world.realm().grants.count == 0)
    }
}
