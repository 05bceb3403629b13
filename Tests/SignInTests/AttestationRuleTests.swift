import Crypto
import Device
import Encoding
import OAuth
import SignIn
import Testing

@Suite struct AttestationRuleTests {
    private func facts(
        _ sending: AttestationSettings.Sending, challenge: String? = nil
    ) -> DeviceFacts {
        var facts = Phone.shared.facts
        facts.attestation = DeviceFacts.Attestation(sending: sending, challenge: challenge)
        return facts
    }

    /// The names of the effects up to the first start, and that start.
    private func walk(
        _ facts: DeviceFacts, _ metadata: ServerMetadata
    ) throws -> (names: [String], script: Script) {
        var script = Script()
        script.metadata = metadata
        try script.start(facts)
        try script.advance(to: "call(start)")
        return (script.effects.map(\.action.name), script)
    }

    private func form(_ call: Call?) throws -> FormFields {
        guard case .form(let form) = try #require(call).body else { throw WrongBody() }
        return form
    }

    private func bindings(_ script: Script) -> [StartBinding] {
        script.effects.compactMap { effect in
            if case .attest(let binding) = effect.action { binding } else { nil }
        }
    }

    @Test func `evidence is made where the app's sending and the server's metadata say so`() throws {
        let quiet = ["discover", "call(start)"]
        let asked = ["discover", "call(attestationChallenge)", "attest", "call(start)"]
        let known = ["discover", "attest", "call(start)"]
        let cases: [(AttestationSettings.Sending, String?, ServerMetadata, [String])] = [
            (.auto, nil, Phone.goodMetadata, quiet), (.auto, nil, Phone.attestingMetadata, asked),
            (.auto, "c-1", Phone.goodMetadata, quiet), (.auto, "c-1", Phone.attestingMetadata, known),
            (.always, nil, Phone.goodMetadata, known), (.always, nil, Phone.attestingMetadata, asked),
            (.always, "c-1", Phone.goodMetadata, known), (.always, "c-1", Phone.attestingMetadata, known),
            (.never, nil, Phone.goodMetadata, quiet), (.never, nil, Phone.attestingMetadata, quiet),
            (.never, "c-1", Phone.attestingMetadata, quiet),
        ]
        for (sending, challenge, metadata, expected) in cases {
            let (names, script) = try walk(facts(sending, challenge: challenge), metadata)
            #expect(names == expected, "\(sending), \(challenge ?? "none")")
            let carries = try form(script.calls(.start).last)["attestation"]
            #expect(carries == (expected == quiet ? nil : Secret.evidence))
        }
    }

    @Test func `evidence is bound to the challenge, the client, the code challenge and the install key`() throws {
        let (_, script) = try walk(facts(.auto), Phone.attestingMetadata)
        let binding = try #require(bindings(script).first)
        #expect(binding.challenge == "challenge-of-evidence")
        #expect(binding.clientID == "app_demo" && binding.issuer == Phone.issuer)
        #expect(binding.installThumbprint == Phone.shared.thumbprint)
        #expect(try form(script.calls(.start).last)["code_challenge"] == binding.codeChallenge)
    }

    @Test func `every send of a start has evidence of its own`() throws {
        var (_, script) = try walk(facts(.auto), Phone.attestingMetadata)
        #expect(try script.respond(Replies.nonceWanted) == ["attest"])
        try script.advance(to: "call(start)")
        #expect(try script.lose() == ["attest"])
        try script.advance(to: "call(start)")
        #expect(script.calls(.start).map(\.attempt) == [1, 1, 2])
        #expect(bindings(script).count == 3 && Set(bindings(script)).count == 1)
        #expect(script.calls(.attestationChallenge).count == 1)
        try script.finish()
        #expect(script.state.name == "signedIn")
    }

    @Test(arguments: ["attestation_required", "use_attestation_challenge"])
    func `a refusal that brings a challenge is answered once with evidence for it`(code: String) throws {
        for metadata in [Phone.goodMetadata, Phone.attestingMetadata] {
            var (_, script) = try walk(facts(.auto), metadata)
            #expect(try script.respond(Replies.asking(Replies.error(400, code), for: "c-2")) == ["attest"])
            #expect(bindings(script).last?.challenge == "c-2")
            try script.advance(to: "call(start)")
            // It counts as no retry.
            #expect(script.calls(.start).map(\.attempt) == [1, 1])
            #expect(try script.respond(Replies.asking(Replies.error(400, code), for: "c-3")) == ["done"])
            #expect(script.failure?.reason == "attestationFailed")
            #expect(script.failure?.message.contains(code) == true)
        }
    }

    @Test func `an app that sends no evidence, and a refusal without a challenge, end the flow at once`() throws {
        let cases: [(AttestationSettings.Sending, CallResponse)] = [
            (.never, Replies.evidenceWanted), (.never, Replies.challengeStale),
            (.auto, Replies.error(400, "attestation_required")),
            (.auto, Replies.error(400, "use_attestation_challenge")), (.auto, Replies.evidenceBad),
            (.auto, Replies.asking(Replies.error(400, "use_fresh_attestation"))),
            (.auto, Replies.asking(Replies.error(400, "invalid_client_attestation"))),
        ]
        for (sending, answer) in cases {
            var (_, script) = try walk(facts(sending), Phone.attestingMetadata)
            #expect(try script.respond(answer) == ["done"])
            #expect(script.failure?.reason == "attestationFailed")
        }
    }

    @Test func `a phone that can make no evidence goes on without, and says why where that is refused`() throws {
        var script = Script()
        script.metadata = Phone.attestingMetadata
        try script.advance(to: "attest")
        let effect = try script.awaited()
        #expect(try script.send(.attestationUnavailable(effect, rule: "no secure hardware")) == ["call(start)"])
        #expect(try form(script.calls(.start).last)["attestation"] == nil)
        #expect(try script.respond(Replies.evidenceWanted) == ["done"])
        #expect(script.failure?.reason == "attestationFailed")
        #expect(script.failure?.message.contains("no secure hardware") == true)
    }

    @Test func `a challenge that is lost is asked for once more, then the network is to blame`() throws {
        var script = Script()
        script.metadata = Phone.attestingMetadata
        try script.advance(to: "call(attestationChallenge)")
        #expect(try script.lose() == ["call(attestationChallenge)"])
        #expect(script.calls(.attestationChallenge).map(\.attempt) == [1, 2])
        #expect(script.calls(.attestationChallenge).allSatisfy { !$0.needsDPoP && !$0.mayCarryClientAuthentication })
        #expect(try script.lose() == ["done"])
        #expect(script.failure == .network(message: "no answer to the attestation challenge: connection reset"))
    }

    @Test func `each answer of a challenge endpoint has its meaning`() throws {
        let cases: [(CallResponse, String)] = [
            (Replies.json(429, [:], retryAfter: "7"), "rateLimited"),
            (CallResponse(status: 503, mediaType: nil, body: []), "server"), (Replies.html, "server"),
            (Replies.json(404, ["error": "not_found"]), "server"),
            (Replies.json(200, ["attestation_challenge": 7]), "server"),
            (Replies.json(200, ["attestation_challenge": ""]), "server"),
            (Replies.json(200, ["attestation_challenge": "two\nlines"]), "server"),
            (Replies.json(200, ["attestation_challenge": .string(String(repeating: "c", count: 1025))]), "server"),
        ]
        for (answer, reason) in cases {
            var script = Script()
            script.metadata = Phone.attestingMetadata
            try script.advance(to: "call(attestationChallenge)")
            #expect(try script.respond(answer) == ["done"])
            #expect(script.failure?.reason == reason, "\(answer)")
        }
        var script = Script()
        script.metadata = Phone.attestingMetadata
        try script.advance(to: "call(attestationChallenge)")
        // Such an endpoint may give out DPoP nonces alone.
        #expect(try script.respond(Replies.noAttestationChallenge) == ["call(start)"])
    }

    @Test func `later calls that are refused for the client's attestation end the session and say so`() throws {
        for call in ["call(completion)", "call(token)"] {
            for code in ["use_attestation_challenge", "use_fresh_attestation", "invalid_client_attestation"] {
                var script = Script()
                try script.advance(to: call)
                #expect(try script.respond(Replies.asking(Replies.error(400, code))) == ["signCeremony(abort)"])
                #expect(script.failure?.reason == "attestationFailed")
            }
        }
    }

    private struct WrongBody: Error {}
}
