import Crypto
import Device
import Encoding
import Engine
import HTTP
import JOSE
import OAuth
import SignIn
import Testing

/// A client that authenticates by attestation, as it looks from the server's side.
@Suite struct ClientAttestationFlowTests {
    private typealias Arrival = AttestingFront.Arrival

    private static let endings = ["/oauth2/challenge", "/oauth2/token", "/oauth2/revoke"]

    /// The requests that authenticate the client, oldest first.
    private func authenticated(_ world: AttestingWorld) -> [Arrival] {
        world.front.arrivals.filter { arrival in Self.endings.contains { arrival.path.hasSuffix($0) } }
    }

    private func attestation(_ arrival: Arrival) throws -> ClientAttestation {
        let values = arrival.fields.values(ClientAttestation.field)
        try #require(values.count == 1, "\(arrival.path)")
        return try ClientAttestation(compact: values[0])
    }

    private func proof(_ arrival: Arrival) throws -> (jws: JWS, claims: JSON) {
        let values = arrival.fields.values(ClientAttestationPoP.field)
        try #require(values.count == 1, "\(arrival.path)")
        let jws = try JWS(compact: values[0])
        return (jws, try JSON(parsing: jws.payload))
    }

    private func dpopKey(_ arrival: Arrival) throws -> JWK {
        let proof = try JWS(compact: try #require(arrival.fields["DPoP"]))
        return try JWK(try #require(proof.header["jwk"]))
    }

    private func attester(_ world: AttestingWorld) throws -> JWK {
        .p256(try world.engine.attestationRoots().attesterKey.publicKey)
    }

    @Test func `every call of the client carries an attestation of one key and a proof of its own`() async throws {
        let world = try AttestingWorld("normal")
        let phone = try await world.phone("ada")
        world.front.forget()
        #expect(try await world.signIn(phone, client: ClientAttestationOrder()).result == "signed in")
        _ = try await world.engine.refreshSession(of: phone)
        try await world.engine.signOut(phone)
        await world.engine.settle(within: 5000)
        let calls = authenticated(world)
        #expect(calls.contains { $0.path.hasSuffix("/revoke") })
        #expect(calls.contains { $0.form["grant_type"] == "refresh_token" })
        #expect(calls.contains { $0.form["ceremony_proof"] != nil })
        var names: [String] = []
        let key = try attestation(calls[0]).instanceKey
        for call in calls {
            let attestation = try attestation(call)
            _ = try JWS(compact: attestation.compact).verify(attester(world), algorithms: [.es256])
            #expect(attestation.clientID == "app_demo" && attestation.instanceKey == key)
            let (jws, claims) = try proof(call)
            _ = try jws.verify(key, algorithms: [.es256])
            #expect(jws.type == ClientAttestationPoP.type)
            #expect(claims["aud"]?.string == world.issuer && claims["challenge"]?.string == "c-1")
            #expect(claims["iat"]?.int == world.clock.now().seconds)
            names.append(try #require(claims["jti"]?.string))
            if call.fields["DPoP"] != nil { #expect(try dpopKey(call) != key) }
        }
        #expect(Set(names).count == names.count)
        // The ceremony authenticates no client.
        for arrival in world.front.arrivals(at: "/face-token") {
            #expect(arrival.fields.values(ClientAttestation.field).isEmpty)
        }
    }

    @Test func `in combined mode the attested key is the DPoP key, and every call is proven by it`() async throws {
        let world = try AttestingWorld("combined")
        let phone = try await world.phone("ada")
        world.front.forget()
        let order = ClientAttestationOrder(mode: .combined)
        #expect(try await world.signIn(phone, client: order).result == "signed in")
        _ = try await world.engine.refreshSession(of: phone)
        try await world.engine.signOut(phone)
        await world.engine.settle(within: 5000)
        let calls = authenticated(world)
        #expect(calls.contains { $0.path.hasSuffix("/revoke") })
        for call in calls {
            #expect(try attestation(call).instanceKey == dpopKey(call), "\(call.path)")
            #expect(call.fields.values(ClientAttestationPoP.field).isEmpty)
        }
    }

    @Test(arguments: ["/oauth2/challenge", "/oauth2/token"])
    func `a stale challenge and an old attestation are answered once, with a new one`(path: String) async throws {
        let world = try AttestingWorld("again")
        let phone = try await world.phone("ada")
        world.front.forget()
        world.front.refuse(path, "use_attestation_challenge", challenge: "newer")
        #expect(try await world.signIn(phone, client: ClientAttestationOrder()).result == "signed in")
        var calls = world.front.arrivals(at: path)
        #expect(try proof(calls[0]).claims["challenge"]?.string == "c-1")
        #expect(try proof(calls[1]).claims["challenge"]?.string == "newer")
        // From now on it is the newest.
        #expect(try proof(try #require(calls.last)).claims["challenge"]?.string == "newer")

        world.clock.advance(seconds: 10)
        world.front.forget()
        world.front.refuse(path, "use_fresh_attestation")
        #expect(try await world.signIn(phone, client: ClientAttestationOrder()).result == "signed in")
        calls = world.front.arrivals(at: path)
        #expect(try attestation(calls[0]).compact != attestation(calls[1]).compact)
        #expect(try attestation(calls[0]).instanceKey == attestation(calls[1]).instanceKey)

        for error in ["use_attestation_challenge", "use_fresh_attestation", "invalid_client_attestation"] {
            world.front.forget()
            let times = error == "invalid_client_attestation" ? 1 : 2
            var settings = AttestationSettings()
            settings.sending = .never
            let quiet = settings
            _ = try await world.engine.updateDevice(phone) { device in device.attestation = quiet }
            for _ in 0..<times { world.front.refuse(path, error, challenge: "newest") }
            #expect(try await world.signIn(phone, client: ClientAttestationOrder()).reason == "attestationFailed")
        }
    }

    @Test func `a refresh that is asked for a new challenge is repeated once`() async throws {
        let world = try AttestingWorld("refresh")
        let phone = try await world.phone("ada")
        try await world.signIn(phone, client: ClientAttestationOrder())
        world.front.forget()
        world.front.refuse("/oauth2/token", "use_attestation_challenge", challenge: "newer")
        _ = try await world.engine.refreshSession(of: phone)
        let challenges = try authenticated(world).map { try proof($0).claims["challenge"]?.string }
        #expect(challenges == ["c-1", "newer"])
    }

    @Test func `another process goes on as the instance the session is bound to, and a plain sign-in ends that`()
        async throws
    {
        let world = try AttestingWorld("bound")
        let phone = try await world.phone("ada")
        try await world.signIn(phone, client: ClientAttestationOrder())
        let key = try attestation(try #require(authenticated(world).last)).instanceKey
        let later = try world.restarted()
        world.front.forget()
        _ = try await later.engine.refreshSession(of: phone)
        #expect(try attestation(try #require(authenticated(world).last)).instanceKey == key)
        world.front.forget()
        try await later.signIn(phone)
        _ = try await later.engine.refreshSession(of: phone)
        for call in authenticated(world) where !call.path.hasSuffix("/revoke") {
            #expect(call.fields.values(ClientAttestation.field).isEmpty)
        }
    }

    @Test func `each wrong on purpose is that wrong and no other`() async throws {
        for defect in ClientAttestationDefect.allCases {
            for mode in ClientAttestationOrder.Mode.allCases {
                let world = try AttestingWorld("wrong \(defect)")
                let phone = try await world.phone("ada")
                world.front.forget()
                let order = ClientAttestationOrder(mode: mode, defect: defect)
                guard defect.applies(to: mode) else {
                    let thrown = await #expect(throws: EngineError.self) {
                        try await world.signIn(phone, client: order)
                    }
                    #expect(thrown?.code == "invalid_field" && authenticated(world).isEmpty)
                    continue
                }
                try await world.signIn(phone, client: order)
                try check(defect, mode, world)
            }
        }
    }

    private func check(
        _ defect: ClientAttestationDefect, _ mode: ClientAttestationOrder.Mode, _ world: AttestingWorld
    ) throws {
        let calls = authenticated(world)
        try #require(calls.count >= 3)
        let attestation = try attestation(calls[1])
        let now = world.clock.now()
        #expect((attestation.expiresAt < now) == (defect == .expiredAttestation), "\(defect)")
        guard mode == .normal else {
            #expect(try (attestation.instanceKey != dpopKey(calls[1])) == (defect == .otherKey))
            return
        }
        guard defect != .missingPoP else {
            return #expect(calls.allSatisfy { $0.fields.values(ClientAttestationPoP.field).isEmpty })
        }
        let proofs = try calls.map { try proof($0) }
        let isOfKey = (try? proofs[1].jws.verify(attestation.instanceKey, algorithms: [.es256])) != nil
        #expect(isOfKey == (defect != .otherKey), "\(defect)")
        #expect((proofs[1].claims["aud"]?.string == world.issuer) == (defect != .otherAudience))
        #expect((proofs[1].claims["challenge"]?.string == "c-1") == (defect != .staleChallenge))
        #expect((proofs[0].jws.compact == proofs[1].jws.compact) == (defect == .replayedPoP))
    }

    @Test func `an attester of one's own signs instead of the test roots', and what is no attestation is not sent`()
        async throws
    {
        let world = try AttestingWorld("own")
        let phone = try await world.phone("ada")
        let own = try P256.PrivateKey.generate(Entropy(seed: Array("own attester".utf8)))
        world.front.forget()
        let file = SigningKeyFile(key: .p256(own), keyID: "mine")
        #expect(
            try await world.signIn(phone, client: ClientAttestationOrder(attester: .key(file))).result == "signed in")
        let jws = try JWS(compact: try attestation(authenticated(world)[0]).compact)
        #expect(jws.keyID == "mine")
        _ = try jws.verify(.p256(own.publicKey), algorithms: [.es256])

        world.front.forget()
        let silly = ClientAttestationOrder(attester: .command("cat > /dev/null; echo no.attestation.this"))
        let flow = try await world.signIn(phone, client: silly)
        #expect(flow.reason == "network" && authenticated(world).isEmpty)
    }

    @Test func `the journal says how the client attested, and holds neither attestation nor proof`() async throws {
        let world = try AttestingWorld("journal")
        let phone = try await world.phone("ada")
        let flow = try await world.signIn(phone, client: ClientAttestationOrder())
        let start = flow.stepDocuments(after: 0).first { $0["call"]?.string == "start" }
        #expect(start?["client_attestation"]?["mode"]?.string == "normal")
        let journal = world.engine.journal(after: 0).entries.map(\.json.text).joined()
        for call in authenticated(world) {
            #expect(!journal.contains(try attestation(call).compact))
            #expect(!journal.contains(try proof(call).jws.compact))
        }
    }
}
