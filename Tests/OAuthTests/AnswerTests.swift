import Encoding
import OAuth
import Testing

@Suite struct AnswerTests {
    private func challenge(
        _ status: Int, _ body: JSON, mediaType: String? = "application/json"
    ) throws(AnswerError) -> ChallengeAnswer {
        try ChallengeAnswer(status: status, mediaType: mediaType, body: body.serialized())
    }

    @Test func `a code is a code`() throws {
        #expect(try challenge(200, ["authorization_code": "c", "more": [1]]) == .code("c"))
        #expect(throws: AnswerError.missing(member: "authorization_code")) { try challenge(200, ["code": "c"]) }
        #expect(throws: AnswerError.self) { try challenge(200, ["authorization_code": 1]) }
        #expect(throws: AnswerError.self) { try challenge(201, ["authorization_code": "c"]) }
    }

    @Test(arguments: [403, 400, 401]) func `more is asked with any status a revision of the draft had`(
        status: Int
    ) throws {
        let body: JSON = ["error": "insufficient_authorization", "auth_session": "s", "expires_in": 300, "x": ["y": 1]]
        guard case .goOn(let session) = try challenge(status, body, mediaType: "application/fipa+json") else {
            Issue.record("not a challenge")
            return
        }
        #expect(session.handle == "s")
        #expect(session.expiresInSeconds == 300)
        #expect(session.status == status)
        #expect(try session.members.members("x").integer("y", in: 0...9) == 1)
        #expect(!session.description.contains("\"s\""))
    }

    @Test func `a challenge without its session is malformed, with another status a refusal`() throws {
        let error: JSON = ["error": "insufficient_authorization"]
        #expect(throws: AnswerError.missing(member: "auth_session")) { try challenge(403, error) }
        for session: JSON in [7, "", "a b", "a\n", "é"] {
            #expect(throws: AnswerError.self) {
                try challenge(403, ["error": "insufficient_authorization", "auth_session": session])
            }
        }
        guard case .refused(let refusal) = try challenge(404, error) else {
            Issue.record("not a refusal")
            return
        }
        #expect(refusal.code == .insufficientAuthorization)
        #expect(throws: AnswerError.self) {
            try challenge(
                403, ["error": "insufficient_authorization", "auth_session": "s", "expires_in": "300"])
        }
    }

    @Test func `error codes are an open set, and odd characters are borne and made fit to show`() throws {
        for code in ["a_code_of_tomorrow", "with \"quotes\" and \\", "naïve", String(repeating: "x", count: 999)] {
            guard case .refused(let error) = try challenge(400, ["error": .string(code)]) else {
                Issue.record("not a refusal")
                continue
            }
            #expect(error.code.rawValue == code)
            #expect(error.description.unicodeScalars.count <= DisplayText.limit + 1)
        }
        guard
            case .refused(let error) = try challenge(
                400, ["error": "a", "error_description": "two\r\nlines \u{1B}[31m"])
        else { return }
        #expect(error.description == "a (two\u{FFFD}\u{FFFD}lines \u{FFFD}[31m)")
        guard case .refused(let odd) = try challenge(400, ["error": "a", "error_description": 7]) else { return }
        #expect(odd.detail == nil)
    }

    @Test func `a refusal must say what it is`() {
        for error: JSON in [.null, 7, "", ["code": "x"]] {
            #expect(throws: AnswerError.missing(member: "error")) { try challenge(400, ["error": error]) }
        }
        #expect(throws: AnswerError.unexpectedStatus(302)) { try challenge(302, ["error": "x"]) }
        #expect(throws: AnswerError.notJSON(status: 400, mediaType: nil)) {
            try challenge(400, ["error": "x"], mediaType: nil)
        }
    }

    @Test func `a token response is strict on types and tolerant of the unknown`() throws {
        let good: [(String, JSON)] = [
            ("access_token", "a.b-c"), ("token_type", "dPoP"), ("expires_in", 300), ("id_token", "i"),
            ("refresh_token", "r"), ("scope", "openid  email"), ("more", [:]),
        ]
        func read(_ changes: [(String, JSON?)] = []) throws(AnswerError) -> TokenResponse {
            var body = JSONObject(good)
            for (name, value) in changes { body[name] = value }
            return try TokenResponse(
                status: 200, mediaType: "application/json", body: JSON.object(body).serialized())
        }
        let response = try read()
        #expect(response.accessToken == "a.b-c")
        #expect(response.isDPoPBound)
        #expect(response.expiresInSeconds == 300)
        #expect(response.scope == ["openid", "email"])
        #expect(!String(reflecting: response).contains("a.b-c"))
        #expect(try !read([("token_type", "Bearer")]).isDPoPBound)
        let bare = try read([("id_token", .none), ("refresh_token", .none), ("scope", .none)])
        #expect(bare.idToken == nil && bare.refreshToken == nil && bare.scope == nil)
        let wrong: [(String, JSON?)] = [
            ("access_token", .none), ("access_token", "a b"), ("access_token", "a\"b"), ("access_token", ["a"]),
            ("token_type", .none), ("token_type", 1), ("expires_in", .none), ("expires_in", "300"),
            ("expires_in", .double(1.5)), ("expires_in", 0), ("expires_in", -1), ("id_token", 1), ("refresh_token", ""),
            ("scope", []),
        ]
        for (name, value) in wrong {
            #expect(throws: AnswerError.self, "\(name)") { try read([(name, value)]) }
        }
        #expect(throws: AnswerError.unexpectedStatus(201)) {
            try TokenResponse(status: 201, mediaType: "application/json", body: [])
        }
    }

    @Test func `what was issued is found as leniently as can be`() {
        func found(_ json: String, status: Int = 200) -> IssuedGrant? {
            IssuedGrant(status: status, body: Array(json.utf8))
        }
        #expect(found(#"{"access_token":"a","refresh_token":"r"}"#)?.token == "r")
        #expect(found(#"{"access_token":"a","refresh_token":7}"#)?.kind == .accessToken)
        #expect(found(#"{"refresh_token":"r"}"#, status: 201)?.kind == .refreshToken)
        #expect(found(#"{"access_token":"a"}"#, status: 400) == nil)
        #expect(found("<html>") == nil)
        #expect(found("{}") == nil)
    }

    @Test func `requests to the token and revocation endpoints carry what the RFCs ask, and no redirect`() {
        #expect(
            GrantRequests.code("c", verifier: "v", clientID: "app").fields.map(\.name) == [
                "grant_type", "code", "code_verifier", "client_id",
            ])
        #expect(GrantRequests.refresh("r", clientID: "app")["grant_type"] == "refresh_token")
        let revocation = GrantRequests.revocation("t", kind: .refreshToken, clientID: "app")
        #expect(revocation["token"] == "t")
        #expect(revocation["token_type_hint"] == "refresh_token")
        #expect(revocation["client_id"] == "app")
    }

    @Test func `a retry time is seconds or an HTTP date`() {
        // 1994-11-06T08:49:37Z, the date of RFC 9110 section 5.6.7.
        let now = Instant(seconds: 784_111_777)
        let cases: [(String?, Int64?)] = [
            (nil, nil), ("0", 0), ("120", 120), ("999999999999999999999", 86_400), ("-1", nil), ("1.5", nil), ("", nil),
            ("soon", nil), ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("Sun, 06 Nov 1994 08:50:37 GMT", 60),
            ("Sun, 06 Nov 1994 08:48:37 GMT", 0), ("Thu, 01 Mar 2040 00:00:00 GMT", 86_400),
            ("Sun, 06 Nov 1994 08:49:37 CET", nil), ("Sun, 6 Nov 1994 08:49:37 GMT", nil),
            ("Sun, 06 Nov 1994 25:49:37 GMT", nil), ("Sunday, 06-Nov-94 08:49:37 GMT", nil),
        ]
        for (value, expected) in cases { #expect(RetryAfter.seconds(value, at: now) == expected, "\(value ?? "-")") }
    }

    @Test(arguments: [
        (951_782_400 as Int64, "Tue, 29 Feb 2000 00:00:00 GMT"), (1_709_164_800, "Thu, 29 Feb 2024 00:00:00 GMT"),
        (1_735_689_599, "Tue, 31 Dec 2024 23:59:59 GMT"), (1_740_787_200, "Sat, 01 Mar 2025 00:00:00 GMT"),
        (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
    ])
    func `an HTTP date is the second it names`(seconds: Int64, text: String) {
        for offset in [0, 1, 59] as [Int64] {
            let now = Instant(seconds: seconds - offset)
            #expect(RetryAfter.seconds(text, at: now) == offset)
        }
    }

    @Test func `a nonce field is one nonce of the right characters`() {
        #expect(DPoPNonceField.nonce(["abc-._~"]) == "abc-._~")
        for values in [
            [], ["a", "b"], [""], ["a b"], ["a\"b"], ["a\\b"], ["é"], [String(repeating: "a", count: 1025)],
        ] {
            #expect(DPoPNonceField.nonce(values) == nil)
        }
    }
}
