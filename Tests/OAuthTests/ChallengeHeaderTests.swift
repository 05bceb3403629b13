import OAuth
import Testing

@Suite struct ChallengeHeaderTests {
    private func parse(_ fields: String...) throws(ChallengeHeaderError) -> [AuthChallenge] {
        try AuthChallenges(fields: fields).challenges
    }

    private func pairs(_ challenge: AuthChallenge) -> [String] {
        challenge.parameters.map { "\($0.name)=\($0.value)" }
    }

    @Test func `one challenge with parameters`() throws {
        let found = try parse(#"DPoP error="invalid_token", error_description="it has expired", algs="ES256 PS256""#)
        #expect(found.count == 1)
        #expect(found[0].isScheme("dpop"))
        #expect(pairs(found[0]) == ["error=invalid_token", "error_description=it has expired", "algs=ES256 PS256"])
    }

    @Test func `several challenges in one field are told apart`() throws {
        // The example of RFC 9110 section 11.6.1.
        let found = try parse(#"Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\"""#)
        #expect(found.map(\.scheme) == ["Basic", "Newauth"])
        #expect(pairs(found[0]) == ["realm=simple"])
        #expect(pairs(found[1]) == ["realm=apps", "type=1", #"title=Login to "apps""#])
    }

    @Test func `several fields are read in order`() throws {
        let found = try parse("Negotiate", #"Basic realm="x""#, "DPoP algs=ES256")
        #expect(found.map(\.scheme) == ["Negotiate", "Basic", "DPoP"])
    }

    @Test func `a token68 is no parameter`() throws {
        for text in ["YWJj", "YWJj=", "YWJj==", "a-b._~+/c", "realm"] {
            let found = try parse("Negotiate \(text), DPoP algs=\"ES256\"")
            #expect(found.map(\.scheme) == ["Negotiate", "DPoP"], "\(text)")
            #expect(found[0].token68 == text)
            #expect(found[0].parameters.isEmpty)
        }
    }

    @Test func `schemes without anything stand beside others`() throws {
        let found = try parse(#"DPoP, Bearer, Basic realm="x", Negotiate"#)
        #expect(found.map(\.scheme) == ["DPoP", "Bearer", "Basic", "Negotiate"])
    }

    @Test func `empty elements, blanks and tabs are borne`() throws {
        let found = try parse(" ,, ,DPoP  error = \"use_dpop_nonce\"\t,, algs=\"ES256\" , ,Basic realm=x,")
        #expect(found.map(\.scheme) == ["DPoP", "Basic"])
        #expect(pairs(found[0]) == ["error=use_dpop_nonce", "algs=ES256"])
        #expect(try parse("", " ", ",").isEmpty)
    }

    @Test func `commas, equals signs and schemes inside quotes are text`() throws {
        let found = try parse(#"Basic realm="a, DPoP error=\"use_dpop_nonce\", b=c""#)
        #expect(found.count == 1)
        #expect(found[0]["realm"] == #"a, DPoP error="use_dpop_nonce", b=c"#)
        let all = try AuthChallenges(fields: [#"Basic realm="a, DPoP error=\"use_dpop_nonce\"""#])
        #expect(!all.wantDPoPNonce)
    }

    @Test func `names are compared without regard to case, values with`() throws {
        let all = try AuthChallenges(fields: [#"dPoP ErRoR="use_dpop_nonce""#])
        #expect(all.wantDPoPNonce)
        #expect(try !AuthChallenges(fields: [#"DPoP error="USE_DPOP_NONCE""#]).wantDPoPNonce)
        #expect(try AuthChallenges(fields: ["DPoP error=use_dpop_nonce"]).wantDPoPNonce)
    }

    @Test func `the nonce question is DPoP's alone, invalid_token anybody's`() throws {
        #expect(try !AuthChallenges(fields: [#"Bearer error="use_dpop_nonce""#]).wantDPoPNonce)
        #expect(try AuthChallenges(fields: [#"Bearer error="invalid_token""#]).sayInvalidToken)
        #expect(try AuthChallenges(fields: ["Basic realm=x, DPoP error=invalid_token"]).sayInvalidToken)
        #expect(try !AuthChallenges(fields: [#"DPoP error="insufficient_scope""#]).sayInvalidToken)
        #expect(try !AuthChallenges(fields: []).sayInvalidToken)
    }

    @Test(arguments: [
        ("DPoP error=\"x", ChallengeHeaderError.unterminatedString), (#"DPoP error="x\"#, .unterminatedString),
        ("DPoP a=b, error=", .unexpected(offset: 16)), ("DPoP a=b, error=,", .unexpected(offset: 16)),
        ("DPoP a=b c=d", .unexpected(offset: 8)), (#"DPoP a="b"c"#, .unexpected(offset: 10)),
        ("\"quoted\"", .unexpected(offset: 0)), ("DPoP\u{1}", .unexpected(offset: 4)),
        ("DPoP a=\"\u{7F}\"", .unexpected(offset: 8)), ("DPoP a=1, A=2", .repeatedParameter("a")),
        ("DPoP error=\"a\r\nb\"", .unexpected(offset: 13)), ("DPoP a b", .unexpected(offset: 5)),
    ])
    func `a field that breaks the grammar is an error`(field: String, expected: ChallengeHeaderError) {
        #expect(throws: expected) { try parse(field) }
    }

    @Test func `size and number are bounded`() {
        #expect(throws: ChallengeHeaderError.tooLarge) { try parse(String(repeating: "a", count: 16_385)) }
        #expect(throws: ChallengeHeaderError.tooMany) {
            try parse(Array(repeating: "Basic", count: 33).joined(separator: ", "))
        }
    }

    @Test func `any bytes at all are either read or refused`() {
        var state: UInt64 = 42
        let alphabet = Array("aB1 ,=\"\\\t/+~.-%\u{1}é".unicodeScalars)
        for _ in 0..<20_000 {
            var text = ""
            for _ in 0..<14 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                text.unicodeScalars.append(alphabet[Int(state >> 33) % alphabet.count])
            }
            guard let all = try? AuthChallenges(fields: [text]) else { continue }
            for challenge in all.challenges {
                #expect(!challenge.scheme.isEmpty)
                #expect(challenge.token68 == nil || challenge.parameters.isEmpty)
            }
        }
    }
}
