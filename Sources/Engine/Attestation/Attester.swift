import Crypto
import Device
import Encoding
import JOSE
import OAuth

/// Whoever signs client attestations: on a real phone, the app's backend.
enum Attester: Sendable {
    /// Seconds an attestation lives.
    static let lifetime: Int64 = 3600

    case key(SigningKey, keyID: String)
    case command(CommandAssertions)
    case backend(BackendAssertions)

    init(_ source: ClientAttestationOrder.Attester, in world: World) throws(EngineError) {
        switch source {
        case .testRoots:
            let roots = try world.roots.roots(of: world.store)
            self = .key(.p256(roots.attesterKey), keyID: roots.attesterKeyID)
        case .key(let file): self = .key(file.key, keyID: file.keyID ?? file.key.publicKey.thumbprint)
        case .command(let command): self = .command(CommandAssertions(command))
        case .backend(let url):
            if let objection = world.network.policy.objection(to: url) { throw objection }
            self = .backend(
                BackendAssertions(url, network: world.network, timeoutMilliseconds: world.callTimeout))
        }
    }

    /// An attestation of an instance's key, made `age` seconds ago as the wall's clock says.
    ///
    /// Only a key at hand can be asked for one of another time. Throws where none can be had or what came is none.
    func attestation(
        for request: AttesterRequest, of key: P256.PublicKey, at now: Instant, age: Int64 = 0
    ) async throws(ClientAssertionError) -> ClientAttestation {
        let compact: String
        switch self {
        case .key(let signer, let keyID):
            compact = try sign(request, of: key, by: signer, keyID, at: now.seconds - age)
        case .command(let command): compact = try await command.answer(to: request.json)
        case .backend(let backend): compact = try await backend.answer(to: request.json, member: "client_attestation")
        }
        do throws(ClientAttestationError) {
            return try ClientAttestation(compact: compact)
        } catch {
            throw .noAttestation(details: error.description)
        }
    }

    private func sign(
        _ request: AttesterRequest, of key: P256.PublicKey, by signer: SigningKey, _ keyID: String, at now: Int64
    ) throws(ClientAssertionError) -> String {
        let message = ClientAttestation.message(
            clientID: request.clientID, instanceKey: key, algorithm: signer.algorithm, keyID: keyID, issuedAt: now,
            lifetime: Self.lifetime)
        do throws(CryptoError) {
            if case .p256(let key) = signer {
                return try JWS.sign(header: message.header, payload: message.payload, key: key, nonce: .rfc6979)
            }
            return try signer.sign(header: message.header, payload: message.payload)
        } catch {
            throw .noAttestation(details: "the attester's key does not sign: \(error.code)")
        }
    }
}
