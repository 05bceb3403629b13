import Crypto
import Device
import Encoding
import HTTP
import JOSE
import OAuth
import SignIn
import Store

/// A client that authenticates by attestation: whose calls they are, and how.
struct AttestedClient: Sendable {
    let clientID: String
    let issuer: String
    let mode: ClientAttestationOrder.Mode
    /// Who attests; nil where this process was not told, and the stored attestation has to do.
    let attester: ClientAttestationOrder.Attester?
    let defect: ClientAttestationDefect
    /// The flow, for the calls of a sign-in.
    let flow: FlowID?

    var kind: String { "client attestation, \(mode.rawValue)" }
}

/// OAuth client attestation: an attested key of this instance, and a proof of it with every attempt.
///
/// Source: draft-ietf-oauth-attestation-based-client-auth.
extension DeviceActor {
    /// How a flow's client authenticates by attestation; nil where it does not.
    func attestedClient(in flowID: FlowID) -> AttestedClient? {
        guard let flow = flows[flowID] else { return nil }
        let config = flow.machine.config
        if let order = world.attested.order(of: flowID) {
            return AttestedClient(
                clientID: config.clientID, issuer: config.issuer, mode: order.mode, attester: order.attester,
                defect: order.defect, flow: flowID)
        }
        // A flow of another process is known by what that process stored.
        guard flow.isTakenUp, let instance = try? clientInstance(of: config.clientID, at: config.issuer),
            instance.flow == flowID.rawValue
        else { return nil }
        return client(instance, of: config.clientID, at: config.issuer, flow: flowID)
    }

    /// How the client of a stored session authenticates by attestation; nil where it does not.
    func attestedClient(of session: TokenSession) -> AttestedClient? {
        guard let instance = try? clientInstance(of: session.clientID, at: session.issuer),
            instance.session == session.createdAt
        else { return nil }
        return client(instance, of: session.clientID, at: session.issuer, flow: nil)
    }

    private func client(
        _ instance: ClientInstance, of clientID: String, at issuer: String, flow: FlowID?
    ) -> AttestedClient {
        let told = world.attested.attester(of: clientID, at: issuer, on: id)
        return AttestedClient(
            clientID: clientID, issuer: issuer, mode: instance.mode,
            attester: told ?? (instance.isOfTestRoots ? .testRoots : nil), defect: .none, flow: flow)
    }

    /// A flow begins whose client authenticates by attestation: its instance is stored before the first call.
    ///
    /// Throws `.invalid` where the defect has no place in the mode, `.hostNotAllowed` where the attester is one the
    /// phone may not talk to, or `.storage`.
    func begin(
        _ order: ClientAttestationOrder, flow: FlowID, config: SignInConfig
    ) throws(EngineError) {
        guard order.defect.applies(to: order.mode) else {
            let known = ClientAttestationDefect.allCases.filter { $0.applies(to: order.mode) }
            throw .invalid(
                field: "client_attestation_defect",
                rule: "in \(order.mode.rawValue) mode one of \(known.map(\.rawValue).joined(separator: ", "))",
                value: order.defect.rawValue)
        }
        _ = try Attester(order.attester, in: world)
        let known = try clientInstance(of: config.clientID, at: config.issuer)
        var newKey: StoredKey?
        if order.mode == .normal, known?.key == nil {
            newKey = try storing { () throws(CryptoError) in
                try StoredKey.generate(.clientInstance, at: world.clock.now(), entropy: entropy)
            }
        }
        var instance = ClientInstance(
            mode: order.mode, key: order.mode == .normal ? known?.key ?? newKey?.handle : nil,
            isOfTestRoots: order.attester.isTestRoots, flow: flow.rawValue)
        if let known, known.mode == order.mode {
            instance.session = known.session
            // A stored attestation is of whoever attested then.
            if known.isOfTestRoots, instance.isOfTestRoots { instance.attestation = known.attestation }
        }
        try save(instance, of: config.clientID, at: config.issuer, with: newKey)
        world.attested.begin(flow, order, of: config.clientID, at: config.issuer, on: id)
    }

    /// What authenticates one attempt: the attestation, and in normal mode a proof made now.
    ///
    /// `isFresh` asks the attester anew, whatever is stored. Throws where no attestation can be had.
    func authentication(
        of client: AttestedClient, isFresh: Bool
    ) async throws(ClientAssertionError) -> ClientAuthentication {
        let key = try instanceKey(of: client)
        let attestation = try await attestation(of: client, key: key, isFresh: isFresh)
        var fields = [(name: ClientAttestation.field, value: attestation)]
        if client.mode == .normal, client.defect != .missingPoP {
            fields.append((ClientAttestationPoP.field, try await proof(of: client, key: key)))
        }
        return ClientAuthentication(kind: client.kind, fields: fields, client: client)
    }

    private func instanceKey(of client: AttestedClient) throws(ClientAssertionError) -> P256.PrivateKey {
        guard client.mode == .normal else { return installKey }
        let id = id
        do {
            guard let handle = try clientInstance(of: client.clientID, at: client.issuer)?.key,
                let stored = try world.store.read({ store in try store.key(handle, of: id) })
            else { throw ClientAssertionError.noAttestation(details: "the instance's key is gone") }
            return try stored.privateKey()
        } catch {
            throw .noAttestation(details: "the instance's key cannot be used: \(error)")
        }
    }

    private func attestation(
        of client: AttestedClient, key: P256.PrivateKey, isFresh: Bool
    ) async throws(ClientAssertionError) -> String {
        let subject = client.defect == .otherKey ? try stranger() : key.publicKey
        let isWrong = [.otherKey, .expiredAttestation].contains(client.defect)
        let now = world.clock.now()
        let stored = (try? clientInstance(of: client.clientID, at: client.issuer))??.attestation
        if !isFresh, !isWrong, let stored, let known = try? ClientAttestation(compact: stored),
            known.instanceKey == .p256(key.publicKey), known.expiresAt.seconds > now.seconds + Self.leastLife
        {
            return stored
        }
        guard let source = client.attester else {
            throw .noAttestation(details: "this process was not told who attests, and what is stored has ended")
        }
        let attester: Attester
        do throws(EngineError) { attester = try Attester(source, in: world) } catch {
            throw .noAttestation(details: error.description)
        }
        let request = AttesterRequest(clientID: client.clientID, issuer: client.issuer, instanceKey: .p256(subject))
        let age = client.defect == .expiredAttestation ? 2 * Attester.lifetime : 0
        let made = try await attester.attestation(for: request, of: subject, at: now, age: age)
        if !isWrong { keep(made.compact, of: client) }
        return made.compact
    }

    /// An attestation that ends sooner than this, in seconds, is replaced before it is sent.
    private static let leastLife: Int64 = 30

    private func stranger() throws(ClientAssertionError) -> P256.PublicKey {
        do throws(CryptoError) { return try P256.PrivateKey.generate(entropy).publicKey } catch {
            throw .noAttestation(details: error.code)
        }
    }

    private func keep(_ attestation: String, of client: AttestedClient) {
        guard var instance = (try? clientInstance(of: client.clientID, at: client.issuer)) ?? nil else { return }
        instance.attestation = attestation
        // One that is not kept costs another question to the attester.
        try? save(instance, of: client.clientID, at: client.issuer, with: nil)
    }

    private func proof(of client: AttestedClient, key: P256.PrivateKey) async throws(ClientAssertionError) -> String {
        let proof = ClientAttestationPoP(
            audience: client.defect == .otherAudience ? "https://other.example" : client.issuer,
            jti: entropy.token(16), issuedAt: now.seconds, challenge: await challenge(for: client))
        let signed: String
        do throws(CryptoError) { signed = try sign(proof.signingInput, with: key) } catch {
            throw .noAttestation(details: "the instance's key does not sign: \(error.code)")
        }
        guard client.defect == .replayedPoP else { return signed }
        // The first call has none before it: its proof is good, and the next call sends it again.
        return world.attested.lastProof(of: client.clientID, at: client.issuer, on: id, replacedBy: signed) ?? signed
    }

    /// The newest challenge of the server; asked for where it says where to ask and there is none.
    private func challenge(for client: AttestedClient) async -> String? {
        guard let origin = Self.origin(of: client.issuer) else { return nil }
        if client.defect == .staleChallenge {
            return challenges.ended(of: origin, at: world.clock.now()) ?? entropy.token(32)
        }
        if let known = challenges.newest(of: origin, at: world.clock.now()) { return known }
        guard let url = metadataCache.known(client.issuer, at: world.clock.now())?.challengeEndpoint else { return nil }
        // Without one the server says that it wants one.
        return (try? await askForChallenge(at: url)) ?? nil
    }

    /// Whether a refusal asks for another attestation or challenge, and whether the attester is to be asked anew.
    static func repetition(
        asked response: HTTPResponse, of authentication: ClientAuthentication?
    ) -> (isWanted: Bool, isFresh: Bool) {
        guard let client = authentication?.client, response.status >= 400, response.status < 500,
            let error = (try? JSON(parsing: response.body))?["error"]?.string
        else { return (false, false) }
        switch OAuthErrorCode(rawValue: error) {
        case .useFreshAttestation: return (true, true)
        case .useAttestationChallenge:
            let brought = AttestationChallenge.challenge(response.fields.values(AttestationChallenge.field))
            return (client.mode == .normal && brought != nil, false)
        default: return (false, false)
        }
    }
}

/// Instances in the store.
extension DeviceActor {
    func clientInstance(of clientID: String, at issuer: String) throws(EngineError) -> ClientInstance? {
        let id = id
        return try storing {
            let body = try world.store.read { store in
                try store.clientInstance(of: id, issuer: issuer, clientID: clientID)
            }
            return try body.map { try ClientInstance(stored: $0) }
        }
    }

    private func save(
        _ instance: ClientInstance, of clientID: String, at issuer: String, with key: StoredKey?
    ) throws(EngineError) {
        let id = id
        try storing {
            let body = try instance.stored()
            try world.store.write { store in
                if let key { try store.insert(key, for: id) }
                try store.setClientInstance(body, of: id, issuer: issuer, clientID: clientID)
            }
        }
    }

    /// The instance as it is stored with the session a flow has earned; nil where nothing about it changes.
    func instance(of flow: FlowID, boundTo session: TokenSession) throws(EngineError) -> [UInt8]? {
        guard var instance = try clientInstance(of: session.clientID, at: session.issuer) else { return nil }
        let attests = instance.flow == flow.rawValue
        // Where a clock stands still, a session that is bound to no key may be as old as the one that was.
        guard attests || instance.session == session.createdAt else { return nil }
        instance.session = attests ? session.createdAt : nil
        let bound = instance
        return try storing { try bound.stored() }
    }
}

extension ClientAttestationOrder.Attester {
    fileprivate var isTestRoots: Bool { if case .testRoots = self { true } else { false } }
}
