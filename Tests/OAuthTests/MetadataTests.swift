import Encoding
import HTTP
import OAuth
import Testing

@Suite struct MetadataTests {
    private let issuer = "https://acme.idp.example/t1"

    private func document(_ changes: [String: JSON?] = [:]) -> [UInt8] {
        var document = JSONObject([
            ("issuer", .string(issuer)), ("authorization_challenge_endpoint", "https://acme.idp.example/t1/challenge"),
            ("token_endpoint", "https://acme.idp.example/t1/token?v=1"),
            ("device_ceremony_endpoint", "https://acme.idp.example/t1/device-ceremony"),
            ("code_challenge_methods_supported", ["plain", "S256"]),
            ("dpop_signing_alg_values_supported", ["ES256", "EdDSA"]), ("a_member_of_tomorrow", ["x": 1]),
        ])
        for (name, value) in changes { document[name] = value }
        return JSON.object(document).serialized()
    }

    private func read(
        _ body: [UInt8], status: Int = 200, mediaType: String? = "application/json; charset=utf-8",
        issuer: String? = nil, loopback: Bool = false
    ) throws(MetadataError) -> ServerMetadata {
        try ServerMetadata(
            status: status, mediaType: mediaType, body: body, issuer: issuer ?? self.issuer,
            allowPlainHTTPOnLoopback: loopback, ceremonyMember: "device_ceremony_endpoint")
    }

    @Test func `a good document gives its endpoints, and members it does not know are ignored`() throws {
        let metadata = try read(document(["revocation_endpoint": "https://other.example/revoke"]))
        #expect(metadata.issuer == issuer)
        #expect(metadata.authorizationChallengeEndpoint?.text == "https://acme.idp.example/t1/challenge")
        #expect(metadata.tokenEndpoint.text == "https://acme.idp.example/t1/token?v=1")
        #expect(metadata.revocationEndpoint?.text == "https://other.example/revoke")
        #expect(metadata.deviceCeremonyEndpoint?.text == "https://acme.idp.example/t1/device-ceremony")
        #expect(metadata.jwksURI == nil)
        #expect(!metadata.redirectsNameIssuer)
    }

    @Test(arguments: [
        "https://acme.idp.example/t1/", "https://acme.idp.example/T1", "https://ACME.idp.example/t1",
        "https://acme.idp.example:443/t1", "https://acme.idp.example/%741",
    ])
    func `the issuer must be the same bytes`(found: String) {
        #expect(throws: MetadataError.issuerMismatch(expected: issuer, found: found)) {
            try read(document(["issuer": .string(found)]))
        }
    }

    @Test func `an answer that is no JSON is named by status and media type`() {
        let page = Array("<html>".utf8)
        for (status, mediaType) in [(200, "text/html"), (404, "text/html; charset=utf-8"), (502, nil)] {
            let expected = MetadataError.answer(.notJSON(status: status, mediaType: mediaType))
            #expect(throws: expected) { try read(page, status: status, mediaType: mediaType) }
            #expect(expected.description.contains("\(status)"))
            #expect(expected.description.contains(mediaType ?? "none"))
        }
        #expect(throws: MetadataError.answer(.notAnObject(status: 200, found: "an array"))) {
            try read(Array("[]".utf8))
        }
        #expect(throws: MetadataError.self) { try read(Array("{".utf8)) }
        #expect(throws: MetadataError.self) { try read(Array(#"{"issuer":1,"issuer":2}"#.utf8)) }
        #expect(throws: MetadataError.answer(.unexpectedStatus(404))) { try read(document(), status: 404) }
    }

    @Test func `any JSON media type will do`() throws {
        for mediaType in ["application/json", "APPLICATION/JSON", "application/vnd.idp+json", "text/x+json"] {
            #expect(try read(document(), mediaType: mediaType).issuer == issuer)
        }
    }

    @Test(arguments: ["issuer", "token_endpoint"])
    func `a required member that is missing or no string is an error`(name: String) {
        #expect(throws: MetadataError.answer(.missing(member: name))) { try read(document([name: .none])) }
        #expect(throws: MetadataError.answer(.wrongType(member: name, expected: "a string", found: "a number"))) {
            try read(document([name: 7]))
        }
        #expect(throws: MetadataError.answer(.unusable(member: name, rule: "it is empty"))) {
            try read(document([name: ""]))
        }
    }

    @Test(arguments: [
        "/token", "token", "http://acme.idp.example/token", "http://127.0.0.1/token", "ftp://acme.idp.example/",
        "https://acme.idp.example/token#part", "https://user@acme.idp.example/", "https://", "javascript:alert(1)",
    ])
    func `an endpoint is an absolute URL no less secure than its issuer`(url: String) {
        for name in [
            "authorization_challenge_endpoint", "authorization_endpoint", "token_endpoint", "revocation_endpoint",
            "jwks_uri", "device_ceremony_endpoint", "registration_endpoint",
        ] {
            let error = #expect(throws: MetadataError.self) { try read(document([name: .string(url)])) }
            #expect(error?.code == "oauth.metadata.endpoint")
        }
    }

    @Test func `an optional endpoint of the wrong type is an error all the same`() {
        #expect(throws: MetadataError.self) { try read(document(["jwks_uri": 7])) }
        #expect(throws: MetadataError.self) { try read(document(["device_ceremony_endpoint": [:]])) }
    }

    @Test func `an issuer on loopback may be plain with the switch on, and its endpoints then too`() throws {
        let local = "http://127.0.0.1:7421/acme"
        let changes: [String: JSON?] = [
            "issuer": .string(local), "authorization_challenge_endpoint": .string(local + "/challenge"),
            "token_endpoint": .string(local + "/token"), "device_ceremony_endpoint": .string(local + "/ceremony"),
        ]
        #expect(try read(document(changes), issuer: local, loopback: true).issuer == local)
        #expect(throws: MetadataError.self) { try read(document(changes), issuer: local, loopback: false) }
        var away = changes
        away["token_endpoint"] = "http://acme.idp.example/token"
        #expect(throws: MetadataError.self) { try read(document(away), issuer: local, loopback: true) }
        away["token_endpoint"] = "https://acme.idp.example/token"
        #expect(try read(document(away), issuer: local, loopback: true).tokenEndpoint.isSecure)
    }

    @Test(arguments: [
        "http://acme.idp.example", "acme.idp.example", "https://acme.idp.example?x", "https://acme.idp.example#x",
        "", "https://acme.idp.example/?", "file:///etc",
    ])
    func `an issuer that is no plain https URL is refused`(issuer: String) {
        let error = #expect(throws: MetadataError.self) {
            try ServerMetadata.addresses(of: issuer, allowPlainHTTPOnLoopback: true)
        }
        #expect(error?.code == "oauth.metadata.issuer")
    }

    @Test func `what the server says it supports must contain what is used here`() throws {
        #expect(throws: MetadataError.unsupported(member: "code_challenge_methods_supported", needed: "S256")) {
            try read(document(["code_challenge_methods_supported": ["plain"]]))
        }
        #expect(throws: MetadataError.unsupported(member: "dpop_signing_alg_values_supported", needed: "ES256")) {
            try read(document(["dpop_signing_alg_values_supported": []]))
        }
        #expect(throws: MetadataError.self) { try read(document(["code_challenge_methods_supported": [1]])) }
        #expect(throws: MetadataError.self) { try read(document(["code_challenge_methods_supported": "S256"])) }
        let silent: [String: JSON?] = [
            "code_challenge_methods_supported": .none, "dpop_signing_alg_values_supported": .none,
        ]
        #expect(try read(document(silent)).issuer == issuer)
    }

    @Test func `the two addresses append to the issuer and insert into it`() throws {
        let cases = [
            (
                "https://idp.example", "https://idp.example/.well-known/openid-configuration",
                "https://idp.example/.well-known/oauth-authorization-server"
            ),
            (
                "https://idp.example/t1", "https://idp.example/t1/.well-known/openid-configuration",
                "https://idp.example/.well-known/oauth-authorization-server/t1"
            ),
            (
                "https://idp.example/t1/", "https://idp.example/t1/.well-known/openid-configuration",
                "https://idp.example/.well-known/oauth-authorization-server/t1"
            ),
        ]
        for (issuer, openID, oauth) in cases {
            let addresses = try ServerMetadata.addresses(of: issuer, allowPlainHTTPOnLoopback: false)
            #expect(addresses.openID == openID)
            #expect(addresses.oauth == oauth)
        }
    }
}
